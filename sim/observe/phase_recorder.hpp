// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Where every core's time went: phases by name, per core and call (docs/kernels.md, phase table).
#include "models/engine/observer.hpp"
#include "sim/observe/phase_names.hpp"

#include <cstdint>
#include <vector>

namespace podsim {

struct Interval {
    Picoseconds from = 0;
    Picoseconds to = 0;
};

/// One core in one call.
struct CoreCall {
    Picoseconds started = kNever;
    Picoseconds ended = kNever;
    std::vector<Picoseconds> phases;  ///< by phase number
    std::vector<Picoseconds> ends;    ///< by phase number: when the core last left it; kNever = it never was in it
    std::vector<Interval> post;       ///< receive-side work: address.cumsum, address.publish, reorder.*
};

class PhaseRecorder final : public ObserverIf {
public:
    PhaseRecorder(std::uint32_t cards, std::uint32_t cores_per_card, std::uint32_t calls);

    Interest interest() const override { return {false, false, false}; }
    void phase_entered(CoreRef core, std::string_view phase, bool /*step*/, Picoseconds at) override;

    const CoreCall& core_call(std::uint32_t call, CoreRef core) const { return calls_[call][place(core)]; }
    /// Calls the core has ended.
    std::uint32_t ended_calls(CoreRef core) const { return state_[place(core)].call; }
    const PhaseNames& names() const { return names_; }

private:
    struct State {
        std::uint32_t call = 0;
        std::uint32_t phase = 0;
        bool running = false;
        Picoseconds since = 0;
    };
    std::size_t place(CoreRef core) const { return index(core.card) * cores_ + index(core.core); }
    bool is_post(std::uint32_t phase);

    std::size_t cores_;
    PhaseNames names_;
    std::vector<std::int8_t> post_;  // per phase: -1 unknown, 0, 1
    std::vector<State> state_;
    std::vector<std::vector<CoreCall>> calls_;
};

}  // namespace podsim
