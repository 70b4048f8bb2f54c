// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/routing_tables.hpp"

#include "models/engine/error.hpp"

#include <algorithm>

namespace podsim {

bool RoutingTables::connects(std::uint32_t from, std::uint32_t to, std::uint32_t plane) const {
    const CardPort& source = port(from, plane);
    const CardPort& target = port(to, plane);
    return source.row != CardPort::kNoRow && target.row != CardPort::kNoRow &&
           group[source.row + target.column] != kUnreachable;
}

Picoseconds RoutingTables::latency(std::uint32_t from, std::uint32_t to, std::uint32_t plane) const {
    const CardPort& source = port(from, plane);
    const CardPort& target = port(to, plane);
    return source.up_latency + distance[source.row + target.column] + target.down_latency;
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
