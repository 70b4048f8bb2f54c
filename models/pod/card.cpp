// SPDX-License-Identifier: Apache-2.0
#include "models/pod/card.hpp"

#include <fmt/format.h>

namespace podsim {

Card::Card(const sc_core::sc_module_name& name, CardId card, const Machine& machine, std::uint32_t cores,
           const CoreShared& shared)
    : sc_module(name),
      memory("memory", card, machine.memory, shared.payload, shared.listeners.blocks),
      sync("sync", machine.sync) {
    cores_.reserve(cores);
    for (std::uint32_t c = 0; c < cores; ++c) {
        const std::string label = fmt::format("aiv{}", c);
        cores_.push_back(std::make_unique<AivCore>(label.c_str(), CoreRef{card, CoreId{c}}, shared));
    }
}

void Card::connect(sc_core::sc_export<EngineIf>& engine, sc_core::sc_export<FabricIf>& fabric) {
    memory.engine.bind(engine);
    memory.fabric.bind(fabric);
    for (auto& core : cores_) {
        core->engine_port.bind(engine);
        core->memory.bind(memory.cores);
        core->sync.bind(sync.port);
        core->mte.memory.bind(memory.cores);
        core->mte.fabric.bind(fabric);
    }
}

}  // namespace podsim
