// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Scalar unit of an AIV core: runs the kernel coroutine and turns its calls into timed instructions.
///
/// The coroutine runs ahead and fills the program; the unit works through it, adding counted cycles, handing
/// instructions to the pipes and stalling where hardware does: a full queue, a flag not yet set, a barrier.
/// Only instructions that touch UB, GM or other cores wait for their instant. The kernel itself waits only
/// for values (UbLoad, GmLoad, polls, the clock).
#include "models/aicore/core_if.hpp"
#include "models/aicore/data_cache.hpp"
#include "models/aicore/in_order_pipe.hpp"
#include "models/aicore/instruction_cache.hpp"
#include "models/aicore/poll.hpp"
#include "models/aicore/ring.hpp"
#include "models/aicore/task.hpp"
#include "models/sync/sync_if.hpp"

#include <array>

namespace podsim {

struct ScalarStatistics {
    std::uint64_t instructions = 0;
    std::uint64_t sync_alls = 0;
    Picoseconds sync_all_wait = 0;
};

class ScalarUnit final : public Unit, public Poller::ClientIf, private SyncClientIf {
public:
    ScalarUnit(CoreIf& core, VectorResults& results, CallSites& sites)
        : core_(core), results_(results), code_(core.params().instructions, sites) {}
    void connect(std::array<InOrderPipe*, 3> v_mte2_mte3, UbIf& ub, MemoryIf& memory, SyncIf& sync, Poller& poller);

    /// Runs `kernel` from `at`; the client hears of the end through finished().
    void launch(Task<void> kernel, Picoseconds at);
    bool finished() const { return finished_; }
    Picoseconds ended_at() const { return time_; }

    // Called by the kernel API while the coroutine runs.
    void emit(const Instruction& instruction);
    void emit_poll(const PollSpec& spec, const Instruction& instruction);
    /// The coroutine waits for the value of the instruction it emitted last.
    void suspend(std::coroutine_handle<> kernel) { waiting_kernel_ = kernel; }
    std::uint64_t value() const { return value_; }
    Poller& poller() { return *poller_; }

    // Called by the core.
    void place_freed() { run(); }
    void flag_fired() { run(); }
    void pipe_settled() { run(); }

    void on_event(Picoseconds now, Phase phase, std::uint64_t tag) override;
    const ScalarStatistics& statistics() const { return statistics_; }
    /// The instruction the unit stands at; nullptr when the program is empty.
    const Instruction* head() const { return program_.empty() ? nullptr : &program_.front(); }

private:
    enum class Step : std::uint8_t { done, blocked };

    void released(Picoseconds at) override;
    void poll_finished(Picoseconds at) override;

    void run();
    Step step();
    std::int64_t code_of(const Instruction& instruction) const;
    bool at_its_instant();
    /// False while a cache miss waits for its address to be translated.
    bool translated(const Instruction& access);
    Step hand_over(Instruction& instruction);
    Step wait_all();
    void ub_store(const Instruction& instruction);
    void ub_load(const Instruction& instruction);
    void scalar_loop(const Instruction& instruction);
    DataCache::Entry& cached(std::uint64_t address, bool& hit);
    void observe_learned(Picoseconds at);
    void write_back(const DataCache::Entry& entry);
    void gm_load(const Instruction& instruction);
    void gm_store(const Instruction& instruction);
    void cache_clean(const Instruction& instruction);
    void spend(MilliCycles cycles) { time_ += core_.params().time(cycles); }
    InOrderPipe& pipe(Pipe p) { return *pipes_[static_cast<std::size_t>(p) - 1]; }
    /// `touch` puts what is touched into the event.
    template <class Touch>
    void observe(const Instruction& instruction, Touch touch);
    void observe_order(OrderEvent::Kind kind, const Instruction& instruction);
    void observe_poll();

    CoreIf& core_;
    VectorResults& results_;
    std::array<InOrderPipe*, 3> pipes_{};
    UbIf* ub_ = nullptr;
    MemoryIf* memory_ = nullptr;
    SyncIf* sync_ = nullptr;
    Poller* poller_ = nullptr;

    Trampoline trampoline_;
    Task<void> kernel_;
    std::coroutine_handle<> waiting_kernel_;
    Ring<Instruction> program_;
    DataCache cache_;
    InstructionCache code_;
    const PollSpec* poll_ = nullptr;
    Instruction polling_;  ///< the poll under way, for who observes it
    const PollSpec* polled_ = nullptr;
    Picoseconds poll_begun_ = 0;
    std::uint64_t sequence_ = 0;
    std::uint64_t value_ = 0;
    Picoseconds time_ = 0;  ///< where the scalar program stands
    bool to_start_ = false;
    bool running_ = false;
    bool walked_ = false;  ///< the head's address has been translated, by a walk
    bool armed_ = false;
    bool busy_ = false;  ///< in SyncAll or a poll loop: someone else says when to go on
    bool finished_ = true;
    ScalarStatistics statistics_;
};

}  // namespace podsim
