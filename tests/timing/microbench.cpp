// SPDX-License-Identifier: Apache-2.0
// Microbenchmarks against the closed formulas of what they measure, on both machines.
#include "algorithms/microbench/microbench.hpp"
#include "sim/run/bench_runner.hpp"
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

using namespace podsim;
using namespace podsim::test;

namespace {

std::string either() { return GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"); }

double measured(BenchRunner& runner, const char* name, const BenchArguments& arguments = {}) {
    const Microbench* bench = find_microbench(name);
    REQUIRE(bench != nullptr);
    const auto value = bench->measure(runner, arguments);
    REQUIRE(value.has_value());
    return *value;
}

double ns(Picoseconds t) { return static_cast<double>(t) / 1e3; }

/// What a loop of one copy and PipeBarrier<ALL> pays beside the copy.
Picoseconds loop(const Machine& m) {
    return cycles_ps(m, m.core.scalar.copy_issue.peek()) + cycles_ps(m, m.core.barrier_all.peek());
}

}  // namespace

TEST_CASE("microbench: a copy takes its latency and its bytes over the rate", "[microbench]") {
    const Machine m = machine(either());
    BenchRunner runner(m);
    for (const std::uint32_t bytes : {512U, 4096U, 8192U}) {
        CAPTURE(bytes);
        const Picoseconds in_l2 = loop(m) + 2 * m.memory.noc_latency.peek() + m.memory.l2_read_latency.peek() +
                                  cycles_ps(m, MilliCycles{1000} * bytes / m.core.mte.in_bytes_per_cycle.peek());
        const Picoseconds burst =
            cycles_ps(m, std::max<MilliCycles>(0, m.core.mte.burst_min.peek() -
                                                      MilliCycles{1000} * 512 / m.core.mte.in_bytes_per_cycle.peek()));
        CHECK(measured(runner, "copy_in_l2", {bytes, 0, {}}) == Approx(ns(in_l2 + burst)).margin(0.01));
    }
    // One line from HBM: the same and the way there.
    const double hit = measured(runner, "copy_in_l2", {512, 0, {}});
    CHECK(measured(runner, "copy_in_hbm", {512, 0, {}}) ==
          Approx(hit + ns(m.memory.hbm_extra_latency.peek())).margin(0.01));
}

TEST_CASE("microbench: SyncAll takes a base and a share per core", "[microbench]") {
    const Machine m = machine(either());
    BenchRunner runner(m);
    for (const std::uint32_t cores : {1U, 5U, 12U}) {
        const Picoseconds expected = cycles_ps(m, m.core.barrier_all.peek()) + m.sync.sync_all_base.peek() +
                                     cores * m.sync.sync_all_per_core.peek();
        CHECK(measured(runner, "sync_all", {0, cores, {}}) == Approx(ns(expected)).margin(0.01));
    }
}

TEST_CASE("microbench: a vector instruction costs what the machine file says", "[microbench]") {
    const Machine m = machine(either());
    BenchRunner runner(m);
    const VectorInstruction& add = vector_row(m, "Add");
    const double slope = static_cast<double>(add.slope.peek()) / 1e3;
    const double conflict = static_cast<double>(m.core.vector.bank_conflict.peek()) / 1e3;
    CHECK(measured(runner, "add_repeat", {8192, 0, {}}) == Approx(slope).margin(0.01));
    CHECK(measured(runner, "add_repeat_conflict", {8192, 0, {}}) == Approx(slope + conflict).margin(0.01));
    CHECK(measured(runner, "add_peak", {16384, 0, {}}) == Approx(64 / slope).epsilon(0.02));
    // 32 repeats, each instruction waiting for the one before: nothing of it is hidden.
    const MilliCycles milli = add.head.peek() + 32 * (add.slope.peek() + m.core.vector.bank_conflict.peek()) +
                              add.tail.peek() + m.core.vector.barrier.peek();
    const double each = static_cast<double>(milli) / 1e3;
    CHECK(measured(runner, "add_dependent", {8192, 0, {}}) == Approx(each).margin(0.2));
}

TEST_CASE("microbench: scalar operations, loads and barriers", "[microbench]") {
    const Machine m = machine(either());
    BenchRunner runner(m);
    const ScalarParams& scalar = m.core.scalar;
    const auto cycles = [](MilliCycles milli) { return static_cast<double>(milli) / 1e3; };
    CHECK(measured(runner, "alu_dependent") == Approx(cycles(2 * scalar.alu.peek())).margin(0.01));
    CHECK(measured(runner, "gm_load_hit") == Approx(cycles(scalar.gm_load_hit.peek())).margin(0.01));
    CHECK(measured(runner, "flag_issue") == Approx(cycles(scalar.flag_issue.peek())).margin(0.01));
    CHECK(measured(runner, "gm_load_miss") == Approx(ns(scalar.gm_load_miss.peek())).margin(0.01));
    CHECK(measured(runner, "get_value") == Approx(ns(cycles_ps(m, scalar.ub_load.peek()))).margin(0.01));
    CHECK(measured(runner, "pipe_barrier_all") == Approx(ns(cycles_ps(m, m.core.barrier_all.peek()))).margin(0.01));
    CHECK(measured(runner, "scalar_add") ==
          Approx(cycles(2 * scalar.ub_load.peek() + scalar.ub_store.peek() + 13 * scalar.alu.peek())).margin(0.02));
}

TEST_CASE("microbench: one block of another card takes the way there and back", "[microbench]") {
    const Machine m = machine(either());
    BenchRunner runner(m);
    const FabricParams& f = m.fabric;
    const auto wire = [&](std::uint32_t payload) {
        const std::uint32_t flits = (payload + f.header_bytes.peek() + f.flit_bytes.peek() - 1) / f.flit_bytes.peek();
        return rate_ps(std::uint64_t{flits} * f.flit_bytes.peek(), f.link_rate.peek());
    };
    const Picoseconds way = 2 * f.port_latency.peek() + f.switch_latency.peek();
    const Picoseconds further = 2 * (f.switch_latency.peek() + f.span_latency.peek());
    const Picoseconds reply = std::max(wire(512), rate_ps(512, f.port_read_rate.peek()));
    const Picoseconds bytes =
        cycles_ps(m, std::max<MilliCycles>(m.core.mte.burst_min.peek(),
                                           MilliCycles{512'000} / m.core.mte.in_bytes_per_cycle.peek()));
    const double near = measured(runner, "remote_read", {512, 0, Reach::node});
    const double far = measured(runner, "remote_read", {512, 0, Reach::pod});
    // Request and reply on two ports each; between nodes also on two links between switches.
    const Picoseconds base = loop(m) + 2 * way + 2 * wire(0) + m.memory.l2_read_latency.peek() + 2 * reply;
    CHECK(near >= ns(base) - 0.01);
    CHECK(near <= ns(base + bytes) + 0.01);
    CHECK(far - near == Approx(ns(2 * further + 2 * wire(0) + 2 * wire(512))).margin(0.02));
}

TEST_CASE("microbench: a card's bandwidth is bounded by its ports and its cores' blocks in flight", "[microbench]") {
    const Machine m = machine("tiny_pod");
    BenchRunner runner(m);
    const double ports = 1e-3 * static_cast<double>(m.fabric.topology.planes.peek() * m.fabric.port_write_rate.peek());
    const double one = measured(runner, "remote_write_bandwidth", {0, 1, Reach::node});
    const double all = measured(runner, "remote_write_bandwidth", {0, 12, Reach::node});
    const double round_trip = measured(runner, "remote_write", {512, 0, Reach::node});
    CHECK(all <= ports);
    CHECK(all >= 0.9 * ports);
    CHECK(one <= m.core.mte.remote_in_flight.peek() * 512 / (round_trip - ns(loop(m))) + 0.01);
    CHECK(measured(runner, "incast", {0, 12, Reach::node}) <= ports);
}

TEST_CASE("microbench: soft sync is dearer the more take part", "[microbench]") {
    BenchRunner runner(machine(either()));
    const double one = measured(runner, "soft_sync_1_1");
    const double many = measured(runner, "soft_sync_1_n", {0, 12, {}});
    const double all = measured(runner, "soft_sync_n_n", {0, 12, {}});
    CHECK(one > 0);
    CHECK(one < many);
    CHECK(many < all);
}

TEST_CASE("microbench: what does not fit the machine gives nothing", "[microbench]") {
    Machine m = machine("tiny_pod");
    BenchRunner runner(m);
    const auto value = [&](const char* name, const BenchArguments& arguments) {
        return find_microbench(name)->measure(runner, arguments);
    };
    CHECK_FALSE(value("copy_in_l2", {1U << 20U, 0, {}}));
    CHECK_FALSE(value("sync_all", {0, 13, {}}));
    CHECK_FALSE(value("read_hbm", {8192, 13, {}}));
    CHECK_FALSE(value("incast", {0, 13, Reach::node}));
    Machine small = machine("tiny_pod");
    small.core.ub_bytes.set(4096);
    BenchRunner little(small);
    CHECK_FALSE(find_microbench("remote_read_bandwidth")->measure(little, {0, 2, Reach::node}));
    CHECK_FALSE(find_microbench("package_both_ways")->measure(little, {0, 2, {}}));
    CHECK(find_microbench("remote_read")->measure(little, {512, 0, Reach::node}));
    m.fabric.topology.nodes.set(1);
    BenchRunner one_node(m);
    CHECK_FALSE(find_microbench("remote_read")->measure(one_node, {512, 0, Reach::pod}));
    CHECK(find_microbench("no_such_thing") == nullptr);
}

TEST_CASE("microbench: every one of them runs on a small machine, twice the same", "[microbench]") {
    const Machine m = machine("tiny_pod");
    BenchRunner runner(m);
    for (const Microbench& bench : microbenches()) {
        CAPTURE(bench.name);
        const BenchArguments arguments{
            bench.name.starts_with("read_hbm_b") || bench.name.starts_with("burst") ? 512U : 2048U, 12, Reach::node};
        const auto once = bench.measure(runner, arguments);
        REQUIRE(once);
        CHECK(*once > 0);
        CHECK(bench.measure(runner, arguments) == once);
    }
}
