// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the pipes of a core need from each other. Inside one core only; the core's outside is its ports.
#include "models/aicore/instruction.hpp"
#include "models/engine/engine_if.hpp"

#include <optional>
#include <string>

namespace podsim {

class CoreIf {
public:
    virtual ~CoreIf() = default;
    virtual const CoreParams& params() const = 0;
    virtual CoreRef self() const = 0;
    /// Who hears of instructions; nullptr when nobody wants to.
    virtual ObserverIf* observer() const = 0;
    virtual ObserverIf* phase_observer() const = 0;
    /// Who hears of blocks; nullptr when nobody wants to.
    virtual ObserverIf* block_observer() const = 0;
    /// Who hears of stores; nullptr when nobody wants to.
    virtual ObserverIf* store_observer() const = 0;
    virtual EngineIf& engine() = 0;
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
};

}  // namespace podsim
