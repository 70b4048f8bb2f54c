// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/stamps.hpp"
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

using namespace podsim;
using namespace podsim::test;

namespace {

Task<void> three_phases(Aiv& aiv, bool stamped, std::uint32_t most) {
    if (stamped) {
        aiv.StampPhases(gm_tensor<std::int64_t>(4096), most);
    }
    const auto a = aiv.Alloc<float>(64);
    aiv.Phase("a");
    aiv.Alu(200);
    aiv.DataCopy(gm_tensor<float>(0), a, 64);
    aiv.Phase("b");
    aiv.Alu(400);
    aiv.Phase("c");
    aiv.Alu(100);
    aiv.End();
    co_return;
}

}  // namespace

TEST_CASE("stamps: text as the article pastes it", "[observe]") {
    CHECK(stamps_text({}).empty());
    CHECK(stamps_text({{5, 7, 9}, {6}, {}}) == "5\t7\t9\n6\t0\t0\n0\t0\t0\n");
}

TEST_CASE("stamps: ideal ones are the clock at phase boundaries of the latest call", "[observe]") {
    StampRecorder stamps(1, 2, 50);
    stamps.phase_entered({CardId{0}, CoreId{1}}, "a", true, 20'000);
    stamps.phase_entered({CardId{0}, CoreId{1}}, "turn", false, 40'000);  // of a loop: no stamp
    stamps.phase_entered({CardId{0}, CoreId{1}}, "b", true, 59'999);
    stamps.phase_entered({CardId{0}, CoreId{1}}, "", true, 60'000);
    CHECK(stamps.rows()[1] == std::vector<std::int64_t>{1, 2, 3});
    CHECK(stamps.rows()[0].empty());
    stamps.phase_entered({CardId{0}, CoreId{1}}, "a", true, 100'000);
    CHECK(stamps.rows()[1] == std::vector<std::int64_t>{5});
}

TEST_CASE("stamps: with cost they are in GM, and are what GetSystemCycle says at the markers", "[observe]") {
    Picoseconds plain_a = 0, plain_b = 0, plain_end = 0;
    {
        DeviceUnderTest plain(machine("atlas_a3_pod"));
        plain.launch_one(three_phases, false, 0U);
        plain.run();
        plain_a = plain.at("a");
        plain_b = plain.at("b");
        plain_end = plain.end();
    }
    DeviceUnderTest dut(machine("atlas_a3_pod"));
    dut.launch_one(three_phases, true, 16U);
    dut.run();
    const auto mhz = static_cast<Picoseconds>(dut.machine().core.counter_mhz.peek());
    const auto ticks = [&](const char* mark) { return dut.at(mark) * mhz / 1'000'000; };
    const auto stamps = dut.gm_values<std::int64_t>({CardId{0}, 4096}, 5);
    CHECK(stamps[0] <= stamps[1]);
    CHECK(stamps[1] == ticks("b"));
    CHECK(stamps[2] == ticks("c"));
    CHECK(stamps[3] == ticks("stamps.write"));
    CHECK(stamps[4] == 0);
    // The barrier before stamp b waits for the copy, which without stamps goes on under phase b.
    CHECK(dut.at("a") == plain_a);
    CHECK(dut.at("b") > plain_b);
    CHECK(dut.end() > plain_end);
}

TEST_CASE("stamps: a full buffer keeps its last place for the end", "[observe]") {
    DeviceUnderTest dut(machine("atlas_a3_pod"));
    dut.launch_one([](Aiv& aiv) -> Task<void> {
        aiv.StampPhases(gm_tensor<std::int64_t>(4096), 3);
        for (int i = 0; i < 5; ++i) {
            aiv.Phase("p");
            aiv.Alu(1000);
        }
        aiv.End();
        CHECK(aiv.stamps_sent() == 3);
        CHECK(aiv.stamps_lost() == 3);
        co_return;
    });
    dut.run();
    const auto stamps = dut.gm_values<std::int64_t>({CardId{0}, 4096}, 4);
    CHECK(stamps[2] == dut.at("stamps.write") * 50 / 1'000'000);
    CHECK(stamps[3] == 0);
}

TEST_CASE("stamps: the buffer takes Unified Buffer, and FreeAll leaves it alone", "[observe]") {
    DeviceUnderTest dut(machine("atlas_a3_pod"));
    dut.launch_one([](Aiv& aiv) -> Task<void> {
        const std::uint32_t all = aiv.UbLeft();
        aiv.StampPhases(gm_tensor<std::int64_t>(4096), 100);
        CHECK(aiv.UbLeft() == all - 800);
        aiv.Alloc<float>(8);
        aiv.FreeAll();
        CHECK(aiv.UbLeft() == all - 800);
        aiv.End();
        co_return;
    });
    dut.run();
}
