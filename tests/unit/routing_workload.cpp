// SPDX-License-Identifier: Apache-2.0
#include "algorithms/routing/routing.hpp"
#include "algorithms/routing/workload.hpp"
#include "models/engine/error.hpp"

#include <catch2/catch.hpp>

#include <functional>

using namespace podsim;

namespace {

std::string pointer_of_refusal(const std::function<void(Workload&)>& spoil) {
    Workload w;
    spoil(w);
    try {
        validate_workload(w);
    } catch (const UserError& e) {
        return e.detail().pointer;
    }
    return "accepted";
}

/// `cards` cards of one token each; card c's token selects ids[c].
RoutingTable one_token_each(const std::vector<std::vector<std::int32_t>>& ids) {
    RoutingTable table(static_cast<std::uint32_t>(ids[0].size()), std::vector<std::uint32_t>(ids.size(), 1));
    for (std::uint32_t card = 0; card < table.cards(); ++card) {
        std::copy(ids[card].begin(), ids[card].end(), table.mutable_ids(card).begin());
    }
    return table;
}

}  // namespace

TEST_CASE("routing workload: experts lie in blocks on their cards") {
    Workload w;
    w.cards = 64;
    w.experts = 256;
    validate_workload(w);
    CHECK(w.experts_per_card() == 4);
    CHECK(w.card_of_expert(0) == 0);
    CHECK(w.card_of_expert(255) == 63);
    CHECK(w.card_of_expert(7) == 1);
    CHECK(w.local_of_expert(7) == 3);
    CHECK(w.expert_on_card(1, 3) == 7);
    CHECK(w.status_entries(5) == 256);
    CHECK(w.shared_copies() == 0);
    CHECK(w.row_value_bytes() == 7168);
    w.quant = Quant::none;
    CHECK(w.row_value_bytes() == 14336);
}

TEST_CASE("routing workload: shared-expert cards come first") {
    Workload w;
    w.cards = 288;
    w.experts = 256;
    w.shared_experts = 2;
    w.shared_expert_cards = 32;
    validate_workload(w);
    CHECK(w.moe_cards() == 256);
    CHECK(w.card_of_expert(0) == 32);
    CHECK(w.card_of_expert(255) == 287);
    CHECK(w.expert_on_card(287, 0) == 255);
    CHECK(w.cards_per_shared_expert() == 16);
    // (source mod cards per shared expert) + s * cards per shared expert
    CHECK(w.card_of_shared(0, 0) == 0);
    CHECK(w.card_of_shared(17, 0) == 1);
    CHECK(w.card_of_shared(17, 1) == 17);
    CHECK(w.card_of_shared(287, 1) == 31);
    CHECK(w.status_entries(31) == 288);
    CHECK(w.local_experts(31) == 1);
}

TEST_CASE("routing workload: contradictions are refused at their key") {
    CHECK(pointer_of_refusal([](Workload&) {}) == "accepted");
    CHECK(pointer_of_refusal([](Workload& w) { w.cards = 0; }) == "/cards");
    CHECK(pointer_of_refusal([](Workload& w) { w.batch_size = 0; }) == "/workload/batch_size");
    CHECK(pointer_of_refusal([](Workload& w) { w.hidden = 0; }) == "/workload/hidden");
    CHECK(pointer_of_refusal([](Workload& w) { w.top_k = 0; }) == "/workload/top_k");
    CHECK(pointer_of_refusal([](Workload& w) { w.experts = 0; }) == "/workload/experts");
    CHECK(pointer_of_refusal([](Workload& w) { w.experts = 100; }) == "/workload/experts");
    CHECK(pointer_of_refusal([](Workload& w) { w.top_k = 257; }) == "/workload/top_k");
    CHECK(pointer_of_refusal([](Workload& w) { w.shared_experts = 1; }) == "/workload/shared_experts");
    CHECK(pointer_of_refusal([](Workload& w) { w.shared_expert_cards = 1, w.experts = 252; }) ==
          "/workload/shared_experts");
    CHECK(pointer_of_refusal([](Workload& w) { w.shared_expert_cards = 64; }) == "/workload/shared_expert_cards");
    CHECK(pointer_of_refusal([](Workload& w) { w.shared_expert_cards = 4, w.shared_experts = 3, w.experts = 240; }) ==
          "/workload/shared_expert_cards");
}

TEST_CASE("routing workload: kinds and their names") {
    for (const RoutingKind kind :
         {RoutingKind::balanced, RoutingKind::uniform, RoutingKind::zipf, RoutingKind::hot, RoutingKind::file}) {
        CHECK(parse_routing_kind(routing_kind_name(kind)) == kind);
    }
    CHECK(routing_kind_name(RoutingKind::hot) == "hot");
    CHECK_FALSE(parse_routing_kind("balance").has_value());
}

TEST_CASE("routing table: cards of different length, also none") {
    RoutingTable table(2, {2, 0, 1});
    CHECK(table.cards() == 3);
    CHECK(table.total_tokens() == 3);
    CHECK(table.tokens(0) == 2);
    CHECK(table.tokens(1) == 0);
    CHECK(table.tokens(2) == 1);
    CHECK(table.ids(1).empty());
    CHECK(table.id(2, 0, 1) == kDroppedSelection);
    table.mutable_ids(2)[1] = 5;
    CHECK(table.id(2, 0, 1) == 5);
    CHECK(table.id(0, 1, 1) == kDroppedSelection);
}

TEST_CASE("routing table: rows a card and selections an expert") {
    Workload w;
    w.cards = 4;
    w.experts = 6;  // two on each of cards 1, 2 and 3
    w.top_k = 2;
    w.shared_experts = 1;
    w.shared_expert_cards = 1;
    const RoutingTable table = one_token_each({{0, 1}, {0, 5}, {-1, 5}, {-1, -1}});
    CHECK(rows_per_card(table, w) == std::vector<std::uint64_t>{4, 3, 0, 2});
    CHECK(selections_per_expert(table, 6) == std::vector<std::uint64_t>{2, 1, 0, 0, 0, 2});
}

TEST_CASE("routing table: correlation of cards") {
    Workload w;
    w.cards = 4;
    w.experts = 4;
    w.top_k = 2;
    CHECK(routing_correlation(one_token_each({{0, 1}, {0, 1}, {0, 1}, {0, 1}}), w) == Approx(1));
    // At each index all four cards aim elsewhere: p = 0, q = 4 * (2/8)^2 = 1/4, so (0 - 1/4) / (3/4).
    CHECK(routing_correlation(one_token_each({{0, 1}, {1, 2}, {2, 3}, {3, 0}}), w) == Approx(-1.0 / 3));
    // One of the six pairs agrees at each index: p = 1/6; card 0 takes 4, cards 1 and 2 take 2: q = 24/64.
    CHECK(routing_correlation(one_token_each({{0, 1}, {0, 2}, {1, 0}, {2, 0}}), w) ==
          Approx((1.0 / 6 - 0.375) / 0.625));
    CHECK(routing_correlation(one_token_each({{0, -1}, {-1, -1}, {-1, 1}, {-1, -1}}), w) == 0);
    CHECK(routing_correlation(RoutingTable(2, {0, 0, 0, 0}), w) == 0);
}
