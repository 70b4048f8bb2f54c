// SPDX-License-Identifier: Apache-2.0
// One packet, n packets on a port, k cards to one: the closed formulas of the fabric.
#include "tests/support/fabric_bench.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace podsim;
using namespace podsim::test;

TEST_CASE("fabric: one write pays two ports in its node, two trunks more across nodes", "[fabric]") {
    FabricBench bench(bench_params(2, 2, 2, 3, 2), 8);
    const auto in_node = bench.write(0, 2, 0);
    const auto across = bench.write(1, 7, 512);
    const auto sio = bench.write(5, 4, 0);
    bench.engine.run();
    CHECK(bench.landed_at(in_node) == 2 * kBenchWrite + kBenchInNode);
    CHECK(bench.landed_at(across) == 2 * kBenchWrite + 2 * kBenchTrunk + kBenchAcross);
    CHECK(bench.landed_at(sio) == kBenchSio + 30'000);
    // Acknowledged after the latency of the way back, without bandwidth.
    CHECK(bench.completed_at(in_node) == bench.landed_at(in_node) + kBenchInNode);
    CHECK(bench.completed_at(across) == bench.landed_at(across) + kBenchAcross);
    CHECK(bench.completed_at(sio) == bench.landed_at(sio) + 30'000);
}

TEST_CASE("fabric: a read is a flit there and a block back", "[fabric]") {
    FabricBench bench(bench_params(2, 2, 2, 3, 2), 8);
    const auto in_node = bench.read(0, 2, 0);
    const auto across = bench.read(1, 7, 512);
    const auto sio = bench.read(5, 4, 0);
    bench.engine.run();
    CHECK(bench.completed_at(in_node) == 2 * kBenchRequest + kBenchInNode + 2 * kBenchRead + kBenchInNode);
    CHECK(bench.completed_at(across) ==
          4 * kBenchRequest + kBenchAcross + 2 * kBenchRead + 2 * kBenchTrunk + kBenchAcross);
    CHECK(bench.completed_at(sio) == 125 + 30'000 + kBenchSio + 30'000);  // an 8 B request at 64 B/ns
    for (const Completion& completion : bench.completions()) {
        CHECK(completion.with_data);
    }
}

TEST_CASE("fabric: the published rates give the published 512 B service", "[fabric]") {
    // hardware.md §5: 512 B in 28 flits of 20 B at 28 GB/s = 20 ns; modelling-advice: 26.5 ns at a port that
    // writes 135 GB/s over 7 planes.
    FabricParams pod = bench_params(1, 8, 2, 7, 0);
    pod.link_rate.set(28'000);
    pod.header_bytes.set(48);
    pod.flit_bytes.set(20);
    pod.port_write_rate.set(135'000 / 7);
    FabricBench bench(pod, 16);
    const auto tag = bench.write(0, 9, 0);
    bench.engine.run();
    const double service_ns = static_cast<double>(bench.landed_at(tag) - kBenchInNode) / 2e3;
    CHECK(service_ns == Approx(26.5).epsilon(0.005));
    CHECK(bench.network.totals().wire_bytes == 560);
}

TEST_CASE("fabric: n packets on one port take n services", "[fabric]") {
    const std::uint32_t n = GENERATE(1U, 2U, 17U, 500U);
    FabricBench bench(bench_params(1, 4, 1, 3, 0), 4);
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
        last = bench.write(0, 1, i * 3 * 512);  // all on one plane
    }
    bench.engine.run();
    // The first pays both ports, the others follow at the pace of one.
    CHECK(bench.landed_at(last) == (n + 1) * kBenchWrite + kBenchInNode);
    // A packet has one hop event per link.
    CHECK(bench.engine.events() == 2 * n);
}

TEST_CASE("fabric: packets on different planes do not wait for each other", "[fabric]") {
    FabricBench bench(bench_params(1, 4, 1, 7, 0), 4);
    for (std::uint64_t i = 0; i < 14; ++i) {
        bench.write(0, 1, i * 512);
    }
    bench.engine.run();
    CHECK(bench.landed.size() == 14);
    for (const Landed& block : bench.landed) {
        CHECK(block.at == (block.tag < 7 ? 2 : 3) * kBenchWrite + kBenchInNode);
    }
}

TEST_CASE("fabric: k cards that send to one share its port exactly", "[fabric]") {
    const auto k = GENERATE(1U, 2U, 3U, 7U);
    const auto n = GENERATE(1U, 20U);
    FabricBench bench(bench_params(1, 8, 1, 2, 0), 8);
    for (std::uint32_t card = 1; card <= k; ++card) {
        for (std::uint64_t i = 0; i < n; ++i) {
            bench.write(card, 0, i * 2 * 512);
        }
    }
    bench.engine.run();
    Picoseconds last = 0;
    for (const Landed& block : bench.landed) {
        last = std::max(last, block.at);
    }
    CHECK(bench.landed.size() == k * n);
    // The first block crosses the sender's port, then the receiving port never idles.
    CHECK(last == kBenchWrite + k * n * kBenchWrite + kBenchInNode);
    const PortStatistics port = bench.network.port_statistics(CardId{0}, PlaneId{0});
    CHECK(port.in.busy == static_cast<Picoseconds>(k * n) * kBenchWrite);
    CHECK(port.in.busy == port.in.last_end - port.in.first_start);
}

TEST_CASE("fabric: reads and writes share a port, each at its own rate", "[fabric]") {
    FabricBench bench(bench_params(1, 4, 1, 1, 0), 4);
    // Three replies and two writes leave card 0 by its one port.
    for (std::uint64_t i = 0; i < 3; ++i) {
        bench.read(1, 0, i * 512);
    }
    for (std::uint64_t i = 0; i < 2; ++i) {
        bench.write(0, 2, i * 512);
    }
    bench.engine.run();
    const PortStatistics port = bench.network.port_statistics(CardId{0}, PlaneId{0});
    CHECK(port.out.busy == 3 * kBenchRead + 2 * kBenchWrite);
    CHECK(port.in.busy == 3 * kBenchRequest);
}

TEST_CASE("fabric: many cards over few trunks are bounded by the trunks", "[fabric]") {
    // 4 cards of node 0 each write n blocks to their partner in node 1: one trunk up carries all.
    const std::uint32_t n = 25;
    FabricBench bench(bench_params(2, 4, 1, 1, 1), 8);
    for (std::uint32_t card = 0; card < 4; ++card) {
        for (std::uint64_t i = 0; i < n; ++i) {
            bench.write(card, 4 + card, i * 512);
        }
    }
    bench.engine.run();
    Picoseconds last = 0;
    for (const Landed& block : bench.landed) {
        last = std::max(last, block.at);
    }
    const Picoseconds before = kBenchWrite;               // to the first switch
    const Picoseconds after = kBenchTrunk + kBenchWrite;  // down, and the receiving port
    CHECK(last == before + 4 * n * kBenchTrunk + after + kBenchAcross);
}

TEST_CASE("fabric: a request handed over early waits for its instant", "[fabric]") {
    FabricBench bench(bench_params(1, 3, 1, 1, 0), 3);
    const auto later = bench.write(0, 1, 0, 1'000'000);
    const auto now = bench.write(0, 1, 512, 0);
    bench.engine.run();
    CHECK(bench.landed_at(now) == 2 * kBenchWrite + kBenchInNode);
    CHECK(bench.landed_at(later) == 1'000'000 + 2 * kBenchWrite + kBenchInNode);
}

TEST_CASE("fabric: 768 cards, 7 planes, 16 L2 switches work out of the box", "[fabric]") {
    FabricBench bench(bench_params(48, 8, 2, 7, 16), 768);
    const auto tag = bench.write(0, 767, 0);
    bench.engine.run();
    CHECK(bench.landed_at(tag) == 2 * kBenchWrite + 2 * kBenchTrunk + kBenchAcross);
    CHECK(bench.network.one_way_latency(CardId{0}, CardId{15}) == kBenchInNode);
}
