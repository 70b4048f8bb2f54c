// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A pipe with a queue: instructions start in order, each when it was issued, the one before it lets it and
/// its flags have fired. Times are worked out as soon as they are known; only work that touches shared state
/// (UB, memory, fabric) waits for its instant.
#include "models/aicore/core_if.hpp"
#include "models/aicore/ring.hpp"
#include "models/engine/engine_if.hpp"

#include <optional>
#include <vector>

namespace podsim {

class InOrderPipe : public Unit {
public:
    InOrderPipe(CoreIf& core, Pipe pipe) : core_(core), pipe_(pipe) {}

    /// Since when the queue has a place for one more instruction; nothing while that is not known: it is full.
    std::optional<Picoseconds> place() const;
    /// Takes an instruction whose `issued` is set (now or later).
    void push(const Instruction& instruction);
    /// Goes on as far as is known; harmless when nothing changed.
    void advance();
    /// When everything handed to the pipe is complete, if that is known by now.
    std::optional<Picoseconds> drained() const;
    /// What the pipe waits for, for the diagnosis of a deadlock; nullptr when its queue is empty.
    const Instruction* head() const { return queue_.empty() ? nullptr : &queue_.front(); }

protected:
    enum class Progress : std::uint8_t {
        done,     ///< executed; next_start_ says when the next may start
        later,    ///< an event is scheduled, execute() is called again from on_event
        running,  ///< begun; the pipe calls finish_running() when the next may start
    };

    /// Executes the head, which may start at `earliest` (may be earlier or later than now).
    virtual Progress execute(const Instruction& instruction, Picoseconds earliest) = 0;
    /// All work before a SetFlag is known to end at …, or the pipe keeps the flag for later.
    virtual void flag_reached(const FlagCall& flag, Picoseconds earliest) = 0;
    /// When all work so far is complete; nothing when not known yet: then call advance() later.
    virtual std::optional<Picoseconds> work_done() const = 0;
    virtual MilliCycles barrier_cost() const = 0;

    void finish_running(Picoseconds next_start);
    Picoseconds now() { return core_.engine().now(); }
    Picoseconds flag_hop() const { return core_.params().time(core_.params().flag_hop); }

    CoreIf& core_;
    const Pipe pipe_;
    Picoseconds next_start_ = 0;  ///< of whatever comes next
    Picoseconds next_work_ = 0;   ///< of the next that is neither flag nor barrier

private:
    bool step();

    Ring<Instruction> queue_;
    // When the last instructions left the queue, by number modulo its depth. Some leave it ahead of their
    // time, so an empty place alone does not say since when.
    std::vector<Picoseconds> left_;
    std::uint64_t taken_ = 0;
    std::uint64_t gone_ = 0;
    bool advancing_ = false;
    bool running_ = false;
};

}  // namespace podsim
