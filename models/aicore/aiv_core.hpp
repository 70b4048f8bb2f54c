// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One AIV core: scalar unit, vector unit, Unified Buffer, MTE2 and MTE3, each with its own in-order queue,
/// overlapping, ordered among themselves by event flags and barriers only.
///
/// Parameters  CoreParams (core_params.hpp)
/// Ports       engine: EngineIf; memory: MemoryIf (own card); fabric: FabricIf (other cards); sync: SyncIf
#include "models/aicore/event_flags.hpp"
#include "models/aicore/mte.hpp"
#include "models/aicore/scalar_unit.hpp"
#include "models/aicore/translation.hpp"
#include "models/aicore/vector_unit.hpp"

#include <memory>

namespace podsim {

/// What all cores of a pod share.
struct CoreShared {
    const CoreParams* params = nullptr;
    const VectorTable* table = nullptr;
    VectorResults* results = nullptr;
    PollCensus* census = nullptr;
    CallSites* sites = nullptr;
    CoreListeners listeners;
    PayloadMode payload = PayloadMode::extents;
    Polling polling = Polling::elided;
};

class AivCore final : public sc_core::sc_module, private CoreIf {
public:
    sc_core::sc_port<EngineIf> engine_port{"engine"};
    sc_core::sc_port<MemoryIf> memory{"memory"};
    sc_core::sc_port<SyncIf> sync{"sync"};
    UnifiedBuffer ub;
    Mte mte;  ///< its memory and fabric ports are bound by the card

    AivCore(const sc_core::sc_module_name& name, CoreRef self, const CoreShared& shared);

    /// Runs `kernel` on this core from `at`.
    void launch(Task<void> kernel, Picoseconds at) { scalar_.launch(std::move(kernel), at); }
    bool finished() const { return scalar_.finished(); }
    Picoseconds ended_at() const { return scalar_.ended_at(); }
    using CoreIf::params;
    using CoreIf::self;
    const VectorTable& vector_table() const { return table_; }

    /// For the kernel API.
    ScalarUnit& scalar() { return scalar_; }
    const ScalarUnit& scalar() const { return scalar_; }
    const Poller& poller() const { return poller_; }
    const Translation& translation() const { return translation_; }
    /// One line on what the core waits for, for the diagnosis of a deadlock.
    std::string waits_for() const;

private:
    void end_of_elaboration() override;
    Picoseconds translate(GmAddress address) override { return translation_.access(address); }
    void set_flag(const FlagCall& flag, Picoseconds at) override;
    std::optional<Picoseconds> take_flag(const Instruction& wait, Picoseconds earliest) override;
    void place_freed() override { scalar_.place_freed(); }
    void pipe_settled() override { scalar_.pipe_settled(); }
    [[noreturn]] void kernel_error(const Instruction& instruction, const std::string& text) const override;

    const VectorTable& table_;
    EventFlags flags_;
    Translation translation_;
    ScalarUnit scalar_;
    VectorUnit vector_;
    Poller poller_;
};

}  // namespace podsim
