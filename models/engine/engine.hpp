// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The event engine. SystemC owns hierarchy and time; hot events do not each become SystemC events.
///
/// Wake::calendar: one SC_METHOD works through a calendar queue, card by card (Partitions), and lets SystemC's time
/// follow: exactly to the next foreign SystemC event, otherwise in steps of a quantum. Wake::systemc: every unit has
/// its own sc_event and SC_METHOD, so SystemC's kernel orders time; the order inside one instant is the same, and so
/// are all results. Slow; it proves the calendar right.
#include "models/engine/engine_if.hpp"
#include "models/engine/partitions.hpp"
#include "models/engine/run_modes.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace podsim {

struct EngineParams {
    Wake wake = Wake::calendar;
    Picoseconds quantum = 1'000'000;  ///< SystemC's time lags by at most this
    Picoseconds time_limit = kNever;  ///< events later than this are not handled: timed_out()
};

class Engine final : public sc_core::sc_module, private EngineIf {
public:
    sc_core::sc_export<EngineIf> port{"port"};

    Engine(const sc_core::sc_module_name& name, const EngineParams& params);
    ~Engine() override;

    /// What the fabric guarantees; without it events are handled in order of time all over the pod. Before any unit.
    void set_lookahead(const Lookahead& lookahead) { partitions_.set_lookahead(lookahead); }
    /// Runs until no event is left, a unit throws (rethrown here), stop() or the time limit.
    void run();
    /// Ends run() after the current event.
    void stop();
    /// Called every `events` events with the current time; may call stop().
    void set_heartbeat(std::uint64_t events, std::function<void(Picoseconds)> beat);

    bool timed_out() const { return timed_out_; }
    std::uint64_t events() const { return events_; }

private:
    class SystemCWaker;

    void register_unit(Unit& unit, std::optional<CardId> home) override;
    void schedule(Unit& unit, Picoseconds at, Phase phase, std::uint64_t tag) override;
    Picoseconds now() const override;
    std::size_t pending() const override;

    void step();
    void work_until(Picoseconds limit);
    void handle(const Event& event);
    void handle_in_order(const Event& event);  // of all the pod: SystemCWaker's

    EngineParams params_;
    std::vector<Unit*> units_;
    Partitions partitions_;
    std::unique_ptr<SystemCWaker> waker_;
    sc_core::sc_event kick_{"kick"};
    Picoseconds now_ = 0;
    bool handling_ = false;
    bool let_foreign_first_ = false;
    bool stopped_ = false;
    bool timed_out_ = false;
    std::uint64_t events_ = 0;
    std::uint64_t beat_every_ = 0;
    std::function<void(Picoseconds)> beat_;
    bool end_here_ = false;  // the event being handled ends the run
    std::exception_ptr failure_;
};

}  // namespace podsim
