// SPDX-License-Identifier: Apache-2.0
/// Tail and hidden post-processing, call by call.
#include "sim/config/run_config.hpp"
#include "sim/result/metrics.hpp"
#include "sim/run/simulation.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace podsim;

TEST_CASE("every call has its own overlap figures", "[kernel]") {
    Simulation simulation(
        load_run_config(std::string(PODSIM_SOURCE_DIR) + "/configs/runs/ep8_smoke.json", {"/calls=4"}));
    simulation.run();
    REQUIRE(simulation.status() == RunStatus::ok);
    const Metrics whole = metrics_of(simulation, {0, 3});
    double post = 0;
    double tail = 0;
    for (std::uint32_t call = 0; call < 4; ++call) {
        const Metrics m = metrics_of(simulation, {call, call});
        // The baseline begins post-processing only when all data has landed; its tail is part of the call.
        CHECK(m.post_hidden_pct < 50);
        CHECK(m.tail_us > 0);
        CHECK(m.tail_us < m.total_us);
        post += m.post_us;
        tail = std::max(tail, m.tail_us);
    }
    CHECK(whole.post_us == Approx(post));
    CHECK(whole.tail_us == Approx(tail));
}

TEST_CASE("a card without rows in a call has no tail in it", "[kernel]") {
    // Eight rows a call on eight cards, drawn at random: each call leaves cards without.
    for (const char* name : {"baseline", "optimized"}) {
        Simulation simulation(
            load_run_config(std::string(PODSIM_SOURCE_DIR) + "/configs/runs/ep8_smoke.json",
                            {"/calls=5", "/workload/batch_size=1", "/workload/top_k=1",
                             "/workload/routing/kind=uniform", std::string("/algorithm/name=") + name}));
        simulation.run();
        REQUIRE(simulation.status() == RunStatus::ok);
        std::uint32_t without = 0;
        for (std::uint32_t call = 0; call < 5; ++call) {
            const Metrics m = metrics_of(simulation, {call, call});
            CHECK(m.tail_us > 0);
            CHECK(m.tail_us < m.total_us);
            for (std::uint32_t card = 0; card < 8; ++card) {
                without += simulation.job().reference(call).output(card).empty() ? 1 : 0;
            }
        }
        CHECK(without > 0);
    }
}

TEST_CASE("rows of one granule have a tail", "[kernel]") {
    // Every row of the OutputBuffer is a store of 32 B, as flags that are cleared are.
    for (const char* name : {"baseline", "optimized"}) {
        Simulation simulation(load_run_config(std::string(PODSIM_SOURCE_DIR) + "/configs/runs/ep8_smoke.json",
                                              {"/workload/hidden=32", std::string("/algorithm/name=") + name}));
        simulation.run();
        REQUIRE(simulation.status() == RunStatus::ok);
        const Metrics m = metrics_of(simulation, {0, 0});
        CHECK(m.tail_us > 1);
        CHECK(m.tail_us < m.total_us);
    }
}
