// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the fabric carried, for results and tests.
#include "models/fabric/link.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace podsim {

/// One direction of one link.
struct LinkStatistics {
    std::string from;  ///< vertex names, "card3", "l1.n0.p2"
    std::string to;
    LinkKind kind{};
    std::int32_t plane = -1;  ///< -1: SIO
    double rate_scale = 1.0;
    Picoseconds latency = 0;
    LinkCounters counters;
};

/// Traffic of one card's port on one plane.
struct PortStatistics {
    LinkCounters out;
    LinkCounters in;
};

/// Of the whole run. Every packet counts once, where it enters the fabric.
/// bytes = sio_bytes + sum of plane_bytes; wire_bytes = planes only, headers and read requests included.
struct FabricTotals {
    std::uint64_t blocks = 0;  ///< packets with payload: writes and read replies
    std::uint64_t bytes = 0;   ///< their payload
    std::uint64_t wire_bytes = 0;
    std::uint64_t sio_bytes = 0;             ///< payload between the dies of a package
    std::vector<std::uint64_t> plane_bytes;  ///< payload, one per plane
    std::vector<std::uint64_t> plane_wire_bytes;
};

}  // namespace podsim
