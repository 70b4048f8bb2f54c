// SPDX-License-Identifier: Apache-2.0
// PollUntil against the loop it stands for, written out with the same instructions.
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

using namespace podsim;
using namespace podsim::test;

namespace {

std::string either() { return GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"); }

Machine with_or_without_reduce_sum() {
    const Machine m = machine(either());
    return GENERATE(true, false) ? m : lacking(m, "ReduceSum");
}

struct Shape {
    std::uint32_t words;    ///< status cells polled
    std::uint32_t stride;   ///< bytes between cells in GM
    std::uint32_t reduces;  ///< chained ReduceSums: 0 compares the first word itself
};

constexpr std::uint32_t kUb = 0;       // cells, one granule each
constexpr std::uint32_t kSum = 65536;  // where the sum goes

/// Goes round `times` times: copy, flag, sum, flag, load, compare and branch.
Task<void> written_out(Aiv& aiv, Shape s, std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i) {
        aiv.Phase("round");
        aiv.DataCopyPad(LocalTensor<float>{kUb, s.words * 8}, gm_tensor<float>(0), {s.words, 32, s.stride - 32, 0});
        if (s.reduces == 0) {
            aiv.Sync<HardEvent::MTE2_S>();
            const float value = co_await aiv.GetValue(LocalTensor<float>{kUb, 8}, 0);
            static_cast<void>(value);
        } else {
            aiv.Sync<HardEvent::MTE2_V>();
            for (std::uint32_t r = 0; r < s.reduces; ++r) {
                if (r > 0) {
                    aiv.PipeBarrier<Pipe::v>();
                }
                aiv.ReduceSum(LocalTensor<float>{kSum, 8}, LocalTensor<float>{kUb, s.words * 8}, s.words * 8, 0, 8);
            }
            aiv.Sync<HardEvent::V_S>();
            const float value = co_await aiv.GetValue(LocalTensor<float>{kSum, 8}, 0);
            static_cast<void>(value);
        }
        aiv.Alu(2);
    }
    aiv.Phase("round");
    aiv.End();
}

Task<void> polling(Aiv& aiv, Shape s, float target) {
    PollSpec spec;
    spec.copy =
        aiv.PollCopy(LocalTensor<float>{kUb, s.words * 8}, gm_tensor<float>(0), {s.words, 32, s.stride - 32, 0});
    for (std::uint32_t r = 0; r < s.reduces; ++r) {
        spec.chain.push_back(
            aiv.PollReduceSum(LocalTensor<float>{kSum, 8}, LocalTensor<float>{kUb, s.words * 8}, s.words * 8, 0, 8));
    }
    Aiv::PollCompare(spec, LocalTensor<float>{s.reduces == 0 ? kUb : kSum, 8}, Compare::eq, target);
    aiv.Phase("poll");
    co_await aiv.PollUntil(spec);
    aiv.Phase("on");
    aiv.End();
}

}  // namespace

TEST_CASE("poll: a round of PollUntil takes as long as the loop written out", "[poll]") {
    const Machine m = with_or_without_reduce_sum();
    const auto [words, stride, reduces] = GENERATE(table<std::uint32_t, std::uint32_t, std::uint32_t>(
        {{1, 512, 0}, {1, 512, 1}, {16, 32, 1}, {64, 512, 1}, {64, 32, 2}, {250, 32, 1}}));
    const Shape shape{words, stride, reduces};
    Picoseconds round = 0;
    {
        DeviceUnderTest dut(m);
        dut.preset({}, random_bytes(65536, 1));
        dut.launch_one(written_out, shape, 6U);
        dut.run();
        const auto& marks = dut.recorder.marks;
        round = marks[5].at - marks[4].at;
        CHECK(round == marks[4].at - marks[3].at);
    }
    // A poll that is satisfied in its first round, and its own statement of the period.
    DeviceUnderTest dut(m);
    dut.preset({}, std::vector<float>(65536, 0));
    dut.launch_one(polling, shape, 0.0F);
    dut.run();
    // Each instruction's cycles are rounded to ps on their own in the loop, together in the closed form.
    const Picoseconds conversions = 10 + words + 2 * reduces;
    CHECK(std::abs(dut.between("poll", "on") - round) <= conversions);
    CHECK(dut.core().poller().statistics().polls == 1);
    CHECK(dut.core().poller().statistics().bytes == std::uint64_t{words} * 32);
}

TEST_CASE("poll: a landing is seen by the first sample that comes no earlier", "[poll]") {
    const Machine m = with_or_without_reduce_sum();
    const Polling polls = GENERATE(Polling::elided, Polling::explicit_steps);
    const Shape shape{1, 512, 1};
    Picoseconds period = 0;
    {
        DeviceUnderTest dut(m);
        dut.launch_one(polling, shape, 0.0F);
        dut.run();
        period = dut.between("poll", "on");
    }
    // Where the store lands, relative to the sample of round 40.
    const Picoseconds offset = GENERATE(-1, 0, 1, 5'000);
    const Picoseconds sample =
        40 * period + cycles_ps(m, m.core.scalar.copy_issue.peek()) + m.memory.noc_latency.peek();
    const auto store = [](Aiv& aiv) -> Task<void> {
        aiv.Duplicate(LocalTensor<float>{0, 8}, 3.0F, 8);
        aiv.PipeBarrierAll();
        aiv.DataCopy(gm_tensor<float>(0), LocalTensor<float>{0, 8}, 8);
        aiv.End();
        co_return;
    };
    Picoseconds to_land = 0;
    {
        DeviceUnderTest dut(m);
        dut.launch_one(store);
        dut.run();
        to_land = dut.recorder.landed.at(0).at;
    }
    DeviceUnderTest dut(m, {.cores = 2, .polling = polls});
    dut.launch({{}, CoreId{0}}, 0, polling, shape, 3.0F);
    dut.launch({{}, CoreId{1}}, sample + offset - to_land, store);
    dut.run();
    REQUIRE(dut.recorder.landed.at(0).at == sample + offset);
    // Round 40 ends at 41 periods.
    CHECK(dut.between("poll", "on") == (offset <= 0 ? 41 : 42) * period);
    CHECK(dut.core().poller().statistics().polls == (offset <= 0 ? 41 : 42));
    CHECK(dut.core().poller().statistics().bytes == (offset <= 0 ? 41 : 42) * 32);
}

TEST_CASE("poll: a sum the machine lacks and has no scalar loop for is refused", "[poll]") {
    Machine m = lacking(machine(either()), "ReduceSum");
    m.core.vector.scalar_path.set(0);
    const std::uint32_t reduces = GENERATE(0U, 1U);
    DeviceUnderTest dut(m);
    dut.launch_one(polling, Shape{1, 512, reduces}, 0.0F);
    if (reduces == 0) {
        CHECK_NOTHROW(dut.run());
    } else {
        CHECK_THROWS_AS(dut.run(), KernelError);
    }
}

TEST_CASE("poll: pollers of one line slow each other by the line's service", "[poll]") {
    const Machine m = machine(either());
    const std::uint32_t k = GENERATE(1U, 3U, 8U);
    Picoseconds alone = 0;
    {
        DeviceUnderTest dut(m);
        dut.launch_one(polling, Shape{1, 512, 1}, 0.0F);
        dut.run();
        alone = dut.between("poll", "on");
    }
    DeviceUnderTest dut(m, {.cores = k});
    for (std::uint32_t c = 0; c < k; ++c) {
        dut.launch({{}, CoreId{c}}, c, polling, Shape{1, 512, 1}, 0.0F);
    }
    dut.run();
    // The n-th to come finds n others there, all satisfied in their first round.
    for (std::uint32_t c = 0; c < k; ++c) {
        CHECK(dut.between("poll", "on", {{}, CoreId{c}}) == alone + c * m.memory.conflict_service.peek());
    }
}

TEST_CASE("poll: a loop never satisfied ends the run and is named", "[poll]") {
    const Machine m = machine(either());
    const Polling polls = GENERATE(Polling::elided, Polling::explicit_steps);
    const Wake wake = GENERATE(Wake::calendar, Wake::systemc);
    DeviceUnderTest dut(m, {.cores = 3, .wake = wake, .polling = polls});
    dut.launch({{}, CoreId{0}}, 0, polling, Shape{4, 512, 1}, 1.0F);
    dut.launch({{}, CoreId{1}}, 70, polling, Shape{1, 512, 0}, 2.0F);
    dut.launch({{}, CoreId{2}}, 0, [](Aiv& aiv) -> Task<void> {
        aiv.Alu(1'000'000);
        aiv.DataCopy(gm_tensor<float>(512), LocalTensor<float>{0, 8}, 8);  // zeros: of no help
        aiv.End();
        co_return;
    });
    dut.run();
    CHECK_FALSE(dut.core({{}, CoreId{0}}).finished());
    CHECK_FALSE(dut.core({{}, CoreId{1}}).finished());
    CHECK(dut.core({{}, CoreId{2}}).finished());
    const auto waiting = dut.pod().waiting_cores(10);
    REQUIRE(waiting.size() == 2);
    CHECK_THAT(waiting[0], Catch::Contains("card 0 core 0") && Catch::Contains("PollUntil on GM [0x0, 0x620)"));
    CHECK_THAT(waiting[1], Catch::Contains("card 0 core 1") && Catch::Contains("[0x0, 0x20)"));
}

TEST_CASE("poll: polling is traffic that others feel", "[poll]") {
    Machine m = machine(either());
    m.memory.l2_bandwidth.set(20'000);  // 20 GB/s, so that a few pollers weigh something
    const bool polled = GENERATE(false, true);
    // What is left of the bandwidth, at least a tenth: all - pollers * bytes / period.
    std::int64_t left = 20'000;
    if (polled) {
        for (std::uint32_t c = 0; c < 4; ++c) {
            DeviceUnderTest lone(m, {.cores = c + 1});
            for (std::uint32_t i = 0; i <= c; ++i) {
                lone.launch({{}, CoreId{i}}, 0, polling, Shape{64, 512, 1}, 0.0F);
            }
            lone.run();
            const Picoseconds period = lone.between("poll", "on", {{}, CoreId{c}});
            left -= std::int64_t{64} * 32 * 1'000'000 / period;
        }
        left = std::max<std::int64_t>(left, 2'000);
        CHECK(left < 20'000);
    }
    DeviceUnderTest dut(m, {.cores = 5});
    const std::uint32_t bytes = 65536;
    dut.preset({}, std::vector<float>(262'144, 0));
    if (polled) {
        for (std::uint32_t c = 1; c < 5; ++c) {
            dut.launch({{}, CoreId{c}}, 0, polling, Shape{64, 512, 1}, 1.0F);
        }
    }
    dut.launch(
        {}, 10'000'000,
        [](Aiv& aiv, std::uint32_t n) -> Task<void> {
            aiv.DataCopy(LocalTensor<std::uint8_t>{0, n}, gm_tensor<std::uint8_t>(524'288), n);
            aiv.End();
            co_return;
        },
        bytes);
    dut.run();
    const auto& copy = dut.instruction("DataCopy");
    // The last of its requests starts behind all others.
    const Picoseconds one = rate_ps(512, static_cast<std::uint64_t>(left));
    const Picoseconds serial = (bytes / 512 - 1) * one;
    CHECK(copy.ended - copy.started >= serial);
    CHECK(copy.ended - copy.started <= serial + one + 2 * m.memory.noc_latency.peek() +
                                           m.memory.l2_read_latency.peek() + m.memory.hbm_extra_latency.peek());
}
