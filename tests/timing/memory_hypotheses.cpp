// SPDX-License-Identifier: Apache-2.0
// Memory mechanisms without a component measurement: each a switch, each against its closed formula.
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>
#include <utility>

using namespace podsim;
using namespace podsim::test;

namespace {

std::string either() { return GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"); }

}  // namespace

TEST_CASE("memory: the hypotheses cost only when they are switched on", "[memory]") {
    Machine m = machine(either());
    const Picoseconds extra = GENERATE(0, 40'000);
    m.memory.bypass_dirty_extra.set(extra);
    m.memory.partial_store_extra.set(extra);
    DeviceUnderTest dut(m);
    dut.launch_one([](Aiv& aiv) -> Task<void> {
        aiv.DataCopyPad(gm_tensor<std::uint8_t>(0), LocalTensor<std::uint8_t>{0, 64}, {1, 32, 0, 0});
        aiv.PipeBarrierAll();
        aiv.DataCopyPad(gm_tensor<std::uint8_t>(512), LocalTensor<std::uint8_t>{0, 64}, {1, 12, 0, 0});
        aiv.PipeBarrierAll();
        aiv.DataCopy(LocalTensor<std::uint8_t>{0, 64}, gm_tensor<std::uint8_t>(0), 64, CacheHint::bypass_l2);
        aiv.End();
        co_return;
    });
    dut.run();
    const Picoseconds stored = 2 * m.memory.noc_latency.peek() + m.memory.l2_write_latency.peek();
    const auto& whole = dut.instruction("DataCopyPad", 0);
    const auto& partial = dut.instruction("DataCopyPad", 1);
    const auto& dirty = dut.instruction("DataCopy", 0);
    CHECK(whole.ended - whole.started == stored);
    CHECK(partial.ended - partial.started == stored + extra);
    CHECK(dirty.ended - dirty.started == hit(m) + m.memory.hbm_extra_latency.peek() + piece_ps(m, 64) + extra);
}

TEST_CASE("memory: reads of dirty lines past the L2 wait for write-backs, once", "[memory]") {
    Machine m = machine(either());
    const bool stall = GENERATE(true, false);
    m.memory.bypass_dirty_stall.set(stall);
    constexpr std::uint32_t kLines = 6;
    REQUIRE(kLines <= m.core.mte.local_in_flight.peek());
    const auto time = [&](Picoseconds write_back) {
        m.memory.bypass_dirty_extra.set(write_back);
        DeviceUnderTest dut(m);
        dut.launch_one([](Aiv& aiv) -> Task<void> {
            const LocalTensor<std::uint8_t> ub{0, kLines * 512};
            aiv.DataCopy(gm_tensor<std::uint8_t>(0), ub, kLines * 512);
            aiv.PipeBarrierAll();
            for (int turn = 0; turn < 2; ++turn) {
                aiv.DataCopy(ub, gm_tensor<std::uint8_t>(0), kLines * 512, CacheHint::bypass_l2);
                aiv.PipeBarrierAll();
            }
            aiv.End();
            co_return;
        });
        dut.run();
        const auto& first = dut.instruction("DataCopy", 1);
        const auto& second = dut.instruction("DataCopy", 2);
        return std::pair(first.ended - first.started, second.ended - second.started);
    };
    const auto clean = time(0);
    const Picoseconds write_back = 1'000'000;
    const auto dirty = time(write_back);
    // One after the other when the core stands still meanwhile (each starts the rounding of cycles to time afresh),
    // side by side when it does not.
    CHECK(std::abs(dirty.first - clean.first - (stall ? kLines : 1) * write_back) <= kLines);
    CHECK(dirty.second == clean.second);
}
