// SPDX-License-Identifier: Apache-2.0
// The oracle against the definition, searched by brute force.
#include "algorithms/reference/reference_dispatch.hpp"

#include "algorithms/reference/quantize.hpp"
#include "algorithms/routing/input.hpp"
#include "algorithms/routing/routing.hpp"
#include "models/engine/error.hpp"

#include <catch2/catch.hpp>

using namespace podsim;

namespace {

/// Does this copy of a token arrive at `local` of `card`?
bool arrives(const Workload& w, const RoutingTable& table, const RowOrigin& row, std::uint32_t card,
             std::uint32_t local) {
    if (row.k >= w.top_k) {
        const std::uint32_t per_shared = w.shared_expert_cards / w.shared_experts;
        return local == 0 && card == row.source % per_shared + (row.k - w.top_k) * per_shared;
    }
    const std::int32_t id = table.id(row.source, row.token, row.k);
    const std::uint32_t per_card = w.experts / (w.cards - w.shared_expert_cards);
    return card >= w.shared_expert_cards &&
           id == static_cast<std::int32_t>((card - w.shared_expert_cards) * per_card + local);
}

/// Output rows of a card by the definition of their order, one search through everything an expert.
std::vector<RowOrigin> brute_force(const Workload& w, const RoutingTable& table, std::uint32_t card) {
    std::vector<RowOrigin> rows;
    const bool shared = card < w.shared_expert_cards;
    const std::uint32_t experts_here = shared ? 1 : w.experts / (w.cards - w.shared_expert_cards);
    for (std::uint32_t local = 0; local < experts_here; ++local) {
        for (std::uint32_t source = 0; source < w.cards; ++source) {
            std::uint32_t slot = 0;
            for (std::uint32_t token = 0; token < table.tokens(source); ++token) {
                const std::uint32_t copies = w.top_k + (w.shared_expert_cards > 0 ? w.shared_experts : 0);
                for (std::uint32_t k = 0; k < copies; ++k) {
                    RowOrigin row{source, token, k, 0, 0};
                    if (arrives(w, table, row, card, local)) {
                        row.slot = slot++;
                        row.expert = k < w.top_k ? static_cast<std::uint32_t>(table.id(source, token, k))
                                                 : w.experts + k - w.top_k;
                        rows.push_back(row);
                    }
                }
            }
        }
    }
    return rows;
}

void compare(const Workload& w, const RoutingTable& table) {
    const ReferenceDispatch reference(w, table, 0);
    const auto rows_of = rows_per_card(table, w);
    std::uint64_t total = 0;
    for (std::uint32_t card = 0; card < w.cards; ++card) {
        CAPTURE(card);
        const std::vector<RowOrigin> expected = brute_force(w, table, card);
        const auto output = reference.output(card);
        CHECK(std::vector<RowOrigin>(output.begin(), output.end()) == expected);
        CHECK(reference.row_count(card) == expected.size());
        CHECK(rows_of[card] == expected.size());
        total += expected.size();

        const std::vector<std::int32_t> recv = reference.ep_recv_counts(card);
        const auto prefix = reference.expert_token_nums(card, ExpertTokenNums::prefix);
        const auto counts = reference.expert_token_nums(card, ExpertTokenNums::count);
        REQUIRE(recv.size() == w.status_entries(card));
        REQUIRE(prefix.size() == w.local_experts(card));
        std::size_t at = 0;
        for (std::uint32_t local = 0; local < w.local_experts(card); ++local) {
            const std::size_t before = at;
            for (std::uint32_t source = 0; source < w.cards; ++source) {
                std::uint32_t n = 0;
                while (at < expected.size() && expected[at].source == source &&
                       arrives(w, table, expected[at], card, local)) {
                    ++at;
                    ++n;
                }
                CHECK(reference.count(card, local, source) == n);
                CHECK(recv[local * w.cards + source] == static_cast<std::int32_t>(at));
            }
            CHECK(prefix[local] == static_cast<std::int64_t>(at));
            CHECK(counts[local] == static_cast<std::int64_t>(at - before));
        }
        for (const RowOrigin& row : expected) {
            CHECK(reference.expand_idx(row.source, row.token, row.k) == static_cast<std::int32_t>(row.slot));
        }
    }
    CHECK(reference.total_rows() == total);
}

}  // namespace

TEST_CASE("reference dispatch: agrees with brute force") {
    Workload w;
    w.cards = 6;
    w.batch_size = 7;
    w.top_k = 3;
    w.experts = 12;
    w.hidden = 8;
    RoutingSpec spec;
    spec.kind = GENERATE(RoutingKind::balanced, RoutingKind::uniform, RoutingKind::hot);
    spec.hot_experts = 2;
    SECTION("even") {}
    SECTION("uneven, some cards with nothing") { spec.tokens_per_card = {7, 0, 1, 3, 0, 7}; }
    SECTION("one shared expert on one card") {
        w.shared_experts = 1;
        w.shared_expert_cards = 1;
        w.experts = 15;
    }
    SECTION("two shared experts on two cards each, uneven") {
        w.shared_experts = 2;
        w.shared_expert_cards = 4;
        w.experts = 6;
        spec.tokens_per_card = {2, 7, 0, 5, 1, 4};
    }
    SECTION("one card") {
        w.cards = 1;
        w.experts = 5;
    }
    validate_workload(w);
    compare(w, make_routing(spec, w, 0).table);
}

TEST_CASE("reference dispatch: dropped selections leave no trace") {
    Workload w;
    w.cards = 3;
    w.batch_size = 4;
    w.top_k = 2;
    w.experts = 6;
    w.hidden = 8;
    RoutingSpec spec;
    spec.kind = RoutingKind::uniform;
    RoutingTable table = make_routing(spec, w, 0).table;
    table.mutable_ids(0)[0] = kDroppedSelection;
    table.mutable_ids(0)[5] = kDroppedSelection;
    for (auto& id : table.mutable_ids(1)) {
        id = kDroppedSelection;
    }
    compare(w, table);
    const ReferenceDispatch reference(w, table, 0);
    CHECK(reference.total_rows() == 3 * 4 * 2 - 2 - 8);
    CHECK(reference.expand_idx(0, 0, 0) == -1);
    CHECK(reference.expand_idx(0, 2, 1) == -1);
    CHECK(reference.expand_idx(1, 3, 1) == -1);
}

TEST_CASE("reference dispatch: two cards worked out by hand") {
    Workload w;
    w.cards = 2;
    w.batch_size = 2;
    w.top_k = 2;
    w.experts = 4;
    w.hidden = 8;
    RoutingTable table(2, {2, 2});
    const std::vector<std::int32_t> ids0{3, 0, 0, 1};
    const std::vector<std::int32_t> ids1{0, 3, 2, 0};
    std::copy(ids0.begin(), ids0.end(), table.mutable_ids(0).begin());
    std::copy(ids1.begin(), ids1.end(), table.mutable_ids(1).begin());
    const ReferenceDispatch reference(w, table, 0);
    const auto out0 = reference.output(0);
    // source, token, k, expert, slot
    CHECK(std::vector<RowOrigin>(out0.begin(), out0.end()) ==
          std::vector<RowOrigin>{{0, 0, 1, 0, 0}, {0, 1, 0, 0, 1}, {1, 0, 0, 0, 0}, {1, 1, 1, 0, 1}, {0, 1, 1, 1, 0}});
    const auto out1 = reference.output(1);
    CHECK(std::vector<RowOrigin>(out1.begin(), out1.end()) ==
          std::vector<RowOrigin>{{1, 1, 0, 2, 0}, {0, 0, 0, 3, 0}, {1, 0, 1, 3, 0}});
    CHECK(reference.ep_recv_counts(0) == std::vector<std::int32_t>{2, 4, 5, 5});
    CHECK(reference.ep_recv_counts(1) == std::vector<std::int32_t>{0, 1, 2, 3});
    CHECK(reference.expert_token_nums(0, ExpertTokenNums::prefix) == std::vector<std::int64_t>{4, 5});
    CHECK(reference.expert_token_nums(0, ExpertTokenNums::count) == std::vector<std::int64_t>{4, 1});
    CHECK(reference.expand_idx(0, 1, 0) == 1);
    CHECK(reference.expand_idx(1, 1, 1) == 1);
}

TEST_CASE("reference dispatch: contents are the input of that call, quantized or not") {
    Workload w;
    w.cards = 2;
    w.experts = 8;
    w.hidden = 40;
    w.seed = 5;
    const RoutingTable table = make_routing(RoutingSpec{}, w, 0).table;
    const auto values = token_values(TokenKey{5, 3, 1, 7}, 40);
    const RowContent quantized = ReferenceDispatch(w, table, 3).content(1, 7);
    const Int8Row row = quantize_int8_dynamic(values);
    REQUIRE(quantized.bytes.size() == 40);
    CHECK(quantized.scale == row.scale);
    for (std::size_t i = 0; i < 40; ++i) {
        CHECK(std::to_integer<std::uint8_t>(quantized.bytes[i]) == static_cast<std::uint8_t>(row.values[i]));
    }
    w.quant = Quant::none;
    const RowContent plain = ReferenceDispatch(w, table, 3).content(1, 7);
    REQUIRE(plain.bytes.size() == 80);
    CHECK(plain.scale == 0);
    for (std::size_t i = 0; i < 40; ++i) {
        CHECK(std::to_integer<unsigned>(plain.bytes[2 * i]) == (values[i] & 0xFFU));
        CHECK(std::to_integer<unsigned>(plain.bytes[2 * i + 1]) == values[i] >> 8U);
    }
}

TEST_CASE("reference dispatch: the largest case fits") {
    Workload w;
    w.cards = 768;
    w.batch_size = 128;
    w.experts = 768;
    const ReferenceDispatch reference(w, make_routing(RoutingSpec{}, w, 0).table, 0);
    CHECK(reference.total_rows() == 768 * 128 * 8);
    for (std::uint32_t card = 0; card < 768; ++card) {
        CHECK(reference.row_count(card) == 1024);
    }
}

TEST_CASE("reference dispatch: a table of another workload is a bug") {
    Workload w;
    w.cards = 2;
    w.experts = 8;
    const RoutingTable table = make_routing(RoutingSpec{}, w, 0).table;
    w.cards = 4;
    CHECK_THROWS_AS(ReferenceDispatch(w, table, 0), InternalError);
    w.cards = 2;
    w.experts = 4;
    w.top_k = 8;
    CHECK_THROWS_AS(ReferenceDispatch(w, table, 0), InternalError);
}
