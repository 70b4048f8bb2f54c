// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The simulated SuperPod: engine, fabric and the cards in use.
///
/// Order of destruction and of SystemC's context: see Pod's users; several pods may live one after the
/// other in one process (sc_get_curr_simcontext()->reset() between them).
#include "models/engine/engine.hpp"
#include "models/fabric/fabric.hpp"
#include "models/pod/card.hpp"

#include <memory>
#include <string>
#include <vector>

namespace podsim {

struct PodParams {
    std::uint32_t cards = 0;
    std::uint32_t cores_per_card = 0;  ///< AIV cores that take part in a kernel
    std::uint64_t seed = 0;
    EngineParams engine;
    PayloadMode payload = PayloadMode::extents;
    Polling polling = Polling::elided;
    ObserverIf* observer = nullptr;
};

class Pod final : public sc_core::sc_module {
public:
    /// `machine` must outlive the pod. Throws UserError when the topology leaves two used cards without a path.
    Pod(const sc_core::sc_module_name& name, const Machine& machine, const PodParams& params);

    std::uint32_t cards() const { return static_cast<std::uint32_t>(cards_.size()); }
    Card& card(CardId id) { return *cards_[index(id)]; }
    const Card& card(CardId id) const { return *cards_[index(id)]; }
    Fabric& fabric() { return fabric_; }
    const Fabric& fabric() const { return fabric_; }
    Engine& engine() { return engine_; }
    const Engine& engine() const { return engine_; }
    const Machine& machine() const { return machine_; }
    VectorResults& vector_results() { return results_; }

    /// One line for every core that has not ended, and what it waits for; at most `most` lines.
    std::vector<std::string> waiting_cores(std::size_t most) const;

private:
    const Machine& machine_;
    VectorTable table_;
    VectorResults results_;
    PollCensus census_;
    CallSites sites_;
    Engine engine_;
    Fabric fabric_;
    std::vector<std::unique_ptr<Card>> cards_;
};

}  // namespace podsim
