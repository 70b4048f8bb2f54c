// SPDX-License-Identifier: Apache-2.0
#include "algorithms/routing/routing_table.hpp"

#include "models/engine/error.hpp"

namespace podsim {

RoutingTable::RoutingTable(std::uint32_t top_k, const std::vector<std::uint32_t>& tokens_per_card) : top_k_(top_k) {
    check(top_k > 0, "a routing table has top_k > 0");
    begin_.reserve(tokens_per_card.size() + 1);
    for (const std::uint32_t tokens : tokens_per_card) {
        begin_.push_back(begin_.back() + static_cast<std::size_t>(tokens) * top_k);
    }
    ids_.assign(begin_.back(), kDroppedSelection);
}

}  // namespace podsim
