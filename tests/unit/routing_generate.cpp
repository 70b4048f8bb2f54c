// SPDX-License-Identifier: Apache-2.0
// Each generated kind keeps what routing.hpp promises.
#include "algorithms/routing/generate.hpp"
#include "algorithms/routing/routing.hpp"
#include "models/engine/error.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace podsim;

namespace {

Workload sizes(std::uint32_t cards, std::uint32_t batch_size, std::uint32_t top_k, std::uint32_t experts) {
    Workload w;
    w.cards = cards;
    w.batch_size = batch_size;
    w.top_k = top_k;
    w.experts = experts;
    return w;
}

RoutingSpec of_kind(RoutingKind kind) {
    RoutingSpec spec;
    spec.kind = kind;
    return spec;
}

/// Every id is an expert and no token has one twice.
bool well_formed(const RoutingTable& table, const Workload& w) {
    for (std::uint32_t card = 0; card < table.cards(); ++card) {
        for (std::uint32_t token = 0; token < table.tokens(card); ++token) {
            std::set<std::int32_t> seen;
            for (std::uint32_t k = 0; k < w.top_k; ++k) {
                const std::int32_t id = table.id(card, token, k);
                if (id < 0 || id >= static_cast<std::int32_t>(w.experts) || !seen.insert(id).second) {
                    return false;
                }
            }
        }
    }
    return true;
}

std::uint64_t spread(const std::vector<std::uint64_t>& counts) {
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    return *most - *least;
}

std::uint64_t spread_on_card(const RoutingTable& table, std::uint32_t card, std::uint32_t experts) {
    std::vector<std::uint64_t> counts(experts, 0);
    for (const std::int32_t id : table.ids(card)) {
        ++counts[static_cast<std::size_t>(id)];
    }
    return spread(counts);
}

bool same_ids(const RoutingTable& a, std::uint32_t card_a, const RoutingTable& b, std::uint32_t card_b) {
    const auto x = a.ids(card_a);
    const auto y = b.ids(card_b);
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

/// Sum of (observed - expected)^2 / expected.
double chi_square(const std::vector<std::uint64_t>& observed, const std::vector<double>& share) {
    double total = 0;
    for (const std::uint64_t n : observed) {
        total += static_cast<double>(n);
    }
    double sum = 0;
    for (std::size_t i = 0; i < observed.size(); ++i) {
        const double difference = static_cast<double>(observed[i]) - total * share[i];
        sum += difference * difference / (total * share[i]);
    }
    return sum;
}

}  // namespace

TEST_CASE("routing balanced: level on every card and over all cards") {
    const auto w =
        GENERATE(sizes(64, 32, 8, 256), sizes(288, 8, 8, 288), sizes(7, 5, 3, 14), sizes(3, 7, 8, 9), sizes(5, 3, 4, 5),
                 sizes(4, 9, 8, 8), sizes(13, 1, 1, 13), sizes(2, 1, 12, 64), sizes(11, 17, 6, 77));
    const auto seed = GENERATE(1U, 2U, 99U);
    Workload seeded = w;
    seeded.seed = seed;
    for (const std::uint32_t call : {0U, 1U}) {
        const RoutingTable table = make_routing(of_kind(RoutingKind::balanced), seeded, call).table;
        CAPTURE(w.cards, w.batch_size, w.top_k, w.experts, seed, call);
        CHECK(well_formed(table, w));
        CHECK(table.total_tokens() == static_cast<std::uint64_t>(w.cards) * w.batch_size);
        CHECK(spread(selections_per_expert(table, w.experts)) <= 1);
        for (std::uint32_t card = 0; card < w.cards; ++card) {
            CHECK(spread_on_card(table, card, w.experts) <= 1);
        }
    }
}

TEST_CASE("routing balanced: the 64-card case sends 4 rows from every card to every card") {
    const Workload w = sizes(64, 32, 8, 256);
    const RoutingResult result = make_routing(of_kind(RoutingKind::balanced), w, 0);
    CHECK(rows_per_card(result.table, w) == std::vector<std::uint64_t>(64, 256));
    CHECK(std::abs(result.correlation) < 0.01);
    CHECK(result.leftover_tokens == 0);
    CHECK(result.notes.empty());
}

TEST_CASE("routing balanced: uneven cards stay level, too") {
    const Workload w = sizes(5, 9, 4, 10);
    RoutingSpec spec = of_kind(RoutingKind::balanced);
    spec.tokens_per_card = {9, 0, 1, 3, 8};
    const RoutingTable table = make_routing(spec, w, 2).table;
    CHECK(well_formed(table, w));
    CHECK(table.tokens(0) == 9);
    CHECK(table.tokens(1) == 0);
    CHECK(table.tokens(4) == 8);
    CHECK(spread(selections_per_expert(table, w.experts)) <= 1);
}

TEST_CASE("routing generated: cards, calls and seeds differ, nothing else matters") {
    const auto kind = GENERATE(RoutingKind::balanced, RoutingKind::uniform, RoutingKind::zipf, RoutingKind::hot);
    Workload w = sizes(8, 16, 8, 64);
    const RoutingTable table = make_routing(of_kind(kind), w, 3).table;
    CHECK(make_routing(of_kind(kind), w, 3).table == table);
    CHECK_FALSE(make_routing(of_kind(kind), w, 4).table == table);
    for (std::uint32_t card = 1; card < w.cards; ++card) {
        CHECK_FALSE(same_ids(table, 0, table, card));
    }
    // Sizes that do not concern routing.
    w.hidden = 64;
    w.quant = Quant::none;
    CHECK(make_routing(of_kind(kind), w, 3).table == table);
    w.seed = 2;
    CHECK_FALSE(make_routing(of_kind(kind), w, 3).table == table);
}

TEST_CASE("routing generated: the same table on every card") {
    const auto kind = GENERATE(RoutingKind::balanced, RoutingKind::uniform, RoutingKind::zipf, RoutingKind::hot);
    const Workload w = sizes(6, 16, 8, 60);
    RoutingSpec spec = of_kind(kind);
    const RoutingTable own = make_routing(spec, w, 1).table;
    spec.same_table_on_every_card = true;
    const RoutingResult result = make_routing(spec, w, 1);
    for (std::uint32_t card = 0; card < w.cards; ++card) {
        CHECK(same_ids(result.table, card, own, 0));
    }
    CHECK(result.correlation == Approx(1));

    spec.tokens_per_card = {3, 16, 0, 5, 5, 1};
    const RoutingTable uneven = make_routing(spec, w, 1).table;
    for (std::uint32_t card = 0; card < w.cards; ++card) {
        REQUIRE(uneven.tokens(card) == (*spec.tokens_per_card)[card]);
        CHECK(std::equal(uneven.ids(card).begin(), uneven.ids(card).end(), own.ids(0).begin()));
    }
}

TEST_CASE("routing uniform: every expert is equally likely at every place") {
    const Workload w = sizes(10, 500, 3, 10);
    const RoutingTable table = make_routing(of_kind(RoutingKind::uniform), w, 0).table;
    CHECK(well_formed(table, w));
    for (std::uint32_t k = 0; k < w.top_k; ++k) {
        std::vector<std::uint64_t> counts(w.experts, 0);
        for (std::uint32_t card = 0; card < w.cards; ++card) {
            for (std::uint32_t token = 0; token < w.batch_size; ++token) {
                ++counts[static_cast<std::size_t>(table.id(card, token, k))];
            }
        }
        // 9 degrees of freedom: above 34 once in 10,000 tables.
        CHECK(chi_square(counts, std::vector<double>(w.experts, 0.1)) < 34);
    }
    // Unlike `balanced`, a card is not level.
    std::uint64_t most = 0;
    for (std::uint32_t card = 0; card < w.cards; ++card) {
        most = std::max(most, spread_on_card(table, card, w.experts));
    }
    CHECK(most > 3);
}

TEST_CASE("routing uniform: all experts of a token when top-k is all of them") {
    const Workload w = sizes(2, 20, 8, 8);
    const RoutingTable table = make_routing(of_kind(RoutingKind::uniform), w, 0).table;
    CHECK(well_formed(table, w));
    CHECK(selections_per_expert(table, 8) == std::vector<std::uint64_t>(8, 40));
}

TEST_CASE("routing zipf: weights follow 1 / rank^exponent") {
    CHECK(zipf_weights(3, 0) == std::vector<std::uint64_t>(3, 1ULL << 32U));
    CHECK(zipf_weights(6, 1) ==
          std::vector<std::uint64_t>{4294967296, 2147483648, 1431655765, 1073741824, 858993459, 715827883});
    CHECK(zipf_weights(3, 2) == std::vector<std::uint64_t>{4294967296, 1073741824, 477218588});
    CHECK(zipf_weights(3, 16)[1] == 65536);
    CHECK(zipf_weights(768, 16).back() == 1);  // never 0: every expert can be drawn
    for (const double exponent : {0.25, 0.5, 0.8, 1.0, 1.37, 2.5}) {
        const auto weights = zipf_weights(1024, exponent);
        for (std::size_t i = 0; i < weights.size(); ++i) {
            const double exact = 4294967296.0 / std::pow(static_cast<double>(i + 1), exponent);
            CHECK(std::abs(static_cast<double>(weights[i]) - exact) <= 0.51 + exact * 3e-7);
        }
    }
}

TEST_CASE("routing zipf: the first choice follows the weights") {
    const Workload w = sizes(16, 625, 16, 16);
    RoutingSpec spec = of_kind(RoutingKind::zipf);
    // With exponent 8 the expert drawn at place r is that of rank r in most tokens: that shows the permutation.
    spec.zipf_exponent = 8;
    const RoutingTable sorted = make_routing(spec, w, 5).table;
    CHECK(well_formed(sorted, w));
    std::vector<std::size_t> rank_of(w.experts, w.experts);
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
        std::vector<std::uint64_t> counts(w.experts, 0);
        for (std::uint32_t card = 0; card < w.cards; ++card) {
            for (std::uint32_t token = 0; token < w.batch_size; ++token) {
                ++counts[static_cast<std::size_t>(sorted.id(card, token, rank))];
            }
        }
        const auto mode = std::max_element(counts.begin(), counts.end()) - counts.begin();
        rank_of[static_cast<std::size_t>(mode)] = rank;
    }
    for (const double exponent : {0.0, 0.5, 1.0, 2.0}) {
        spec.zipf_exponent = exponent;
        const RoutingTable table = make_routing(spec, w, 1).table;
        CHECK(well_formed(table, w));
        // The first six ranks one by one, the others together.
        std::vector<std::uint64_t> counts(7, 0);
        for (std::uint32_t card = 0; card < w.cards; ++card) {
            for (std::uint32_t token = 0; token < w.batch_size; ++token) {
                const std::size_t rank = rank_of[static_cast<std::size_t>(table.id(card, token, 0))];
                ++counts[std::min<std::size_t>(rank, 6)];
            }
        }
        double sum = 0;
        std::vector<double> share(7, 0);
        for (std::uint32_t rank = 0; rank < w.experts; ++rank) {
            const double weight = std::pow(rank + 1, -exponent);
            share[std::min<std::size_t>(rank, 6)] += weight;
            sum += weight;
        }
        for (double& s : share) {
            s /= sum;
        }
        CAPTURE(exponent);
        CHECK(chi_square(counts, share) < 28);  // 6 degrees of freedom, 1 in 10,000
    }
}

TEST_CASE("routing zipf: popular experts stay popular from card to card and call to call") {
    const Workload w = sizes(16, 64, 2, 64);
    RoutingSpec spec = of_kind(RoutingKind::zipf);
    spec.zipf_exponent = 2;
    const auto hottest = [&](std::uint32_t call) {
        const auto counts = selections_per_expert(make_routing(spec, w, call).table, w.experts);
        return std::max_element(counts.begin(), counts.end()) - counts.begin();
    };
    CHECK(hottest(0) == hottest(1));
    const auto counts = selections_per_expert(make_routing(spec, w, 0).table, w.experts);
    CHECK(*std::max_element(counts.begin(), counts.end()) > 16 * 64 * 8 / 10);
}

TEST_CASE("routing hot: hot experts take their share") {
    struct Case {
        std::uint32_t top_k, experts, hot;
        double share, expected;
        bool cut;
    };
    const auto c =
        GENERATE(Case{8, 64, 8, 0.5, 0.5, false}, Case{8, 64, 4, 0.33, 0.33, false}, Case{8, 64, 1, 0.5, 0.125, true},
                 Case{8, 64, 1, 0.125, 0.125, false}, Case{2, 16, 1, 0.25, 0.25, false},
                 Case{8, 10, 5, 0.1, 0.375, true}, Case{4, 16, 16, 1.0, 1.0, false}, Case{4, 16, 2, 0, 0, false});
    const Workload w = sizes(2, 1000, c.top_k, c.experts);
    RoutingSpec spec = of_kind(RoutingKind::hot);
    spec.hot_experts = c.hot;
    spec.hot_share = c.share;
    const RoutingResult result = make_routing(spec, w, 0);
    CAPTURE(c.top_k, c.experts, c.hot, c.share);
    CHECK(well_formed(result.table, w));
    CHECK(result.notes.size() == (c.cut ? 1U : 0U));

    std::vector<std::uint64_t> counts = selections_per_expert(result.table, w.experts);
    std::sort(counts.rbegin(), counts.rend());
    std::uint64_t total = 0;
    for (const std::uint64_t n : counts) {
        total += n;
    }
    if (c.expected * w.experts > c.hot) {  // hot experts are the most selected ones
        std::uint64_t hot = 0;
        for (std::uint32_t i = 0; i < c.hot; ++i) {
            hot += counts[i];
        }
        // A token's hot selections vary by less than one: the mean over 2,000 tokens by 0.05 at most.
        CHECK(static_cast<double>(hot) / static_cast<double>(total) == Approx(c.expected).margin(0.05 / c.top_k));
    }
    if (c.share == 0) {
        CHECK(counts[w.experts - 2] == 0);
        CHECK(counts[w.experts - 3] > 0);
    }
}

TEST_CASE("routing hot: which experts are hot does not change with the call") {
    const Workload w = sizes(4, 32, 8, 64);
    const RoutingSpec spec = of_kind(RoutingKind::hot);
    const auto hottest = [&](std::uint32_t call) {
        const auto counts = selections_per_expert(make_routing(spec, w, call).table, w.experts);
        return std::max_element(counts.begin(), counts.end()) - counts.begin();
    };
    CHECK(hottest(0) == hottest(7));
}

TEST_CASE("routing generated: impossible parameters are refused at their key") {
    const Workload w = sizes(4, 8, 2, 16);
    const auto pointer = [&](const RoutingSpec& spec) {
        try {
            make_routing(spec, w, 0);
        } catch (const UserError& e) {
            return e.detail().pointer;
        }
        return std::string("accepted");
    };
    RoutingSpec spec = of_kind(RoutingKind::zipf);
    for (const double bad :
         {-0.1, 16.5, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        spec.zipf_exponent = bad;
        CHECK(pointer(spec) == "/workload/routing/zipf_exponent");
    }
    spec = of_kind(RoutingKind::hot);
    for (const double bad : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
        spec.hot_share = bad;
        CHECK(pointer(spec) == "/workload/routing/hot_share");
    }
    spec = of_kind(RoutingKind::hot);
    spec.hot_experts = 0;
    CHECK(pointer(spec) == "/workload/routing/hot_experts");
    spec.hot_experts = 17;
    CHECK(pointer(spec) == "/workload/routing/hot_experts");
    spec = RoutingSpec{};
    spec.tokens_per_card = {8, 8, 8};
    CHECK(pointer(spec) == "/workload/routing/tokens_per_card");
    spec.tokens_per_card = {8, 8, 9, 8};
    CHECK(pointer(spec) == "/workload/routing/tokens_per_card/2");
    spec.tokens_per_card = {0, 0, 0, 0};
    CHECK(pointer(spec) == "accepted");
}
