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
