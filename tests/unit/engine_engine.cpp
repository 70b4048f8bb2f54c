// SPDX-License-Identifier: Apache-2.0
// The engine under SystemC: order of events, both ways of waking, foreign processes, limits, failures.
#include "models/engine/engine.hpp"
#include "models/engine/error.hpp"
#include "models/engine/random.hpp"
#include "tests/support/simulation_context.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

using namespace podsim;
using namespace podsim::test;

namespace {

struct Seen {
    Picoseconds at = 0;
    Phase phase{};
    std::uint32_t unit = 0;
    std::uint64_t tag = 0;
    friend bool operator==(const Seen&, const Seen&) = default;
};

Picoseconds systemc_now() { return static_cast<Picoseconds>(sc_core::sc_time_stamp().value()); }

/// Some units in a module; `act` says what a unit does when woken.
class Units final : public sc_core::sc_module {
public:
    using Act = std::function<void(Units&, const Seen&)>;
    sc_core::sc_port<EngineIf> engine{"engine"};
    std::vector<Seen> log;

    Units(const sc_core::sc_module_name& name, std::size_t count, Act act) : sc_module(name), act_(std::move(act)) {
        for (std::size_t i = 0; i < count; ++i) {
            units_.push_back(std::make_unique<Member>());
            units_.back()->owner = this;
            units_.back()->number = static_cast<std::uint32_t>(i);
        }
    }
    void schedule(std::uint32_t unit, Picoseconds at, Phase phase, std::uint64_t tag) {
        engine->schedule(*units_[unit], at, phase, tag);
    }
    std::function<void(Units&)> at_start = [](Units&) {};

private:
    struct Member final : Unit {
        void on_event(Picoseconds now, Phase phase, std::uint64_t tag) override {
            const Seen seen{now, phase, number, tag};
            owner->log.push_back(seen);
            owner->act_(*owner, seen);
        }
        Units* owner = nullptr;
        std::uint32_t number = 0;
    };
    void end_of_elaboration() override {
        for (auto& unit : units_) {
            engine->register_unit(*unit, std::nullopt);
        }
    }
    void start_of_simulation() override { at_start(*this); }

    Act act_;
    std::vector<std::unique_ptr<Member>> units_;
};

/// A SystemC process from outside.
class Foreign final : public sc_core::sc_module {
public:
    Foreign(const sc_core::sc_module_name& name, std::function<void()> body) : sc_module(name), body_(std::move(body)) {
        SC_HAS_PROCESS(Foreign);
        SC_THREAD(run);
    }

private:
    void run() { body_(); }
    std::function<void()> body_;
};

const auto kDoNothing = [](Units&, const Seen&) {};

EngineParams params_of(Wake wake, Picoseconds quantum = 1'000'000) {
    EngineParams p;
    p.wake = wake;
    p.quantum = quantum;
    return p;
}

Wake both() { return GENERATE(Wake::calendar, Wake::systemc); }

}  // namespace

TEST_CASE("engine: equal times go by phase, unit, then the unit's own sequence", "[engine]") {
    const Wake wake = both();
    // The same nine events, scheduled in two orders that keep each unit's own order.
    const bool reversed = GENERATE(false, true);
    const SimulationContext simulation;
    Engine engine("engine", params_of(wake));
    Units units("units", 3, kDoNothing);
    units.engine.bind(engine.port);
    units.at_start = [reversed](Units& u) {
        std::vector<std::uint32_t> order{0, 1, 2};
        if (reversed) {
            std::reverse(order.begin(), order.end());
        }
        for (const std::uint32_t unit : order) {
            u.schedule(unit, 1000, Phase::wake, 1);
            u.schedule(unit, 1000, Phase::land, 2);
            u.schedule(unit, 1000, Phase::sample, 3);
            u.schedule(unit, 1000, Phase::sample, 4);
            u.schedule(unit, 999, Phase::wake, 5);
        }
    };
    engine.run();
    std::vector<Seen> expected;
    for (std::uint32_t unit = 0; unit < 3; ++unit) {
        expected.push_back({999, Phase::wake, unit, 5});
    }
    for (std::uint32_t unit = 0; unit < 3; ++unit) {
        expected.push_back({1000, Phase::land, unit, 2});
    }
    for (std::uint32_t unit = 0; unit < 3; ++unit) {
        expected.push_back({1000, Phase::sample, unit, 3});
        expected.push_back({1000, Phase::sample, unit, 4});
    }
    for (std::uint32_t unit = 0; unit < 3; ++unit) {
        expected.push_back({1000, Phase::wake, unit, 1});
    }
    CHECK(units.log == expected);
    CHECK(engine.events() == expected.size());
}

TEST_CASE("engine: an event scheduled into the present comes in its phase's turn", "[engine]") {
    const Wake wake = both();
    const SimulationContext simulation;
    Engine engine("engine", params_of(wake));
    Units units("units", 3, [](Units& u, const Seen& seen) {
        if (seen.tag == 1) {  // unit 1 lands: wakes unit 0, samples by unit 2, and lands once more on unit 0
            u.schedule(0, seen.at, Phase::wake, 10);
            u.schedule(2, seen.at, Phase::sample, 11);
            u.schedule(0, seen.at, Phase::land, 12);
        }
    });
    units.engine.bind(engine.port);
    units.at_start = [](Units& u) {
        u.schedule(1, 500, Phase::land, 1);
        u.schedule(2, 500, Phase::land, 2);
        u.schedule(1, 500, Phase::wake, 3);
    };
    engine.run();
    const std::vector<Seen> expected{{500, Phase::land, 1, 1},    {500, Phase::land, 0, 12}, {500, Phase::land, 2, 2},
                                     {500, Phase::sample, 2, 11}, {500, Phase::wake, 0, 10}, {500, Phase::wake, 1, 3}};
    CHECK(units.log == expected);
}

namespace {

/// Units that wake each other at random; what they do depends on nothing but (seed, unit, how often it woke).
std::vector<Seen> random_traffic(Wake wake, std::uint64_t seed, Picoseconds quantum) {
    const SimulationContext simulation;
    Engine engine("engine", params_of(wake, quantum));
    std::vector<std::uint64_t> woken(23, 0);
    Units units("units", woken.size(), [&woken, seed](Units& u, const Seen& seen) {
        const std::uint64_t times = ++woken[seen.unit];
        const auto random = [&](std::uint64_t use, std::uint64_t bound) {
            return random_below(seed, RandomStream::sampling, seen.unit * 8 + use, times, bound);
        };
        if (times > 150) {
            return;
        }
        for (std::uint64_t k = 0; k < 1 + random(0, 2); ++k) {
            const auto peer = static_cast<std::uint32_t>(random(1, 23));
            const std::uint64_t far[] = {0, 1, 300, 2'000, 9'000'000};
            const auto gap = static_cast<Picoseconds>(far[random(2, 5)]);
            const auto phase = gap == 0 ? seen.phase : static_cast<Phase>(random(3, 3));
            u.schedule(peer, seen.at + gap, phase, times * 10 + k);
        }
    });
    units.engine.bind(engine.port);
    units.at_start = [](Units& u) {
        for (std::uint32_t unit = 0; unit < 23; ++unit) {
            u.schedule(unit, unit % 5, Phase::wake, 0);
        }
    };
    engine.run();
    return units.log;
}

}  // namespace

TEST_CASE("engine: calendar and SystemC events wake random units in the same sequence", "[engine]") {
    const std::uint64_t seed = GENERATE(1, 2, 3, 4, 5);
    const auto calendar = random_traffic(Wake::calendar, seed, 1'000'000);
    CHECK(calendar.size() > 1'000);
    CHECK(random_traffic(Wake::systemc, seed, 1'000'000) == calendar);
    CHECK(random_traffic(Wake::calendar, seed, 700) == calendar);  // the quantum decides nothing
}

TEST_CASE("engine: SystemC's time lags by at most the quantum", "[engine]") {
    const SimulationContext simulation;
    Engine engine("engine", params_of(Wake::calendar, 1'000));
    Picoseconds worst = 0;
    Units units("units", 1, [&worst](Units& u, const Seen& seen) {
        worst = std::max(worst, seen.at - systemc_now());
        CHECK(systemc_now() <= seen.at);
        if (seen.tag < 500) {
            u.schedule(0, seen.at + 77, Phase::wake, seen.tag + 1);
        }
    });
    units.engine.bind(engine.port);
    units.at_start = [](Units& u) { u.schedule(0, 0, Phase::wake, 0); };
    engine.run();
    CHECK(worst < 1'000);
    CHECK(worst > 0);
}

TEST_CASE("engine: a foreign process sees exact time, everything before and nothing after", "[engine]") {
    const Wake wake = both();
    const SimulationContext simulation;
    Engine engine("engine", params_of(wake));
    Units units("units", 1, [](Units& u, const Seen& seen) {
        if (seen.at < 1'000'000) {
            u.schedule(0, seen.at + 7, Phase::wake, 0);
        }
    });
    units.engine.bind(engine.port);
    units.at_start = [](Units& u) { u.schedule(0, 0, Phase::wake, 0); };
    Foreign foreign("foreign", [&units] {
        Picoseconds expected = 0;
        for (const Picoseconds step : {70, 1, 6, 500, 123'456, 7, 14, 300'000}) {
            sc_core::wait(sc_core::sc_time::from_value(static_cast<std::uint64_t>(step)));
            expected += step;
            CHECK(systemc_now() == expected);
            // Ticks at 0, 7, 14 …: those before this instant were handled; that of this instant may not be yet.
            REQUIRE_FALSE(units.log.empty());
            CHECK(units.log.back().at == (expected - 1) / 7 * 7);
        }
    });
    engine.run();
    CHECK(units.log.back().at >= 1'000'000);
}

TEST_CASE("engine: a foreign process may schedule, at its own instant too", "[engine]") {
    const Wake wake = both();
    const SimulationContext simulation;
    Engine engine("engine", params_of(wake));
    Units units("units", 2, kDoNothing);
    units.engine.bind(engine.port);
    units.at_start = [](Units& u) {
        for (Picoseconds at = 0; at <= 10'000; at += 1'000) {
            u.schedule(1, at, Phase::wake, 0);
        }
    };
    Foreign foreign("foreign", [&units] {
        sc_core::wait(3, sc_core::SC_NS);  // an instant at which the engine has something, too
        units.schedule(0, 3'000, Phase::land, 1);
        units.schedule(0, 5'500, Phase::wake, 2);
        sc_core::wait(sc_core::SC_ZERO_TIME);
        units.schedule(0, 4'000, Phase::wake, 3);
        sc_core::wait(50, sc_core::SC_NS);  // the engine has run dry by then
        units.schedule(0, 53'000, Phase::wake, 4);
        sc_core::wait(50, sc_core::SC_NS);
        units.schedule(0, 200'000'000, Phase::wake, 5);
    });
    engine.run();
    std::vector<std::pair<std::uint64_t, Picoseconds>> own;
    for (const Seen& seen : units.log) {
        if (seen.unit == 0) {
            own.emplace_back(seen.tag, seen.at);
        }
    }
    CHECK(own == std::vector<std::pair<std::uint64_t, Picoseconds>>{
                     {1, 3'000}, {3, 4'000}, {2, 5'500}, {4, 53'000}, {5, 200'000'000}});
    CHECK(std::is_sorted(units.log.begin(), units.log.end(), [](const Seen& a, const Seen& b) { return a.at < b.at; }));
    // What it scheduled into its own instant came before the engine's wake of that instant.
    const auto landed = std::find_if(units.log.begin(), units.log.end(), [](const Seen& s) { return s.tag == 1; });
    CHECK(landed[1] == Seen{3'000, Phase::wake, 1, 0});
    CHECK(systemc_now() >= 103'000);
}

TEST_CASE("engine: the past is refused", "[engine]") {
    const Wake wake = both();
    const SimulationContext simulation;
    Engine engine("engine", params_of(wake));
    Units units("units", 1, [](Units& u, const Seen& seen) { u.schedule(0, seen.at - 1, Phase::wake, 0); });
    units.engine.bind(engine.port);
    units.at_start = [](Units& u) { u.schedule(0, 10, Phase::wake, 0); };
    CHECK_THROWS_AS(engine.run(), InternalError);
}

TEST_CASE("engine: events beyond the time limit are not handled", "[engine]") {
    const Wake wake = both();
    const SimulationContext simulation;
    EngineParams p = params_of(wake);
    p.time_limit = 1'000;
    Engine engine("engine", p);
    Units units("units", 1,
                [](Units& u, const Seen& seen) { u.schedule(0, seen.at + 100, Phase::wake, seen.tag + 1); });
    units.engine.bind(engine.port);
    units.at_start = [](Units& u) { u.schedule(0, 0, Phase::wake, 0); };
    engine.run();
    CHECK(engine.timed_out());
    CHECK(units.log.size() == 11);  // 0, 100, … 1000
    CHECK(units.log.back().at == 1'000);
}

TEST_CASE("engine: what a unit throws comes out of run unchanged, even if others would go on for ever", "[engine]") {
    const Wake wake = both();
    const SimulationContext simulation;
    Engine engine("engine", params_of(wake));
    Units units("units", 1, [](Units& u, const Seen& seen) {
        if (seen.tag == 3) {
            throw KernelError("line 42");
        }
        u.schedule(0, seen.at + 100, Phase::wake, seen.tag + 1);
    });
    units.engine.bind(engine.port);
    units.at_start = [](Units& u) { u.schedule(0, 0, Phase::wake, 0); };
    Foreign clock("clock", [] {
        for (;;) {
            sc_core::wait(1, sc_core::SC_NS);
        }
    });
    CHECK_THROWS_WITH(engine.run(), "line 42");
    CHECK(units.log.size() == 4);
}

TEST_CASE("engine: the heartbeat comes every so many events and may stop the run", "[engine]") {
    const Wake wake = both();
    const SimulationContext simulation;
    Engine engine("engine", params_of(wake));
    Units units("units", 1,
                [](Units& u, const Seen& seen) { u.schedule(0, seen.at + 100, Phase::wake, seen.tag + 1); });
    units.engine.bind(engine.port);
    units.at_start = [](Units& u) { u.schedule(0, 0, Phase::wake, 0); };
    std::vector<Picoseconds> beats;
    engine.set_heartbeat(10, [&](Picoseconds now) {
        beats.push_back(now);
        if (beats.size() == 3) {
            engine.stop();
        }
    });
    engine.run();
    CHECK(beats == std::vector<Picoseconds>{900, 1'900, 2'900});
    CHECK(engine.events() == 30);
    CHECK_FALSE(engine.timed_out());
}

TEST_CASE("engine: a run without events ends at once", "[engine]") {
    const Wake wake = both();
    const SimulationContext simulation;
    Engine engine("engine", params_of(wake));
    engine.run();
    CHECK(engine.events() == 0);
}

TEST_CASE("engine: pending counts what waits, not what is being handled", "[engine]") {
    const Wake wake = both();
    const SimulationContext simulation;
    Engine engine("engine", params_of(wake));
    std::vector<std::size_t> pending;
    Units units("units", 2, [&pending](Units& u, const Seen&) { pending.push_back(u.engine->pending()); });
    units.engine.bind(engine.port);
    units.at_start = [](Units& u) {
        u.schedule(0, 10, Phase::wake, 0);
        u.schedule(0, 20'000'000, Phase::wake, 0);
        u.schedule(1, 10, Phase::wake, 0);
    };
    engine.run();
    CHECK(pending == std::vector<std::size_t>{2, 1, 0});
}
