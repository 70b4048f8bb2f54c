// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the pipes of a core need from each other. Inside one core only; the core's outside is its ports.
#include "models/aicore/instruction.hpp"
#include "models/engine/engine_if.hpp"

#include <optional>
#include <string>

namespace podsim {

/// Who hears of what; nullptr where nobody wants to.
struct CoreListeners {
    ObserverIf* phases = nullptr;
    ObserverIf* instructions = nullptr;
    ObserverIf* blocks = nullptr;
    ObserverIf* stores = nullptr;
};

class CoreIf {
public:
    virtual ~CoreIf() = default;
    // Asked for all the time: not virtual.
    const CoreParams& params() const { return params_; }
    CoreRef self() const { return self_; }
    const CoreListeners& listeners() const { return listeners_; }
    EngineIf& engine() { return *engine_; }

    /// What translating `address` adds to an access.
    virtual Picoseconds translate(GmAddress address) = 0;

    /// The flag fires at `at`; wakes the pipe that waits for it.
    virtual void set_flag(const FlagCall& flag, Picoseconds at) = 0;
    /// When the wait is over, or nothing: then `flag.to` is advanced once the flag is set.
    virtual std::optional<Picoseconds> take_flag(const Instruction& wait, Picoseconds earliest) = 0;
    /// A pipe took an instruction out of its queue.
    virtual void place_freed() = 0;
    /// `pipe` has nothing left to do, or learnt when its last work ends.
    virtual void pipe_settled() = 0;
    /// Stops the run: the kernel broke a rule of the hardware at `instruction`.
    [[noreturn]] virtual void kernel_error(const Instruction& instruction, const std::string& text) const = 0;

protected:
    CoreIf(const CoreParams& params, CoreRef self, const CoreListeners& listeners)
        : params_(params), self_(self), listeners_(listeners) {}
    /// Known from the end of elaboration on.
    void set_engine(EngineIf& engine) { engine_ = &engine; }

private:
    const CoreParams& params_;
    const CoreRef self_;
    const CoreListeners listeners_;
    EngineIf* engine_ = nullptr;
};

}  // namespace podsim
