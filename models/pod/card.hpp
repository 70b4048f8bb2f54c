// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One card: its global memory, its hardware SyncAll, and the AIV cores a kernel runs on.
#include "models/aicore/aiv_core.hpp"
#include "models/memory/card_memory.hpp"
#include "models/pod/machine.hpp"
#include "models/sync/sync_unit.hpp"

#include <memory>
#include <vector>

namespace podsim {

class Card final : public sc_core::sc_module {
public:
    CardMemory memory;
    SyncUnit sync;

    Card(const sc_core::sc_module_name& name, CardId card, const Machine& machine, std::uint32_t cores,
         const CoreShared& shared);

    std::uint32_t cores() const { return static_cast<std::uint32_t>(cores_.size()); }
    AivCore& core(CoreId id) { return *cores_[index(id)]; }
    const AivCore& core(CoreId id) const { return *cores_[index(id)]; }

    /// Binds every part of the card to the pod's engine and fabric.
    void connect(sc_core::sc_export<EngineIf>& engine, sc_core::sc_export<FabricIf>& fabric);

private:
    std::vector<std::unique_ptr<AivCore>> cores_;
};

}  // namespace podsim
