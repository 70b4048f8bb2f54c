// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Wake::systemc: one sc_event and one SC_METHOD per unit; SystemC's own queue orders time.
/// Private to the engine.
#include "models/engine/calendar.hpp"
#include "models/engine/engine.hpp"

#include <functional>
#include <memory>
#include <queue>
#include <vector>

namespace podsim {

class Engine::SystemCWaker {
public:
    explicit SystemCWaker(std::function<void(const Event&)> handle);

    void add_unit(std::uint32_t unit);
    void schedule(const Event& event);
    std::size_t pending() const { return pending_; }

private:
    struct Later {
        bool operator()(const Event& a, const Event& b) const { return before(b, a); }
    };
    using EarliestFirst = std::priority_queue<Event, std::vector<Event>, Later>;
    struct UnitQueue {
        EarliestFirst events;
        std::unique_ptr<sc_core::sc_event> due;
    };

    void unit_due(std::uint32_t unit);
    void arm(UnitQueue& queue);
    void run_instant();

    std::function<void(const Event&)> handle_;
    std::vector<UnitQueue> units_;
    // Units that wake at the same instant do so in an order SystemC does not define; their events meet
    // here and run one delta later, in the engine's order.
    EarliestFirst instant_;
    sc_core::sc_event instant_due_{"instant_due"};
    bool in_instant_ = false;
    Picoseconds instant_at_ = 0;
    std::size_t pending_ = 0;
};

}  // namespace podsim
