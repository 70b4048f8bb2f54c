// SPDX-License-Identifier: Apache-2.0
// The queues of a core: order, overlap, flags, barriers, stalls.
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace podsim;
using namespace podsim::test;

namespace {
constexpr std::uint32_t kCount = 2048;  // fp32

/// Duration of one Duplicate of kCount fp32 into an empty pipe: without and with its tail.
struct DuplicateCost {
    Picoseconds occupied, complete;
    explicit DuplicateCost(const Machine& m) {
        const VectorInstruction& row = vector_row(m, "Duplicate");
        const MilliCycles body = kCount * 4 / m.core.vector.repeat_bytes.peek() * row.slope.peek();
        occupied = cycles_ps(m, row.head.peek() + body);
        complete = cycles_ps(m, row.head.peek() + body + row.tail.peek());
    }
};
}  // namespace

TEST_CASE("core: counted scalar operations cost what they count", "[core]") {
    const Machine m = machine(GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"));
    DeviceUnderTest dut(m);
    dut.launch({}, 777, [](Aiv& aiv) -> Task<void> {
        aiv.Phase("start");
        aiv.Alu(7);
        aiv.Phase("alu");
        aiv.SetValue(LocalTensor<std::int32_t>{64, 1}, 0, 12345);
        aiv.Phase("store");
        const std::int32_t value = co_await aiv.GetValue(LocalTensor<std::int32_t>{64, 1}, 0);
        aiv.Phase(value == 12345 ? "load" : "wrong value");
        aiv.End();
    });
    dut.run();
    CHECK(dut.at("start") == 777);
    CHECK(dut.between("start", "alu") == cycles_ps(m, 7 * m.core.scalar.alu.peek()));
    CHECK(dut.between("alu", "store") == cycles_ps(m, m.core.scalar.ub_store.peek()));
    CHECK(dut.between("store", "load") == cycles_ps(m, m.core.scalar.ub_load.peek()));
    CHECK(dut.end() - dut.at("load") == cycles_ps(m, m.core.barrier_all.peek()));
}

TEST_CASE("core: the system counter ticks at its own rate and truncates", "[core]") {
    const Machine m = machine(GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"));
    const Picoseconds start = GENERATE(0, 19'999, 20'000, 39'999, 40'000, 123'456'789);
    DeviceUnderTest dut(m);
    dut.launch({}, start, [](Aiv& aiv) -> Task<void> {
        const std::int64_t ticks = co_await aiv.GetSystemCycle();
        aiv.SetValue(LocalTensor<std::int64_t>{0, 1}, 0, ticks);
        aiv.Sync<HardEvent::S_MTE3>();
        aiv.DataCopyPad(gm_tensor<std::int64_t>(0), LocalTensor<std::int64_t>{0, 1}, {1, 8, 0, 0});
        aiv.End();
    });
    dut.run();
    // floor(t / tick)
    const Picoseconds tick = 1'000'000 / m.core.counter_mhz.peek();
    CHECK(dut.gm_values<std::int64_t>({}, 1)[0] == start / tick);
}

TEST_CASE("core: a flag carries a pipe's completion to another pipe, a hop later", "[core]") {
    const Machine m = machine(GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"));
    DeviceUnderTest dut(m);
    dut.launch_one([](Aiv& aiv) -> Task<void> {
        aiv.Phase("begin");
        aiv.Duplicate(LocalTensor<float>{0, kCount}, 1.0F, kCount);
        aiv.SetFlag<HardEvent::V_S>(3);
        aiv.WaitFlag<HardEvent::V_S>(3);
        aiv.Phase("seen");
        aiv.End();
        co_return;
    });
    dut.run();
    // issue, the instruction with its tail (longer than issuing the flags), hop, WaitFlag's own issue.
    CHECK(dut.between("begin", "seen") == cycles_ps(m, m.core.scalar.vector_issue.peek()) + DuplicateCost(m).complete +
                                              cycles_ps(m, m.core.flag_hop.peek()) +
                                              cycles_ps(m, m.core.scalar.flag_issue.peek()));
}

TEST_CASE("core: a flag set long ago delays nobody", "[core]") {
    const Machine m = machine(GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"));
    DeviceUnderTest dut(m);
    dut.launch_one([](Aiv& aiv) -> Task<void> {
        aiv.SetFlag<HardEvent::S_V>(0);
        aiv.SetFlag<HardEvent::V_S>(0);
        aiv.Alu(100'000);
        aiv.Phase("begin");
        aiv.WaitFlag<HardEvent::V_S>(0);
        aiv.Phase("seen");
        aiv.WaitFlag<HardEvent::S_V>(0);
        aiv.End();
        co_return;
    });
    dut.run();
    CHECK(dut.between("begin", "seen") == cycles_ps(m, m.core.scalar.flag_issue.peek()));
}

TEST_CASE("core: pipes overlap, and PipeBarrier ALL waits for the last of them", "[core]") {
    const Machine m = machine(GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"));
    DeviceUnderTest dut(m);
    dut.preset({}, random_bytes(8192, 1));
    dut.launch_one([](Aiv& aiv) -> Task<void> {
        aiv.DataCopy(LocalTensor<float>{8192, kCount}, gm_tensor<float>(0), kCount);
        aiv.Duplicate(LocalTensor<float>{0, kCount}, 1.0F, kCount);
        aiv.DataCopy(gm_tensor<float>(65536), LocalTensor<float>{32768, kCount}, kCount);
        aiv.PipeBarrierAll();
        aiv.Phase("drained");
        aiv.End();
        co_return;
    });
    dut.run();
    const auto& in = dut.instruction("DataCopy", 0);
    const auto& out = dut.instruction("DataCopy", 1);
    const auto& v = dut.instruction("Duplicate");
    REQUIRE(in.pipe == Pipe::mte2);
    REQUIRE(out.pipe == Pipe::mte3);
    CHECK(v.started < in.ended);
    CHECK(out.started < in.ended);
    CHECK(dut.at("drained") == std::max({in.ended, out.ended, v.ended}) + cycles_ps(m, m.core.barrier_all.peek()));
}

TEST_CASE("core: the scalar unit stalls at a full queue until an instruction leaves it", "[core]") {
    const Machine m = machine(GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"));
    const std::uint32_t depth = m.core.mte.queue_depth.peek();
    const std::uint32_t extra = GENERATE(0U, 1U, 2U, 5U);
    DeviceUnderTest dut(m);
    // One instruction executes, `depth` wait; the next ones have to wait for one to start.
    dut.launch_one(
        [](Aiv& aiv, std::uint32_t instructions) -> Task<void> {
            for (std::uint32_t i = 0; i < instructions; ++i) {
                aiv.Duplicate(LocalTensor<float>{0, kCount}, 1.0F, kCount);
            }
            aiv.Phase("issued");
            aiv.End();
            co_return;
        },
        1 + depth + extra);
    dut.run();
    const VectorInstruction& row = vector_row(m, "Duplicate");
    const Picoseconds issue = cycles_ps(m, m.core.scalar.vector_issue.peek());
    const Picoseconds body = cycles_ps(m, kCount * 4 / m.core.vector.repeat_bytes.peek() * row.slope.peek());
    REQUIRE(body > issue);
    // Instruction 0 starts at `issue`; n > 0 at issue + first + (n-1) bodies. Instruction n + depth is accepted
    // when n has left the queue, i.e. started.
    const auto start = [&](std::uint32_t n) {
        return n == 0 ? issue : issue + DuplicateCost(m).occupied + (n - 1) * body;
    };
    Picoseconds accepted = 0;
    for (std::uint32_t n = 0; n < 1 + depth + extra; ++n) {
        accepted += issue;
        if (n >= depth) {
            accepted = std::max(accepted, start(n - depth));
        }
    }
    CHECK(dut.at("issued") == accepted);
}

TEST_CASE("core: a queue counts flags and barriers too, until their own time", "[core]") {
    Machine m = machine(GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"));
    m.core.mte.queue_depth.set(2);
    DeviceUnderTest dut(m);
    // The barrier is worked out ahead of its time; its place in the queue is free only at that time.
    dut.launch_one([](Aiv& aiv) -> Task<void> {
        aiv.Phase("begin");
        aiv.Duplicate(LocalTensor<float>{0, kCount}, 1.0F, kCount);
        aiv.Alu(2);
        aiv.PipeBarrier<Pipe::v>();
        aiv.PipeBarrier<Pipe::v>();
        aiv.PipeBarrier<Pipe::v>();
        aiv.Phase("issued");
        aiv.End();
        co_return;
    });
    dut.run();
    // The third barrier takes the place of the first, which leaves when the Duplicate is complete.
    CHECK(dut.between("begin", "issued") == cycles_ps(m, m.core.scalar.vector_issue.peek()) +
                                                DuplicateCost(m).complete + cycles_ps(m, m.core.vector.barrier.peek()));
}

TEST_CASE("core: a flag set a third time before a wait is the kernel's error", "[core]") {
    DeviceUnderTest dut(machine("tiny_pod"));
    dut.launch_one([](Aiv& aiv) -> Task<void> {
        aiv.SetFlag<HardEvent::V_S>(1);
        aiv.SetFlag<HardEvent::V_S>(1);
        aiv.Alu(1000);
        const float value = co_await aiv.GetValue(LocalTensor<float>{0, 8}, 0);
        static_cast<void>(value);
        aiv.SetFlag<HardEvent::V_S>(1);
        aiv.End();
    });
    CHECK_THROWS_AS(dut.run(), KernelError);
}

TEST_CASE("core: a pipe may be several flags of one id ahead of its waits' knowledge", "[core]") {
    // Copies are known to be complete long before they are; their flags fire one by one, each waited for before
    // the next fires, whatever the simulator knows ahead.
    Machine m = machine(GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"));
    m.memory.noc_latency.set(500'000);
    DeviceUnderTest dut(m);
    dut.preset({}, std::vector<float>(16'384, 1.0F));
    dut.launch_one([](Aiv& aiv) -> Task<void> {
        for (std::uint32_t i = 0; i < 12; ++i) {
            aiv.DataCopy(LocalTensor<float>{i * 4096, 1024}, gm_tensor<float>(i * 4096), 1024);
            aiv.SetFlag<HardEvent::MTE2_V>(0);
            aiv.WaitFlag<HardEvent::MTE2_V>(0);
            aiv.Adds(LocalTensor<float>{i * 4096, 64}, LocalTensor<float>{i * 4096, 64}, 1.0F, 64);
        }
        aiv.PipeBarrierAll();
        aiv.DataCopy(gm_tensor<float>(65'536), LocalTensor<float>{0, 12'288}, 12'288);
        aiv.End();
        co_return;
    });
    dut.run();
    const auto values = dut.gm_values<float>({{}, 65'536}, 12'288);
    for (std::size_t i = 0; i < 12; ++i) {
        CHECK(values[i * 1024] == 2.0F);
        CHECK(values[i * 1024 + 63] == 2.0F);
        CHECK(values[i * 1024 + 64] == 1.0F);
    }
}

TEST_CASE("core: a flag that nobody sets ends the run and is named", "[core]") {
    DeviceUnderTest dut(machine("tiny_pod"));
    dut.launch_one([](Aiv& aiv) -> Task<void> {
        aiv.WaitFlag<HardEvent::MTE2_V>(1);
        aiv.Duplicate(LocalTensor<float>{0, 64}, 1.0F, 64);
        aiv.End();
        co_return;
    });
    dut.run();
    CHECK_FALSE(dut.core().finished());
    const auto waiting = dut.pod().waiting_cores(10);
    REQUIRE(waiting.size() == 1);
    CHECK_THAT(waiting[0], Catch::Contains("card 0 core 0") && Catch::Contains("WaitFlag<MTE2_V>(1)") &&
                               Catch::Contains("tests/timing/core_pipes.cpp:"));
}

TEST_CASE("core: catching up costs no time and changes no order", "[core]") {
    const Machine m = machine(GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"));
    std::vector<Picoseconds> ends[2];
    for (const bool catch_up : {false, true}) {
        DeviceUnderTest dut(m);
        dut.launch_one(
            [](Aiv& aiv, bool often) -> Task<void> {
                for (std::uint32_t i = 0; i < 100; ++i) {
                    aiv.Duplicate(LocalTensor<float>{0, kCount}, 1.0F, kCount);
                    aiv.DataCopy(LocalTensor<float>{16'384, 512}, gm_tensor<float>(i * 2048), 512);
                    aiv.Alu(i);
                    aiv.Phase("step");
                    if (often) {
                        co_await aiv.CatchUp();
                    }
                }
                aiv.End();
            },
            catch_up);
        dut.run();
        for (const auto& mark : dut.recorder.marks) {
            ends[catch_up ? 1 : 0].push_back(mark.at);
        }
        CHECK(dut.core().finished());
    }
    CHECK(ends[0].size() == 101);
    CHECK(ends[0] == ends[1]);
}
