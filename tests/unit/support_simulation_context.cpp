// SPDX-License-Identifier: Apache-2.0
#include "tests/support/simulation_context.hpp"

#include "models/engine/systemc.hpp"

#include <catch2/catch.hpp>

using namespace podsim::test;

namespace {

/// Wakes every 10 ns, `times` times.
class Ticker : public sc_core::sc_module {
public:
    Ticker(sc_core::sc_module_name name, int times) : sc_module(name), left_(times) {
        SC_HAS_PROCESS(Ticker);
        SC_METHOD(tick);
    }
    int ticks() const { return ticks_; }

private:
    void tick() {
        ++ticks_;
        if (--left_ > 0) {
            next_trigger(10, sc_core::SC_NS);
        }
    }
    int left_;
    int ticks_ = 0;
};

class Waiter : public sc_core::sc_module {
public:
    explicit Waiter(sc_core::sc_module_name name) : sc_module(name) {
        SC_HAS_PROCESS(Waiter);
        SC_THREAD(run);
    }
    bool woke() const { return woke_; }

private:
    void run() {
        wait(5, sc_core::SC_NS);
        woke_ = true;
    }
    bool woke_ = false;
};

}  // namespace

TEST_CASE("several simulations in one process start alike") {
    for (int run = 0; run < 3; ++run) {
        const SimulationContext simulation;
        CHECK(sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME);
        CHECK(sc_core::sc_get_status() == sc_core::SC_ELABORATION);
        Ticker ticker("ticker", 4);
        CHECK(std::string(ticker.name()) == "ticker");  // not "ticker_1": the last run is forgotten
        sc_core::sc_start();
        CHECK(ticker.ticks() == 4);
        CHECK(sc_core::sc_time_stamp() == sc_core::sc_time(30, sc_core::SC_NS));
    }
}

TEST_CASE("a simulation with a thread can be followed by another") {
    for (int run = 0; run < 2; ++run) {
        const SimulationContext simulation;
        Waiter waiter("waiter");
        sc_core::sc_start();
        CHECK(waiter.woke());
    }
}

TEST_CASE("a SystemC error can be expected by a test") {
    const SimulationContext simulation;
    CHECK_THROWS_AS(SC_REPORT_ERROR("podsim/test", "expected"), sc_core::sc_report);
}

TEST_CASE("a SystemC warning fails the test", "[!shouldfail]") {
    const SimulationContext simulation;
    SC_REPORT_WARNING("podsim/test", "this test is expected to fail");
}

TEST_CASE("modules that outlive their SimulationContext fail the test", "[.][leaves-a-module]") {
    // Hidden: it leaves SystemC unusable for the tests after it in this process.
    Ticker* ticker = nullptr;
    {
        const SimulationContext simulation;
        ticker = new Ticker("ticker", 1);
    }
    delete ticker;
}
