// SPDX-License-Identifier: Apache-2.0
// Hardware SyncAll.
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace podsim;
using namespace podsim::test;

namespace {
std::string either() { return GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"); }

Task<void> meet(Aiv& aiv, std::uint32_t work, std::uint32_t times) {
    const char* const in[] = {"in 0", "in 1", "in 2"};
    const char* const out[] = {"out 0", "out 1", "out 2"};
    for (std::uint32_t i = 0; i < times; ++i) {
        aiv.Alu(work + i);
        aiv.Phase(in[i]);
        aiv.SyncAll();
        aiv.Phase(out[i]);
        work = work * 7 % 1000;
    }
    aiv.End();
    co_return;
}
}  // namespace

TEST_CASE("sync: all cores go on a base and a share per core after the last arrival", "[sync]") {
    const Machine m = machine(either());
    const std::uint32_t cores = GENERATE(1U, 2U, 7U, 12U);
    DeviceUnderTest dut(m, {.cards = 2, .cores = cores});
    for (std::uint32_t c = 0; c < cores; ++c) {
        dut.launch({CardId{0}, CoreId{c}}, 1000 * c, meet, c * 131 % 700, 3U);
        dut.launch({CardId{1}, CoreId{c}}, 5'000'000, meet, 10U, 3U);  // another card: nobody here waits for it
    }
    dut.run();
    const Picoseconds barrier = cycles_ps(m, m.core.barrier_all.peek());
    const Picoseconds release =
        m.sync.sync_all_base.peek() + static_cast<Picoseconds>(cores) * m.sync.sync_all_per_core.peek();
    Picoseconds waits = 0;
    for (const char* n : {"0", "1", "2"}) {
        Picoseconds last = 0;
        for (std::uint32_t c = 0; c < cores; ++c) {
            last = std::max(last, dut.at(std::string("in ") + n, {CardId{0}, CoreId{c}}));
        }
        for (std::uint32_t c = 0; c < cores; ++c) {
            const CoreRef core{CardId{0}, CoreId{c}};
            CHECK(dut.at(std::string("out ") + n, core) == last + barrier + release);
            if (c == 0) {
                waits += dut.between(std::string("in ") + n, std::string("out ") + n, core) - barrier;
            }
        }
    }
    CHECK(dut.core().scalar().statistics().sync_alls == 3);
    CHECK(dut.core().scalar().statistics().sync_all_wait == waits);
    CHECK(dut.pod().card(CardId{0}).sync.completed() == 3);
}

TEST_CASE("sync: SyncAll drains the core's pipes first, stores to their acknowledgement", "[sync]") {
    Machine m = machine(either());
    m.core.mte.mte3_event.set(Mte3Event::at_read);
    const CardId far{m.fabric.topology.cards_per_node()};
    DeviceUnderTest dut(m, {.cards = index(far) + 1, .cores = 2});
    dut.launch(
        {{}, CoreId{0}}, 0,
        [](Aiv& aiv, CardId to) -> Task<void> {
            aiv.DataCopy(GlobalTensor<std::uint8_t>{{to, 0}}, LocalTensor<std::uint8_t>{0, 512}, 512);
            aiv.SyncAll();
            aiv.Phase("on");
            aiv.End();
            co_return;
        },
        far);
    dut.launch({{}, CoreId{1}}, 0, [](Aiv& aiv) -> Task<void> {
        aiv.SyncAll();
        aiv.Phase("on");
        aiv.End();
        co_return;
    });
    dut.run();
    const auto& copy = dut.instruction("DataCopy");
    REQUIRE(dut.recorder.landed.size() == 1);
    CHECK(copy.ended > dut.recorder.landed[0].at);  // acknowledged after it landed
    const Picoseconds expected = copy.ended + cycles_ps(m, m.core.barrier_all.peek()) + m.sync.sync_all_base.peek() +
                                 2 * m.sync.sync_all_per_core.peek();
    CHECK(dut.at("on", {{}, CoreId{0}}) == expected);
    CHECK(dut.at("on", {{}, CoreId{1}}) == expected);
}

TEST_CASE("sync: a core that never arrives ends the run, and those who wait are named", "[sync]") {
    const Machine m = machine(either());
    DeviceUnderTest dut(m, {.cores = 3});
    for (std::uint32_t c = 0; c < 2; ++c) {
        dut.launch({{}, CoreId{c}}, 0, [](Aiv& aiv) -> Task<void> {
            aiv.SyncAll();
            aiv.Alu(5);
            aiv.DataCopy(gm_tensor<std::uint8_t>(0), LocalTensor<std::uint8_t>{0, 512}, 512);
            aiv.End();
            co_return;
        });
    }
    dut.launch({{}, CoreId{2}}, 0, [](Aiv& aiv) -> Task<void> {
        aiv.Alu(5);
        aiv.End();
        co_return;
    });
    dut.run();
    CHECK_FALSE(dut.core({{}, CoreId{0}}).finished());
    CHECK(dut.core({{}, CoreId{2}}).finished());
    const auto waiting = dut.pod().waiting_cores(10);
    REQUIRE(waiting.size() == 2);
    CHECK_THAT(waiting[0], Catch::Contains("core 0 waits for SyncAll at tests/timing/sync_all.cpp:"));
    CHECK_THAT(waiting[1], Catch::Contains("core 1 waits for SyncAll at tests/timing/sync_all.cpp:"));
    CHECK(dut.pod().waiting_cores(1).size() == 1);
}
