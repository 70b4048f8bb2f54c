// SPDX-License-Identifier: Apache-2.0
#include "models/engine/engine.hpp"

#include "models/engine/error.hpp"
#include "models/engine/systemc_waker.hpp"

#include <algorithm>

namespace podsim {

namespace {

Picoseconds systemc_now() { return static_cast<Picoseconds>(sc_core::sc_time_stamp().value()); }

/// Absolute time of the next SystemC activity that is not ours. Ours is never pending while we run.
Picoseconds next_foreign() {
    const auto* context = sc_core::sc_get_curr_simcontext();
    const sc_core::sc_time gap = sc_core::sc_time_to_pending_activity(context);
    if (gap >= sc_core::sc_max_time() - sc_core::sc_time_stamp()) {
        return kNever;
    }
    return systemc_now() + static_cast<Picoseconds>(gap.value());
}

sc_core::sc_time span(Picoseconds t) {
    return sc_core::sc_time::from_value(static_cast<sc_core::sc_time::value_type>(t));
}

}  // namespace

Engine::Engine(const sc_core::sc_module_name& name, const EngineParams& params) : sc_module(name), params_(params) {
    check(sc_core::sc_get_time_resolution() == sc_core::sc_time(1, sc_core::SC_PS),
          "SystemC's time resolution is 1 ps");
    port.bind(*this);
    if (params_.wake == Wake::systemc) {
        waker_ = std::make_unique<SystemCWaker>([this](const Event& event) { handle_in_order(event); });
    } else {
        SC_HAS_PROCESS(Engine);
        SC_METHOD(step);
    }
}

Engine::~Engine() = default;

void Engine::register_unit(Unit& unit, std::optional<CardId> home) {
    check(units_.size() < (std::size_t{1} << event_key::kUnitBits), "unit ids fit their field");
    unit.unit_id_ = static_cast<std::uint32_t>(units_.size());
    unit.partition_ = home ? partitions_.of_card(*home) : Partitions::kShared;
    units_.push_back(&unit);
    if (waker_) {
        waker_->add_unit(unit.unit_id_);
    }
}

void Engine::schedule(Unit& unit, Picoseconds at, Phase phase, std::uint64_t tag) {
    check(at >= now(), "an event is not scheduled into the past");
    const Event event{at, event_key::pack(static_cast<std::uint64_t>(phase), unit.unit_id_, unit.next_sequence_++),
                      tag};
    if (waker_) {
        waker_->schedule(event);
        return;
    }
    partitions_.push(unit.partition_, event);
    if (!handling_) {
        kick_.notify(sc_core::SC_ZERO_TIME);
    }
}

Picoseconds Engine::now() const { return handling_ ? now_ : std::max(now_, systemc_now()); }

std::size_t Engine::pending() const { return waker_ ? waker_->pending() : partitions_.size(); }

void Engine::set_heartbeat(std::uint64_t events, std::function<void(Picoseconds)> beat) {
    beat_every_ = events;
    beat_ = std::move(beat);
}

void Engine::stop() {
    stopped_ = end_here_ = true;
    // Foreign processes may go on for ever; sc_start() is to return all the same.
    if (sc_core::sc_is_running()) {
        sc_core::sc_pause();
    }
}

void Engine::run() {
    sc_core::sc_start();
    if (failure_) {
        std::rethrow_exception(std::exchange(failure_, nullptr));
    }
}

void Engine::handle(const Event& event) {
    now_ = event.at;
    handling_ = true;
    ++events_;
    // SystemC would wrap an exception into its own report text; keep it and rethrow from run().
    try {
        units_[event_key::unit(event.key)]->on_event(event.at, static_cast<Phase>(event_key::phase(event.key)),
                                                     event.tag);
        if (beat_every_ != 0 && events_ % beat_every_ == 0) {
            beat_(now_);
        }
    } catch (...) {
        failure_ = std::current_exception();
        stop();
    }
    handling_ = false;
}

void Engine::handle_in_order(const Event& event) {
    if (!stopped_ && event.at > params_.time_limit) {
        timed_out_ = true;
        stop();
    }
    if (!stopped_) {
        handle(event);
    }
}

void Engine::work_until(Picoseconds limit) {
    const auto handle_event = [this](const Event& event) {
        handle(event);
        return !std::exchange(end_here_, false);
    };
    const auto prefetch = [this](const Event& event) {
        constexpr std::size_t kCacheLine = 64;
        constexpr std::size_t kLines = 6;  // most units are larger, their end is used less
        const auto* unit = reinterpret_cast<const char*>(units_[event_key::unit(event.key)]);
        for (std::size_t i = 0; i < kLines; ++i) {
            __builtin_prefetch(unit + i * kCacheLine, 1);
        }
    };
    partitions_.work_until(limit, handle_event, prefetch);
}

void Engine::step() {
    if (stopped_) {
        return;  // no next_trigger: sc_start() returns once nothing else is pending
    }
    // A foreign process due now goes first: it may read models' state as of the end of the previous instant
    // and schedule into this one. One delta per foreign delta.
    if (let_foreign_first_ || sc_core::sc_pending_activity_at_current_time()) {
        let_foreign_first_ = false;
        next_trigger(sc_core::SC_ZERO_TIME);
        return;
    }
    const Picoseconds foreign = next_foreign();
    const Picoseconds horizon = std::min(foreign, systemc_now() + params_.quantum);
    work_until(params_.time_limit < horizon ? params_.time_limit + 1 : horizon);
    if (stopped_) {
        return;
    }
    const Picoseconds next = partitions_.earliest();
    if (next == kNever) {
        next_trigger(kick_);
        return;
    }
    if (next > params_.time_limit) {
        timed_out_ = true;
        stop();
        return;
    }
    let_foreign_first_ = horizon == foreign;
    next_trigger(span(horizon - systemc_now()), kick_);
}

}  // namespace podsim
