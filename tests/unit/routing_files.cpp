// SPDX-License-Identifier: Apache-2.0
// Routing read from files: every format, and how tokens are dealt. The .npy files were written by numpy
// (data/make_routing_npy.py).
#include "algorithms/routing/routing.hpp"
#include "tests/support/temp_dir.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>

using namespace podsim;
using podsim::test::TempDir;

namespace {

const std::string kData = PODSIM_SOURCE_DIR "/tests/unit/data/";

Workload small(std::uint32_t cards, std::uint32_t batch_size) {
    Workload w;
    w.cards = cards;
    w.batch_size = batch_size;
    w.top_k = 2;
    w.experts = 16 * cards;
    return w;
}

RoutingSpec from(const std::string& path, std::optional<std::int64_t> layer = std::nullopt) {
    RoutingSpec spec;
    spec.kind = RoutingKind::file;
    spec.path = path;
    spec.layer = layer;
    return spec;
}

using Ids = std::vector<std::int32_t>;

Ids ids_of(const RoutingTable& table, std::uint32_t card) {
    const auto ids = table.ids(card);
    return {ids.begin(), ids.end()};
}

bool noted(const RoutingResult& result, const std::string& text) {
    return std::any_of(result.notes.begin(), result.notes.end(),
                       [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

/// The numbers of make_routing_npy.py.
Ids fixture_card(std::uint32_t card, std::int32_t last) {
    Ids ids;
    for (std::uint32_t token = 0; token < 3; ++token) {
        for (std::uint32_t k = 0; k < 2; ++k) {
            ids.push_back(static_cast<std::int32_t>((5 * card + 2 * token + 7 * k) % 16));
        }
    }
    if (card == 1) {
        ids.back() = last;
    }
    return ids;
}

const char* const kFourTokens =
    "{\"type\": \"meta\", \"num_experts\": 32, \"top_k\": 2}\n"
    "{\"type\": \"route\", \"layer\": 0, \"token_idx\": 0, \"topk_ids\": [0, 1], \"topk_weights\": [0.5, 0.5]}\n"
    "{\"type\": \"route\", \"layer\": 0, \"token_idx\": 1, \"topk_ids\": [2, 3]}\n"
    "{\"type\": \"route\", \"layer\": 0, \"token_idx\": 2, \"topk_ids\": [4, -1]}\n"
    "{\"type\": \"route\", \"layer\": 0, \"token_idx\": 3, \"topk_ids\": [-1, 7]}\n";

}  // namespace

TEST_CASE("routing file npy: every type, byte order, memory order and version") {
    const auto file = GENERATE(as<std::string>{}, "i1", "i2", "i4", "i8", "big_i4", "fortran", "big_fortran_i8", "v2",
                               "v3", "u1", "u2", "u4", "u8", "big_u2");
    CAPTURE(file);
    const RoutingResult result = make_routing(from(kData + "routing_" + file + ".npy"), small(2, 3), 0);
    const std::int32_t last = file.find('u') == std::string::npos ? -1 : 8;
    CHECK(ids_of(result.table, 0) == fixture_card(0, last));
    CHECK(ids_of(result.table, 1) == fixture_card(1, file == "fortran" || file == "big_fortran_i8" ? -1 : last));
    CHECK(result.leftover_tokens == 0);
    CHECK(result.notes.empty());
}

TEST_CASE("routing file npy: (tokens, k) is dealt in blocks") {
    const auto file = GENERATE(as<std::string>{}, "tokens_k", "tokens_k_fortran");
    const RoutingResult result = make_routing(from(kData + "routing_" + file + ".npy"), small(3, 2), 0);
    Ids all = fixture_card(0, -1);
    const Ids second = fixture_card(1, -1);
    all.insert(all.end(), second.begin(), second.end());
    for (std::uint32_t card = 0; card < 3; ++card) {
        CHECK(ids_of(result.table, card) == Ids(all.begin() + 4 * card, all.begin() + 4 * card + 4));
    }
}

TEST_CASE("routing file npy: (cards, tokens, k) gives each card its own") {
    SECTION("fewer tokens than the batch") {
        const RoutingResult result = make_routing(from(kData + "routing_i4.npy"), small(2, 8), 0);
        CHECK(result.table.tokens(0) == 3);
        CHECK(ids_of(result.table, 1) == fixture_card(1, -1));
        CHECK(noted(result, "too few tokens for 2 of 2 cards"));
        CHECK_FALSE(noted(result, "have none"));
    }
    SECTION("more tokens than the batch") {
        const RoutingResult result = make_routing(from(kData + "routing_i4.npy"), small(2, 2), 0);
        CHECK(ids_of(result.table, 1) == Ids{5, 12, 7, 14});
        CHECK(result.leftover_tokens == 2);
    }
    SECTION("fewer cards in the file") {
        const RoutingResult result = make_routing(from(kData + "routing_i4.npy"), small(4, 3), 0);
        CHECK(result.table.tokens(1) == 3);
        CHECK(result.table.tokens(2) == 0);
        CHECK(result.table.tokens(3) == 0);
        CHECK(noted(result, "too few tokens for 2 of 4 cards; 2 of them have none"));
    }
    SECTION("more cards in the file") {
        const RoutingResult result = make_routing(from(kData + "routing_i4.npy"), small(1, 3), 0);
        CHECK(ids_of(result.table, 0) == fixture_card(0, -1));
        CHECK(result.leftover_tokens == 3);
        CHECK(noted(result, "3 of the 6 tokens in the routing file are left over, 3 of them on cards beyond the 1"));
    }
}

TEST_CASE("routing file jsonl: dealt in blocks, card 0 first") {
    const TempDir dir;
    const std::string path = dir.write("a.jsonl", kFourTokens);
    SECTION("exactly enough") {
        const RoutingResult result = make_routing(from(path), small(2, 2), 0);
        CHECK(ids_of(result.table, 0) == Ids{0, 1, 2, 3});
        CHECK(ids_of(result.table, 1) == Ids{4, -1, -1, 7});
        CHECK(result.leftover_tokens == 0);
        CHECK(result.notes.empty());
        CHECK(make_routing(from(path), small(2, 2), 9).table == result.table);
    }
    SECTION("leftovers") {
        Workload w = small(2, 1);
        const RoutingResult result = make_routing(from(path), w, 0);
        CHECK(ids_of(result.table, 1) == Ids{2, 3});
        CHECK(result.leftover_tokens == 2);
        CHECK(noted(result, "2 of the 4 tokens"));
    }
    SECTION("too few: the last cards have less or nothing") {
        Workload w = small(2, 3);
        w.cards = 4;
        const RoutingResult result = make_routing(from(path), w, 0);
        CHECK(result.table.tokens(0) == 3);
        CHECK(ids_of(result.table, 1) == Ids{-1, 7});
        CHECK(result.table.tokens(2) == 0);
        CHECK(result.table.tokens(3) == 0);
        CHECK(result.leftover_tokens == 0);
        CHECK(noted(result, "too few tokens for 3 of 4 cards; 2 of them have none"));
    }
    SECTION("uneven blocks") {
        Workload w = small(2, 3);
        RoutingSpec spec = from(path);
        spec.tokens_per_card = {1, 3};
        const RoutingResult result = make_routing(spec, w, 0);
        CHECK(ids_of(result.table, 0) == Ids{0, 1});
        CHECK(ids_of(result.table, 1) == Ids{2, 3, 4, -1, -1, 7});
        spec.tokens_per_card = {0, 2};
        CHECK(ids_of(make_routing(spec, w, 0).table, 1) == Ids{0, 1, 2, 3});
    }
    SECTION("the same table on every card") {
        RoutingSpec spec = from(path);
        spec.same_table_on_every_card = true;
        const RoutingResult result = make_routing(spec, small(2, 2), 0);
        CHECK(ids_of(result.table, 0) == Ids{0, 1, 2, 3});
        CHECK(ids_of(result.table, 1) == Ids{0, 1, 2, 3});
        CHECK(result.leftover_tokens == 2);
    }
}

TEST_CASE("routing file jsonl: what may be absent or stand around") {
    const TempDir dir;
    const Workload w = small(1, 2);
    const auto table = [&](const std::string& text) {
        return ids_of(make_routing(from(dir.write("a.jsonl", text)), w, 0).table, 0);
    };
    const Ids expected{3, 1, 2, 0};
    CHECK(table("{\"type\":\"route\",\"topk_ids\":[3,1]}\n{\"type\":\"route\",\"topk_ids\":[2,0]}\n") == expected);
    CHECK(table("{\"topk_ids\":[3,1]}\n{\"topk_ids\":[2,0]}") == expected);
    CHECK(table("\xEF\xBB\xBF{\"topk_ids\":[3,1]}\r\n\r\n  \n{\"topk_ids\":[2,0]}\r\n") == expected);
    CHECK(table("{\"type\":\"meta\",\"top_k\":2}\n{\"topk_ids\":[3,1]}\n{\"topk_ids\":[2,0]}\n") == expected);
    CHECK(table("{\"num_experts\":16}\n{\"topk_ids\":[3,1]}\n{\"topk_ids\":[2,0],\"layer\":null}\n") == expected);
    const std::string path =
        dir.write("b.jsonl", "{\"type\":\"comment\"}\n{\"topk_ids\":[3,1]}\n{\"topk_ids\":[2,0]}\n");
    const RoutingResult result = make_routing(from(path), w, 0);
    CHECK(ids_of(result.table, 0) == expected);
    CHECK(noted(result, "1 lines"));
    CHECK(ids_of(make_routing(from(dir.write("c.NDJSON", "{\"topk_ids\":[3,1]}")), w, 0).table, 0) == Ids{3, 1});
}

TEST_CASE("routing file jsonl: layer selects") {
    const TempDir dir;
    const std::string path = dir.write("a.jsonl",
                                       "{\"layer\":3,\"topk_ids\":[1,2]}\n{\"layer\":0,\"topk_ids\":[3,4]}\n"
                                       "{\"layer\":3,\"topk_ids\":[5,6]}\n");
    CHECK(ids_of(make_routing(from(path, 3), small(1, 2), 0).table, 0) == Ids{1, 2, 5, 6});
    CHECK(ids_of(make_routing(from(path, 0), small(1, 2), 0).table, 0) == Ids{3, 4});
}

TEST_CASE("routing file jsonl: the real trace") {
    const std::string path = "/work/shared/traces/olmoe_layer0_routes.jsonl";
    if (!std::ifstream(path)) {
        WARN(path << " is not here: not tested");
        return;
    }
    Workload w;
    w.cards = 64;
    w.batch_size = 101;
    w.experts = 64;
    const RoutingResult result = make_routing(from(path), w, 0);
    CHECK(result.leftover_tokens == 6519 - 64 * 101);
    const auto counts = selections_per_expert(result.table, 64);
    std::uint64_t total = 0;
    for (const std::uint64_t n : counts) {
        total += n;
    }
    CHECK(total == 64 * 101 * 8);
    // The trace's README: the hottest expert takes 9.4 % of all selections.
    const double hottest = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
    CHECK(hottest / static_cast<double>(total) == Approx(0.094).margin(0.001));
    // Its first 2,048 tokens come from a profiling run.
    w.batch_size = 32;
    CHECK(noted(make_routing(from(path), w, 0), "all 2048 tokens taken from the routing file choose the same experts"));
}

TEST_CASE("routing file csv: with and without header") {
    const TempDir dir;
    const auto result = [&](const std::string& text, const Workload& w) {
        return make_routing(from(dir.write("a.csv", text)), w, 0);
    };
    const Workload one = small(1, 2);
    const Ids expected{3, 1, 2, -1};
    CHECK(ids_of(result("3,1\n2,-1\n", one).table, 0) == expected);
    CHECK(ids_of(result("\xEF\xBB\xBF"
                        "3, 1\r\n\r\n2 ,-1",
                        one)
                     .table,
                 0) == expected);
    CHECK(ids_of(result("# numpy.savetxt\n3,1\n2,-1\n", one).table, 0) == expected);
    CHECK(ids_of(result("k0,k1\n3,1\n2,-1\n", one).table, 0) == expected);
    CHECK(ids_of(result("\"k0\",\"k1\"\n\"3\",\"1\"\n\"2\",\"-1\"\n", one).table, 0) == expected);
    CHECK(ids_of(result("token,topk_ids_0,topk_ids_1\n0,3,1\n1,2,-1\n", one).table, 0) == expected);
    CHECK(ids_of(result("Expert0,Layer,Expert1\n3,5,1\n2,5,-1\n", one).table, 0) == expected);

    CHECK(ids_of(result("expert_1,expert_2\n3,1\n2,-1\n", one).table, 0) == expected);

    const RoutingResult cards = result("card,k0,k1\n2,3,1\n0,2,-1\n2,5,6\n3,7,8\n2,9,10\n", small(3, 2));
    CHECK(ids_of(cards.table, 0) == Ids{2, -1});
    CHECK(cards.table.tokens(1) == 0);
    CHECK(ids_of(cards.table, 2) == Ids{3, 1, 5, 6});
    CHECK(cards.leftover_tokens == 2);
    CHECK(noted(cards, "2 of the 5 tokens in the routing file are left over, 1 of them on cards beyond the 3 used"));

    const std::string layers = dir.write("b.csv", "layer,k0,k1\n0,3,1\n1,2,4\n0,5,6\n");
    CHECK(ids_of(make_routing(from(layers, 1), one, 0).table, 0) == Ids{2, 4});

    Workload top1 = small(1, 3);
    top1.top_k = 1;
    CHECK(ids_of(result("3\n1\n3\n", top1).table, 0) == Ids{3, 1, 3});
    CHECK(ids_of(result("k0\n3\n1\n", top1).table, 0) == Ids{3, 1});
}
