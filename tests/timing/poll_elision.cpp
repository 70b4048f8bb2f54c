// SPDX-License-Identifier: Apache-2.0
// Elided polls are the explicit ones: end times, counts, bytes and UB contents, for landings of all kinds.
#include "models/engine/random.hpp"
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace podsim;
using namespace podsim::test;

namespace {

constexpr std::uint32_t kLines = 6;  // of the polled region
constexpr std::uint32_t kPollers = 5;
constexpr std::uint32_t kWriters = 3;
constexpr std::uint64_t kDump = 1 << 20;  // where pollers leave their UB
constexpr std::uint32_t kDumpBytes = 8192;

std::uint64_t draw(std::uint64_t seed, std::uint64_t who, std::uint64_t n, std::uint64_t bound) {
    return random_below(seed, RandomStream::sampling, who, n, bound);
}

/// Waits three times for its words to sum up to more and more, then shows its UB.
Task<void> poller(Aiv& aiv, std::uint64_t seed, std::uint32_t number) {
    const std::uint64_t who = 100 + number;
    for (std::uint32_t round = 0; round < 3; ++round) {
        // 1 … 12 cells of 32 B, 32 … 512 B apart, in a region all share: neighbours in a line, several lines,
        // several requests to one line.
        const auto cells = static_cast<std::uint32_t>(1 + draw(seed, who, round * 8, 12));
        const auto stride = static_cast<std::uint32_t>(32U << draw(seed, who, round * 8 + 1, 5));
        const std::uint32_t span = (cells - 1) * stride + 32;
        const std::uint32_t room = kLines * 512 > span ? (kLines * 512 - span) / 32 : 0;
        const std::uint64_t first = 32 * draw(seed, who, round * 8 + 2, room + 1);
        PollSpec spec;
        spec.copy =
            aiv.PollCopy(LocalTensor<float>{0, cells * 8}, gm_tensor<float>(first), {cells, 32, stride - 32, 0});
        const bool gather = draw(seed, who, round * 8 + 3, 2) == 0;
        LocalTensor<float> source{0, cells * 8};
        std::uint32_t count = cells * 8;
        std::uint32_t every = 8;
        if (gather) {
            spec.chain.push_back(aiv.PollGatherMask(LocalTensor<float>{4096, cells}, source, count, 0, 8));
            source = {4096, cells};
            count = cells;
            every = 1;
        }
        spec.chain.push_back(aiv.PollReduceSum(LocalTensor<float>{6144, 8}, source, count, 0, every));
        const auto target = static_cast<float>(draw(seed, who, round * 8 + 4, 1 + cells * (round + 2)));
        Aiv::PollCompare(spec, LocalTensor<float>{6144, 8}, Compare::ge, target);
        co_await aiv.PollUntil(spec);
        aiv.Phase(round == 0 ? "seen 0" : round == 1 ? "seen 1" : "seen 2");
        aiv.PipeBarrierAll();
        aiv.DataCopy(gm_tensor<std::uint8_t>(kDump + (number * 3 + round) * kDumpBytes),
                     LocalTensor<std::uint8_t>{0, kDumpBytes}, kDumpBytes);
        aiv.PipeBarrierAll();
    }
    aiv.End();
}

/// Raises cells at random times, in the end all of them far enough for everyone.
Task<void> writer(Aiv& aiv, std::uint64_t seed, std::uint32_t number) {
    const std::uint64_t who = 200 + number;
    for (std::uint32_t n = 0; n < 60; ++n) {
        const std::uint32_t twelfth = n / 12;
        const auto value = static_cast<float>(1 + twelfth);
        const auto cell = static_cast<std::uint32_t>(draw(seed, who, n * 4, kLines * 16));
        const auto bytes = static_cast<std::uint32_t>(32 + 32 * draw(seed, who, n * 4 + 1, 3));
        aiv.Duplicate(LocalTensor<float>{0, 64}, value, 64);
        aiv.Alu(static_cast<std::uint32_t>(draw(seed, who, n * 4 + 2, 3) == 0 ? draw(seed, who, n * 4 + 3, 20'000)
                                                                              : draw(seed, who, n * 4 + 3, 100)));
        aiv.PipeBarrierAll();
        aiv.DataCopy(gm_tensor<float>(cell * 32), LocalTensor<float>{0, bytes / 4}, bytes / 4);
        if (draw(seed, who, n * 4 + 1, 7) == 0) {
            aiv.PipeBarrierAll();
        }
    }
    aiv.Duplicate(LocalTensor<float>{0, kLines * 128}, 1000.0F, kLines * 128);
    aiv.PipeBarrierAll();
    aiv.DataCopy(gm_tensor<float>(0), LocalTensor<float>{0, kLines * 128}, kLines * 128);
    aiv.End();
    co_return;
}

struct Outcome {
    std::vector<Picoseconds> marks;
    std::vector<std::uint64_t> polls, bytes;
    std::vector<std::byte> dumps;
    std::uint64_t rounds = 0;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome outcome(const Machine& m, std::uint64_t seed, DutOptions options) {
    options.cores = kPollers + kWriters;
    DeviceUnderTest dut(m, options);
    for (std::uint32_t p = 0; p < kPollers; ++p) {
        dut.launch({{}, CoreId{p}}, static_cast<Picoseconds>(draw(seed, 1, p, 500'000)), poller, seed, p);
    }
    for (std::uint32_t w = 0; w < kWriters; ++w) {
        // Some writers in step, so that stores land at the same instant.
        dut.launch({{}, CoreId{kPollers + w}}, static_cast<Picoseconds>(draw(seed, 2, w, 2) * 700'000), writer,
                   draw(seed, 3, w, 2) == 0 ? seed : seed + w, draw(seed, 3, w, 2) == 0 ? 0U : w);
    }
    dut.run();
    Outcome o;
    for (const auto& mark : dut.recorder.marks) {
        o.marks.push_back(mark.at);
    }
    for (std::uint32_t p = 0; p < kPollers; ++p) {
        const PollStatistics& s = dut.core({{}, CoreId{p}}).poller().statistics();
        CHECK(dut.core({{}, CoreId{p}}).finished());
        o.polls.push_back(s.polls);
        o.bytes.push_back(s.bytes);
        o.rounds += s.polls;
        o.marks.push_back(dut.end({{}, CoreId{p}}));
    }
    o.dumps = dut.gm({{}, kDump}, kPollers * 3 * kDumpBytes);
    return o;
}

}  // namespace

TEST_CASE("poll: elided equals explicit under random landings", "[poll]") {
    const Machine m = machine(GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"));
    std::uint64_t rounds = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        const Outcome stepped = outcome(m, seed, {.polling = Polling::explicit_steps});
        const Outcome elided = outcome(m, seed, {.polling = Polling::elided});
        CHECK(stepped.marks == elided.marks);
        CHECK(stepped.polls == elided.polls);
        CHECK(stepped.bytes == elided.bytes);
        CHECK(stepped.dumps == elided.dumps);
        rounds += stepped.rounds;
        if (seed % 10 == 0) {
            CHECK(outcome(m, seed, {.wake = Wake::systemc, .polling = Polling::elided}) == elided);
            CHECK(outcome(m, seed, {.payload = PayloadMode::copying, .polling = Polling::elided}) == elided);
        }
    }
    CHECK(rounds > 10'000);  // it was not all satisfied at once
}

// Hidden: thousands of scenarios more, for whoever changes the poller. test_timing "[.fuzz]"
TEST_CASE("poll: elided equals explicit, fuzzed", "[.fuzz]") {
    for (const char* name : {"atlas_a3_pod", "tiny_pod"}) {
        const Machine m = machine(name);
        for (std::uint64_t seed = 1'000; seed < 3'000; ++seed) {
            const Outcome elided = outcome(m, seed, {.polling = Polling::elided});
            if (!(outcome(m, seed, {.polling = Polling::explicit_steps}) == elided)) {
                FAIL_CHECK(name << " seed " << seed);
            }
        }
    }
}

TEST_CASE("poll: landings on the very instants of samples, alone and in pairs", "[poll]") {
    // Two cells in two lines, sampled at different instants of a round; the sum must reach 2. Stores land at every
    // combination of just before, at and just after the samples, on one line, the other, or both at once.
    const Machine m = machine(GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"));
    const auto wait = [](Aiv& aiv, float target) -> Task<void> {
        PollSpec spec;
        spec.copy = aiv.PollCopy(LocalTensor<float>{0, 16}, gm_tensor<float>(0), {2, 32, 480, 0});
        spec.chain.push_back(aiv.PollReduceSum(LocalTensor<float>{512, 8}, LocalTensor<float>{0, 16}, 16, 0, 8));
        Aiv::PollCompare(spec, LocalTensor<float>{512, 8}, Compare::ge, target);
        co_await aiv.PollUntil(spec);
        aiv.Phase("on");
        aiv.End();
    };
    const auto store = [](Aiv& aiv, std::uint64_t offset, float value) -> Task<void> {
        aiv.Duplicate(LocalTensor<float>{0, 8}, value, 8);
        aiv.PipeBarrierAll();
        aiv.DataCopy(gm_tensor<float>(offset), LocalTensor<float>{0, 8}, 8);
        aiv.End();
        co_return;
    };
    Picoseconds period = 0;
    Picoseconds to_land = 0;
    {
        DeviceUnderTest dut(m);
        dut.launch_one(wait, 0.0F);
        dut.run();
        period = dut.at("on");
    }
    {
        DeviceUnderTest dut(m);
        dut.launch_one(store, std::uint64_t{0}, 1.0F);
        dut.run();
        to_land = dut.recorder.landed.at(0).at;
    }
    const Picoseconds first = cycles_ps(m, m.core.scalar.copy_issue.peek()) + m.memory.noc_latency.peek();
    const Picoseconds second = first + cycles_ps(m, std::max(MilliCycles{32'000} / m.core.mte.in_bytes_per_cycle.peek(),
                                                             m.core.mte.burst_min.peek()));
    const std::vector<Picoseconds> instants{
        -1, 0, 1, second - first - 1, second - first, second - first + 1, period - 1, period};
    const std::uint64_t base = 20;
    for (const Picoseconds a : instants) {
        for (const Picoseconds b : instants) {
            // Line 0 at a, line 1 at b; each adds 1.
            const Picoseconds at_a = static_cast<Picoseconds>(base) * period + first + a;
            const Picoseconds at_b = static_cast<Picoseconds>(base) * period + first + b;
            Picoseconds ends[2];
            Picoseconds lands[2];
            for (const Polling polls : {Polling::elided, Polling::explicit_steps}) {
                DeviceUnderTest dut(m, {.cores = 3, .polling = polls});
                dut.launch({{}, CoreId{0}}, 0, wait, 2.0F);
                dut.launch({{}, CoreId{1}}, at_a - to_land, store, std::uint64_t{0}, 1.0F);
                dut.launch({{}, CoreId{2}}, at_b - to_land, store, std::uint64_t{512}, 1.0F);
                dut.run();
                ends[polls == Polling::elided ? 0 : 1] = dut.at("on");
                // Two stores on one bandwidth: the later may land some ps after its time.
                for (const auto& block : dut.recorder.landed) {
                    lands[block.event.address.offset / 512] = block.at;
                }
            }
            // Round n samples line 0 at n * period + first and line 1 at n * period + second.
            const auto rounds_until = [period](Picoseconds landed, Picoseconds sample) {
                return landed <= sample ? 0 : (landed - sample + period - 1) / period;
            };
            const Picoseconds n = std::max(rounds_until(lands[0], first), rounds_until(lands[1], second));
            CAPTURE(a, b);
            CHECK(ends[0] == (n + 1) * period);
            CHECK(ends[1] == (n + 1) * period);
        }
    }
}
