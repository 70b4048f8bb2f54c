// SPDX-License-Identifier: Apache-2.0
#include "models/engine/systemc_waker.hpp"

#include <utility>

namespace podsim {

namespace {
Picoseconds systemc_now() { return static_cast<Picoseconds>(sc_core::sc_time_stamp().value()); }
}  // namespace

Engine::SystemCWaker::SystemCWaker(std::function<void(const Event&)> handle) : handle_(std::move(handle)) {
    // Initialized, unlike the units' methods: SystemC warns of a simulation in which nothing ever runs.
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.set_sensitivity(&instant_due_);
    sc_core::sc_spawn([this] { run_instant(); }, sc_core::sc_gen_unique_name("instant"), &options);
}

void Engine::SystemCWaker::add_unit(std::uint32_t unit) {
    UnitQueue queue;
    queue.due = std::make_unique<sc_core::sc_event>(sc_core::sc_gen_unique_name("due"));
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(queue.due.get());
    sc_core::sc_spawn([this, unit] { unit_due(unit); }, sc_core::sc_gen_unique_name("unit"), &options);
    units_.push_back(std::move(queue));
}

void Engine::SystemCWaker::schedule(const Event& event) {
    ++pending_;
    if (in_instant_ && event.at == instant_at_) {
        instant_.push(event);
        return;
    }
    UnitQueue& queue = units_[event_key::unit(event.key)];
    queue.events.push(event);
    if (queue.events.top().key == event.key) {
        arm(queue);
    }
}

void Engine::SystemCWaker::arm(UnitQueue& queue) {
    queue.due->cancel();
    if (!queue.events.empty()) {
        const Picoseconds gap = queue.events.top().at - systemc_now();
        queue.due->notify(sc_core::sc_time::from_value(static_cast<sc_core::sc_time::value_type>(gap)));
    }
}

void Engine::SystemCWaker::unit_due(std::uint32_t unit) {
    UnitQueue& queue = units_[unit];
    while (!queue.events.empty() && queue.events.top().at <= systemc_now()) {
        instant_.push(queue.events.top());
        queue.events.pop();
    }
    arm(queue);
    instant_due_.notify(sc_core::SC_ZERO_TIME);
}

void Engine::SystemCWaker::run_instant() {
    in_instant_ = true;
    instant_at_ = systemc_now();
    while (!instant_.empty()) {
        const Event event = instant_.top();
        instant_.pop();
        --pending_;
        handle_(event);
    }
    in_instant_ = false;
}

}  // namespace podsim
