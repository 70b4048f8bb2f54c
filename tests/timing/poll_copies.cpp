// SPDX-License-Identifier: Apache-2.0
// Polls of several copies and several words, and vector instructions in several places, against what they stand for.
#include "algorithms/kernel_api/soft_sync.hpp"
#include "models/engine/error.hpp"
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

struct Shape {
    std::uint32_t copies;  ///< of one word each, on lines of their own
    bool vector;           ///< ReduceMax over them, else compared one by one
};
constexpr std::uint32_t kMax = 65536;
constexpr std::uint32_t kLineWords = kBlockBytes / 4;

LocalTensor<float> cell(std::uint32_t i) { return {i * kUbGranule, 8}; }

Task<void> written_out(Aiv& aiv, Shape s, std::uint32_t times) {
    for (std::uint32_t n = 0; n < times; ++n) {
        aiv.Phase("round");
        for (std::uint32_t i = 0; i < s.copies; ++i) {
            aiv.DataCopyPad(cell(i), gm_tensor<float>(0)[std::uint64_t{i} * kLineWords], {1, 4, 0, 0});
        }
        if (s.vector) {
            aiv.Sync<HardEvent::MTE2_V>();
            aiv.ReduceMax(LocalTensor<float>{kMax, 8}, cell(0), s.copies * 8);
            aiv.Sync<HardEvent::V_S>();
        } else {
            aiv.Sync<HardEvent::MTE2_S>();
        }
        for (std::uint32_t i = 0; i < (s.vector ? 1 : s.copies); ++i) {
            const float value = co_await aiv.GetValue(s.vector ? LocalTensor<float>{kMax, 8} : cell(i), 0);
            static_cast<void>(value);
            aiv.Alu(2);
        }
    }
    aiv.Phase("round");
    aiv.End();
}

Task<void> polling(Aiv& aiv, Shape s, float target) {
    PollSpec spec;
    for (std::uint32_t i = 0; i < s.copies; ++i) {
        const CopyCall copy = aiv.PollCopy(cell(i), gm_tensor<float>(0)[std::uint64_t{i} * kLineWords], {1, 4, 0, 0});
        if (i == 0) {
            spec.copy = copy;
        } else {
            spec.more.push_back(copy);
        }
    }
    if (s.vector) {
        spec.chain.push_back(aiv.PollReduceMax(LocalTensor<float>{kMax, 8}, cell(0), s.copies * 8, 0, 8));
    } else {
        spec.words = s.copies;
        spec.word_pitch = kUbGranule;
    }
    Aiv::PollCompare(spec, s.vector ? LocalTensor<float>{kMax, 8} : cell(0), Compare::ge, target);
    aiv.Phase("poll");
    co_await aiv.PollUntil(spec);
    aiv.Phase("on");
    aiv.End();
}

/// Raises the last word late.
Task<void> late(Aiv& aiv, std::uint32_t word) {
    const LocalTensor<float> one{0, 8};
    aiv.Duplicate(one, 1.0F, 8);
    aiv.Alu(20'000);
    aiv.PipeBarrierAll();
    aiv.DataCopyPad(gm_tensor<float>(0)[std::uint64_t{word} * kLineWords], one, {1, 4, 0, 0});
    aiv.End();
    co_return;
}

}  // namespace

TEST_CASE("poll: a round over several copies takes as long as the loop written out", "[poll]") {
    const Machine m = machine(either());
    const std::uint32_t copies = GENERATE(1U, 2U, 8U);
    const bool vector = GENERATE(false, true);
    const Shape shape{copies, vector};
    Picoseconds round = 0;
    {
        DeviceUnderTest dut(m);
        dut.preset({}, std::vector<float>(65536, 0));
        dut.launch_one(written_out, shape, 6U);
        dut.run();
        round = dut.recorder.marks[5].at - dut.recorder.marks[4].at;
    }
    DeviceUnderTest dut(m);
    dut.preset({}, std::vector<float>(65536, 0));
    dut.launch_one(polling, shape, 0.0F);
    dut.run();
    // Each instruction's cycles are rounded to ps on their own in the loop, together in the closed form.
    CHECK(std::abs(dut.between("poll", "on") - round) <= static_cast<Picoseconds>(12 + 4 * copies));
    CHECK(dut.core().poller().statistics().polls == 1);
    CHECK(dut.core().poller().statistics().bytes == std::uint64_t{copies} * 32);
}

TEST_CASE("poll: any one of several words ends it, stepped or skipped alike", "[poll]") {
    const Machine m = machine(either());
    const std::uint32_t word = GENERATE(0U, 3U, 7U);
    const bool vector = GENERATE(false, true);
    Picoseconds ends[2];
    for (const Polling polls : {Polling::elided, Polling::explicit_steps}) {
        DutOptions options;
        options.polling = polls;
        options.cores = 2;
        DeviceUnderTest dut(m, options);
        dut.launch({CardId{0}, CoreId{0}}, 0, polling, Shape{8, vector}, 1.0F);
        dut.launch({CardId{0}, CoreId{1}}, 0, late, word);
        dut.run();
        REQUIRE(dut.core().finished());
        ends[polls == Polling::elided ? 0 : 1] = dut.at("on");
    }
    CHECK(ends[0] == ends[1]);
}

namespace {

struct Strided {
    std::uint32_t pieces, words, at, from_pitch, to_pitch;
};

/// Loads UB, copies pieces of it, sets others, shows UB.
Task<void> strided(Aiv& aiv, Strided p) {
    const LocalTensor<float> all{0, 16384 / 4};
    aiv.DataCopy(all, gm_tensor<float>(0), all.count);
    aiv.PipeBarrierAll();
    aiv.Phase("begin");
    aiv.Copy(all[(8192 + p.at) / 4], all[p.at / 4], VectorPieces{p.pieces, p.words, p.to_pitch, p.from_pitch});
    aiv.PipeBarrierAll();
    aiv.Phase("copied");
    aiv.Duplicate(all[(8192 + p.at) / 4], 7.0F, VectorPieces{2, p.words, p.to_pitch, 0});
    aiv.PipeBarrierAll();
    aiv.DataCopy(gm_tensor<float>(65536), all, all.count);
    aiv.End();
    co_return;
}

Task<void> one_piece(Aiv& aiv, std::uint32_t offset, std::uint32_t words, std::uint32_t pitch) {
    const LocalTensor<float> all{0, 16384 / 4};
    aiv.Duplicate(all[offset / 4], 1.0F, VectorPieces{3, words, pitch, 0});
    aiv.End();
    co_return;
}

}  // namespace

TEST_CASE("vector: pieces go where their strides say and nothing else changes", "[vector]") {
    Machine m = machine(either());
    const bool loops = GENERATE(false, true);
    if (loops) {
        m = lacking(lacking(m, "Copy"), "Duplicate");
    }
    // Lanes of a granule in each 512 B block; whole granules, packed to 480 B and spread to 512.
    const Strided p = GENERATE(Strided{14, 2, 24, 512, 512}, Strided{9, 1, 28, 512, 32}, Strided{5, 64, 0, 480, 512},
                               Strided{5, 56, 256, 480, 512}, Strided{1, 2, 8, 32, 32});
    std::vector<float> before(4096);
    for (std::size_t i = 0; i < before.size(); ++i) {
        before[i] = static_cast<float>(i);
    }
    DeviceUnderTest dut(m);
    dut.preset({}, before);
    dut.launch_one(strided, p);
    dut.run();
    REQUIRE(dut.core().finished());
    std::vector<float> expected = before;
    for (std::uint32_t i = 0; i < p.pieces; ++i) {
        for (std::uint32_t w = 0; w < p.words; ++w) {
            expected[(8192 + p.at + i * p.to_pitch) / 4 + w] =
                i < 2 && p.pieces > 1 ? 7.0F : before[(p.at + i * p.from_pitch) / 4 + w];
        }
    }
    for (std::uint32_t i = 0; i < 2; ++i) {  // what Duplicate sets, also beyond a single piece
        for (std::uint32_t w = 0; w < p.words; ++w) {
            expected[(8192 + p.at + i * p.to_pitch) / 4 + w] = 7.0F;
        }
    }
    CHECK(dut.gm_values<float>({CardId{0}, 65536}, 4096) == expected);
    if (loops) {  // all pipes drain, then element by element
        CHECK(dut.between("begin", "copied") ==
              2 * cycles_ps(m, m.core.barrier_all.peek()) +
                  cycles_ps(m, std::int64_t{p.pieces} * p.words * m.core.vector.scalar_path.peek()));
        return;
    }
    // Eight granules or one run of up to 256 B a repeat.
    const MilliCycles repeats = p.words <= 8 ? ceil_div(p.pieces, m.core.vector.repeat_bytes.peek() / 32) : p.pieces;
    const VectorInstruction& row = vector_row(m, "Copy");
    CHECK(dut.between("begin", "copied") ==
          cycles_ps(m, m.core.scalar.vector_issue.peek()) +
              cycles_ps(m, row.head.peek() + repeats * row.slope.peek() + row.tail.peek()) +
              cycles_ps(m, m.core.barrier_all.peek()));
}

TEST_CASE("vector: pieces that a mask cannot make are refused", "[vector]") {
    const Machine m = machine(either());
    struct Bad {
        std::uint32_t offset, words, pitch;
    };
    // Across a granule; in part of a second one; more than a repeat; a pitch inside a granule.
    const Bad bad = GENERATE(Bad{24, 4, 512}, Bad{0, 12, 512}, Bad{0, 72, 512}, Bad{0, 2, 16});
    DeviceUnderTest dut(m);
    dut.launch_one(one_piece, bad.offset, bad.words, bad.pitch);
    CHECK_THROWS_AS(dut.run(), KernelError);
}

namespace {

constexpr std::uint64_t kPitch = 512;

/// Everybody raises to all and waits for all; then the first to the rest; then all to the last.
Task<void> meet(Aiv& aiv, std::uint32_t self, std::uint32_t cores) {
    SoftSync soft(aiv, cores);
    const auto point = [](std::uint32_t n) { return SoftCells{gm_tensor<float>(n * std::uint64_t{65536}), kPitch}; };
    aiv.Alu(1000 * self);
    aiv.Phase("raise");
    soft.raise(point(0), self, 0, cores, 1);
    co_await soft.wait(point(0), self, 0, cores, 1);
    aiv.Phase("met");
    if (self == 0) {
        aiv.Alu(5000);
        aiv.Phase("first");
        soft.raise(point(1), 0, 1, cores - 1, 1);
    } else {
        co_await soft.wait(point(1), self, 0, 1, 1);
    }
    aiv.Phase("told");
    aiv.Alu(700 * self);
    soft.raise(point(2), self, cores - 1, 1, 1);
    if (self + 1 == cores) {
        co_await soft.wait(point(2), self, 0, cores, 1);
    }
    aiv.Phase("gathered");
    aiv.End();
}

}  // namespace

TEST_CASE("soft sync: nobody passes before those it waits for have raised", "[soft_sync]") {
    const Machine m = machine(either());
    const std::uint32_t cores = GENERATE(2U, 5U, 12U);
    DutOptions options;
    options.cores = cores;
    DeviceUnderTest dut(m, options);
    for (std::uint32_t c = 0; c < cores; ++c) {
        dut.launch({CardId{0}, CoreId{c}}, 0, meet, c, cores);
    }
    dut.run();
    const auto core = [](std::uint32_t c) { return CoreRef{CardId{0}, CoreId{c}}; };
    Picoseconds last = 0;
    for (std::uint32_t c = 0; c < cores; ++c) {
        REQUIRE(dut.core(core(c)).finished());
        last = std::max(last, dut.at("raise", core(c)));
    }
    for (std::uint32_t c = 0; c < cores; ++c) {
        CHECK(dut.at("met", core(c)) > last);
        if (c > 0) {
            CHECK(dut.at("told", core(c)) > dut.at("first", core(0)));
            CHECK(dut.core(core(c)).poller().statistics().loops >= 2);
        }
        CHECK(dut.at("gathered", core(cores - 1)) > dut.at("told", core(c)));
    }
}
