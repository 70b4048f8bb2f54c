// SPDX-License-Identifier: Apache-2.0
// What a change of the topology does to times.
#include "tests/support/fabric_bench.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace podsim;
using namespace podsim::test;

namespace {

TopologyEdit edit(TopologyEdit::Kind kind, std::string from, std::string to, std::int32_t plane, double scale = 1.0,
                  Picoseconds extra = 0) {
    TopologyEdit e;
    e.kind = kind;
    e.from = std::move(from);
    e.to = std::move(to);
    e.plane = plane;
    e.rate_scale = scale;
    e.extra_latency = extra;
    return e;
}

using Kind = TopologyEdit::Kind;

/// When the block of `offset` lands, alone on the fabric.
Picoseconds alone(const FabricParams& params, std::uint32_t from, std::uint32_t to, std::uint64_t offset) {
    FabricBench bench(params, params.topology.cards());
    const auto tag = bench.write(from, to, offset);
    bench.engine.run();
    return bench.landed_at(tag);
}

constexpr Picoseconds kAloneAcross = 2 * kBenchWrite + 2 * kBenchTrunk + kBenchAcross;

}  // namespace

TEST_CASE("fabric: an edge removed in the machine file changes route and time", "[fabric]") {
    // Two nodes joined by two L2 switches; L2 number 1 hangs on a detour when its edge to node 1 is cut.
    FabricParams p = bench_params(2, 2, 1, 1, 1);
    CHECK(alone(p, 0, 2, 0) == kAloneAcross);
    p.topology.edits = {edit(Kind::add, "l1.n0.p0", "detour", 0), edit(Kind::add, "detour", "l2.p0.k0", 0)};
    CHECK(alone(p, 0, 2, 0) == kAloneAcross);  // the detour is longer
    p.topology.edits.push_back(edit(Kind::remove, "l1.n0.p0", "l2.p0.k0", 0));
    CHECK(alone(p, 0, 2, 0) == kAloneAcross + kBenchTrunk + 50'000 + 200'000);
}

TEST_CASE("fabric: an edge removed makes the others carry more", "[fabric]") {
    const auto last = [](const FabricParams& params) {
        FabricBench bench(params, 16);
        for (std::uint32_t card = 0; card < 8; ++card) {
            for (std::uint64_t i = 0; i < 64; ++i) {
                bench.write(card, 8 + card, i * 512);
            }
        }
        bench.engine.run();
        Picoseconds end = 0;
        for (const Landed& block : bench.landed) {
            end = std::max(end, block.at);
        }
        CHECK(bench.landed.size() == 8 * 64);
        return end;
    };
    FabricParams p = bench_params(2, 8, 1, 1, 2);
    p.path_choice.set(PathChoice::by_address);
    const Picoseconds both = last(p);
    p.topology.edits = {edit(Kind::remove, "l1.n1.p0", "l2.p0.k1", 0)};
    const Picoseconds one = last(p);
    CHECK(one == kBenchWrite + 8 * 64 * kBenchTrunk + kBenchTrunk + kBenchWrite + kBenchAcross);
    CHECK(both < one * 2 / 3);
}

TEST_CASE("fabric: a slow plane, a slow edge, an extra latency", "[fabric]") {
    FabricParams p = bench_params(2, 2, 1, 2, 1);
    SECTION("half rate on plane 0 doubles every service there") {
        p.topology.edits = {edit(Kind::slow, "", "", 0, 0.5)};
        CHECK(alone(p, 0, 2, 0) == 4 * kBenchWrite + 4 * kBenchTrunk + kBenchAcross);
        CHECK(alone(p, 0, 2, 512) == kAloneAcross);
    }
    SECTION("one port at a quarter") {
        p.topology.edits = {edit(Kind::slow, "l1.n0.p0", "card0", 0, 0.25)};
        CHECK(alone(p, 0, 2, 0) == kAloneAcross + 3 * kBenchWrite);
        CHECK(alone(p, 1, 2, 0) == kAloneAcross);
    }
    SECTION("extra latency, to every link of the plane") {
        p.topology.edits = {edit(Kind::slow, "", "", 0, 1.0, 1'000)};
        CHECK(alone(p, 0, 2, 0) == kAloneAcross + 4'000);
        CHECK(alone(p, 0, 1, 512) == 2 * kBenchWrite + kBenchInNode + 2'000);
    }
    SECTION("twice the same edit acts twice") {
        p.topology.edits = {edit(Kind::slow, "card0", "l1.n0.p0", 0, 0.5),
                            edit(Kind::slow, "card0", "l1.n0.p0", 0, 0.5)};
        CHECK(alone(p, 0, 2, 0) == kAloneAcross + 3 * kBenchWrite);
    }
}

TEST_CASE("fabric: a slow die-to-die link", "[fabric]") {
    FabricParams p = bench_params(1, 1, 2, 1, 0);
    CHECK(alone(p, 0, 1, 0) == kBenchSio + 30'000);
    p.topology.edits = {edit(Kind::slow, "card1", "card0", -1, 0.5, 5'000)};
    CHECK(alone(p, 0, 1, 0) == 2 * kBenchSio + 35'000);
}

TEST_CASE("fabric: a plane down costs its share of the bandwidth", "[fabric]") {
    const auto last = [](const FabricParams& params) {
        FabricBench bench(params, 4);
        for (std::uint64_t i = 0; i < 3 * 2 * 40; ++i) {
            bench.write(0, 1, i * 512);
        }
        bench.engine.run();
        return std::max_element(bench.landed.begin(), bench.landed.end(),
                                [](const Landed& a, const Landed& b) { return a.at < b.at; })
            ->at;
    };
    FabricParams p = bench_params(1, 4, 1, 3, 0);
    CHECK(last(p) == (80 + 1) * kBenchWrite + kBenchInNode);
    p.topology.edits = {edit(Kind::remove, "", "", 1)};
    CHECK(last(p) == (120 + 1) * kBenchWrite + kBenchInNode);
}
