// SPDX-License-Identifier: Apache-2.0
#include "sim/run/fabric_check.hpp"

#include "models/engine/error.hpp"
#include "models/fabric/network.hpp"
#include "sim/config/run_config.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace podsim {

void check_fabric(const RunConfig& config) {
    const FabricParams& fabric = config.machine.fabric;
    check_link_rates(fabric, Network(fabric, config.cards, config.seed));
}

void check_link_rates(const FabricParams& fabric, const Network& network) {
    constexpr double kLeast = 0.001, kMost = 1000;  // as the schema has it for one edit
    if (fabric.topology.edits.empty()) {
        return;
    }
    const std::uint64_t rate = std::min(
        {fabric.link_rate.peek(), fabric.port_write_rate.peek(), fabric.port_read_rate.peek(), fabric.sio_rate.peek()});
    for (const LinkStatistics& link : network.link_statistics()) {
        const double scale = link.rate_scale;
        if (scale < kLeast * (1 - 1e-9) || scale > kMost * (1 + 1e-9) || static_cast<double>(rate) * scale < 1) {
            throw UserError({"", "/machine/topology/edits",
                             fmt::format("links at {} to {} times their rate, and at least 1 MB/s", kLeast, kMost),
                             fmt::format("{} times on {} - {}", scale, link.from, link.to),
                             "rate_scale of several edits of one link multiply; kind remove takes a link away"});
        }
    }
}

}  // namespace podsim
