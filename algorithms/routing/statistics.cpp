// SPDX-License-Identifier: Apache-2.0
#include "algorithms/routing/routing.hpp"

#include <algorithm>

namespace podsim {

std::vector<std::uint64_t> rows_per_card(const RoutingTable& table, const Workload& w) {
    std::vector<std::uint64_t> rows(w.cards, 0);
    for (std::uint32_t card = 0; card < table.cards(); ++card) {
        for (const std::int32_t id : table.ids(card)) {
            if (id != kDroppedSelection) {
                ++rows[w.card_of_expert(static_cast<std::uint32_t>(id))];
            }
        }
        for (std::uint32_t s = 0; s < w.shared_copies(); ++s) {
            rows[w.card_of_shared(card, s)] += table.tokens(card);
        }
    }
    return rows;
}

std::vector<std::uint64_t> selections_per_expert(const RoutingTable& table, std::uint32_t experts) {
    std::vector<std::uint64_t> selections(experts, 0);
    for (std::uint32_t card = 0; card < table.cards(); ++card) {
        for (const std::int32_t id : table.ids(card)) {
            if (id != kDroppedSelection) {
                ++selections[static_cast<std::size_t>(id)];
            }
        }
    }
    return selections;
}

double routing_correlation(const RoutingTable& table, const Workload& w) {
    std::size_t longest = 0;
    for (std::uint32_t card = 0; card < table.cards(); ++card) {
        longest = std::max(longest, table.ids(card).size());
    }
    // Pairs are ordered pairs of different selections: n of a kind make n * (n - 1).
    std::vector<std::uint64_t> all(w.cards, 0);
    std::vector<std::uint64_t> here(w.cards, 0);
    std::vector<std::uint32_t> touched;
    std::uint64_t selections = 0;
    std::uint64_t pairs = 0;
    std::uint64_t agreeing = 0;
    for (std::size_t i = 0; i < longest; ++i) {
        for (std::uint32_t card = 0; card < table.cards(); ++card) {
            const std::span<const std::int32_t> ids = table.ids(card);
            if (i < ids.size() && ids[i] != kDroppedSelection) {
                const std::uint32_t destination = w.card_of_expert(static_cast<std::uint32_t>(ids[i]));
                ++here[destination];
                touched.push_back(destination);
            }
        }
        const std::uint64_t n = touched.size();
        selections += n;
        pairs += n * (n - std::min<std::uint64_t>(n, 1));
        for (const std::uint32_t destination : touched) {
            // Zero from the second visit on.
            agreeing += here[destination] * (here[destination] - std::min<std::uint64_t>(here[destination], 1));
            all[destination] += here[destination];
            here[destination] = 0;
        }
        touched.clear();
    }
    std::uint64_t chance_agreeing = 0;
    for (const std::uint64_t n : all) {
        chance_agreeing += n * n;
    }
    if (pairs == 0 || chance_agreeing == selections * selections) {
        return 0;
    }
    const double p = static_cast<double>(agreeing) / static_cast<double>(pairs);
    const double q = static_cast<double>(chance_agreeing) / static_cast<double>(selections * selections);
    return (p - q) / (1 - q);
}

}  // namespace podsim
