// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The HCCS fabric of the pod as a SystemC module.
#include "models/engine/engine_if.hpp"
#include "models/fabric/fabric_if.hpp"
#include "models/fabric/network.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace podsim {

/// One switch chip: its place in the hierarchy, and what its ports carried. Its queues are links of the
/// Network, which all switches share for speed.
class SwitchModule final : public sc_core::sc_module {
public:
    SwitchModule(const sc_core::sc_module_name& name, const Network& network, std::uint32_t vertex)
        : sc_module(name), network_(network), vertex_(vertex) {}
    const char* kind() const override { return "podsim::SwitchModule"; }
    /// Sum over its output ports.
    std::uint64_t wire_bytes_out() const;

private:
    const Network& network_;
    std::uint32_t vertex_;
};

class Fabric final : public sc_core::sc_module {
public:
    sc_core::sc_export<FabricIf> port{"port"};
    sc_core::sc_port<EngineIf> engine{"engine"};
    /// One per used card, in order of card number.
    sc_core::sc_vector<sc_core::sc_port<BlockSinkIf>> cards;

    /// A fabric for the first `cards_used` cards. `params` must outlive it. Throws UserError when the
    /// topology's edits are wrong or leave two used cards without a path.
    Fabric(const sc_core::sc_module_name& name, const FabricParams& params, std::uint32_t cards_used,
           std::uint64_t seed);
    Fabric(const sc_core::sc_module_name&, const FabricParams&&, std::uint32_t, std::uint64_t) = delete;

    /// Statistics, latencies, routes, observers.
    Network& network() { return network_; }
    const Network& network() const { return network_; }
    Picoseconds one_way_latency(CardId from, CardId to) const { return network_.one_way_latency(from, to); }

private:
    void end_of_elaboration() override;

    Network network_;
    std::vector<std::unique_ptr<SwitchModule>> switches_;
};

}  // namespace podsim
