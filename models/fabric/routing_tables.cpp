// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/routing_tables.hpp"

#include "models/engine/error.hpp"

#include <algorithm>

namespace podsim {

bool RoutingTables::connects(std::uint32_t from, std::uint32_t to, std::uint32_t plane) const {
    const std::uint32_t row = first_row[port_index(from, plane)];
    const std::uint16_t to_column = column[port_index(to, plane)];
    return row != kNoRow && to_column != kNoColumn && group[row + to_column] != kUnreachable;
}

Picoseconds RoutingTables::latency(std::uint32_t from, std::uint32_t to, std::uint32_t plane) const {
    const std::size_t source = port_index(from, plane);
    const std::size_t target = port_index(to, plane);
    return links[up[source]].latency + distance[first_row[source] + column[target]] + links[down[target]].latency;
}

Picoseconds RoutingTables::one_way_latency(std::uint32_t from, std::uint32_t to) const {
    if (joined_by_sio(from, to)) {
        return links[sio[from]].latency;
    }
    Picoseconds best = kNever;
    for (std::uint32_t plane = 0; plane < planes; ++plane) {
        if (connects(from, to, plane)) {
            best = std::min(best, latency(from, to, plane));
        }
    }
    check(best != kNever, "every pair of used cards is connected");
    return best;
}

}  // namespace podsim
