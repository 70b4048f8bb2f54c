// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/network.hpp"

#include "models/engine/error.hpp"
#include "tests/support/fabric_bench.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <string>

using namespace podsim;
using namespace podsim::test;

namespace {

/// Some irregular traffic: every card writes and reads rows on several others.
void all_to_some(FabricBench& bench, std::uint32_t cards, std::uint32_t blocks) {
    for (std::uint32_t from = 0; from < cards; ++from) {
        for (std::uint32_t i = 0; i < blocks; ++i) {
            const std::uint32_t to = (from + 1 + (i * i + 3 * from) % (cards - 1)) % cards;
            const std::uint64_t offset = (std::uint64_t{from} * blocks + i) * kBlockBytes;
            if (i % 5 == 4) {
                bench.read(from, to, offset, i * 10'000, i % 3, 512 - 32 * (i % 4));
            } else {
                bench.write(from, to, offset, i * 10'000, i % 3, 512 - 32 * (i % 4));
            }
        }
    }
}

struct Sums {
    std::uint64_t packets_in = 0, packets_out = 0, bytes_in = 0, bytes_out = 0;
};

void check_conservation(const FabricBench& bench) {
    std::map<std::string, Sums> switches;
    for (const LinkStatistics& link : bench.network.link_statistics()) {
        const LinkCounters& c = link.counters;
        if (c.packets > 0) {
            CHECK(c.busy <= c.last_end - c.first_start);
            // No link carries more than its rate: 10 B/ns on the wire, 64 B/ns die to die.
            const double rate = (link.kind == LinkKind::sio ? 64.0 : 10.0) * link.rate_scale;
            const double rounding = rate / 1e3 * static_cast<double>(c.packets);  // services are whole ps
            CHECK(static_cast<double>(c.wire_bytes) <= static_cast<double>(c.busy) / 1e3 * rate + rounding);
        }
        switches[link.to].packets_in += c.packets;
        switches[link.to].bytes_in += c.payload_bytes;
        switches[link.from].packets_out += c.packets;
        switches[link.from].bytes_out += c.payload_bytes;
    }
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (const auto& [name, sums] : switches) {
        if (name.starts_with("card")) {
            sent += sums.bytes_out;
            received += sums.bytes_in;
        } else {
            CHECK(sums.packets_in == sums.packets_out);
            CHECK(sums.bytes_in == sums.bytes_out);
        }
    }
    CHECK(sent == received);
    const FabricTotals totals = bench.network.totals();
    CHECK(totals.bytes == sent);
    std::uint64_t planes = totals.sio_bytes;
    for (const std::uint64_t bytes : totals.plane_bytes) {
        planes += bytes;
    }
    CHECK(planes == totals.bytes);
    CHECK(bench.network.packets_in_flight() == 0);
}

}  // namespace

TEST_CASE("fabric: bytes in are bytes out, and no link is busier than its time", "[fabric]") {
    const auto [nodes, packages, dies, planes, l2] =
        GENERATE(table<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>(
            {{1, 4, 2, 7, 0}, {2, 2, 2, 3, 1}, {3, 5, 1, 2, 4}, {1, 1, 2, 1, 0}}));
    FabricParams params = bench_params(nodes, packages, dies, planes, l2);
    SECTION("unordered") {}
    SECTION("ordered, reordered") {
        params.network_in_order.set(true);
        params.noc_first_packet_order.set(true);
        params.extra_reorder.set(400'000);
    }
    FabricBench bench(params, params.topology.cards());
    all_to_some(bench, params.topology.cards(), 60);
    bench.engine.run();
    CHECK(bench.completions().size() == params.topology.cards() * 60);
    CHECK(bench.landed.size() == params.topology.cards() * 60);
    check_conservation(bench);
}

TEST_CASE("fabric: an uneven machine, six cards on one side and four on the other", "[fabric]") {
    FabricParams params = bench_params(2, 6, 1, 3, 2);
    params.topology.edits.resize(4);
    params.topology.edits[0].from = "card10";
    params.topology.edits[0].to = "l1.n1.p0";
    params.topology.edits[1].from = "card3";
    params.topology.edits[1].to = "l1.n0.p2";
    params.topology.edits[2].from = "l1.n0.p1";
    params.topology.edits[2].to = "l2.p1.k0";
    params.topology.edits[3].kind = TopologyEdit::Kind::slow;
    params.topology.edits[3].plane = 1;
    params.topology.edits[3].rate_scale = 0.3;
    FabricBench bench(params, 10);
    all_to_some(bench, 10, 80);
    bench.engine.run();
    CHECK(bench.completions().size() == 800);
    check_conservation(bench);
    CHECK(bench.network.port_statistics(CardId{3}, PlaneId{2}).out.packets == 0);
    CHECK(bench.network.port_statistics(CardId{3}, PlaneId{0}).out.packets > 0);
}

TEST_CASE("fabric: totals and port statistics count what was sent", "[fabric]") {
    FabricBench bench(bench_params(1, 2, 2, 2, 0), 4);
    bench.write(0, 2, 0);             // plane (0 + 2) % 2 = 0
    bench.write(0, 3, 0, 0, 0, 100);  // plane 1: 108 wire bytes, 110 in flits
    bench.write(0, 1, 0, 0, 0, 64);   // SIO
    bench.read(2, 0, 512);            // plane 1: a 10 B request out, 520 B back
    bench.engine.run();
    const FabricTotals totals = bench.network.totals();
    CHECK(totals.blocks == 4);
    CHECK(totals.bytes == 512 + 100 + 64 + 512);
    CHECK(totals.sio_bytes == 64);
    CHECK(totals.plane_bytes == std::vector<std::uint64_t>{512, 100 + 512});
    CHECK(totals.plane_wire_bytes == std::vector<std::uint64_t>{520, 110 + 10 + 520});
    CHECK(totals.wire_bytes == 520 + 110 + 10 + 520);
    const PortStatistics port = bench.network.port_statistics(CardId{0}, PlaneId{1});
    CHECK(port.out.packets == 2);
    CHECK(port.out.payload_bytes == 612);
    CHECK(port.in.packets == 1);
    CHECK(port.in.blocks == 0);
    CHECK(port.in.wire_bytes == 10);
}

TEST_CASE("fabric: blocks of a dead plane go by the planes that are left", "[fabric]") {
    FabricParams params = bench_params(1, 4, 1, 7, 0);
    params.topology.edits.resize(1);
    params.topology.edits[0].plane = 3;
    FabricBench bench(params, 4);
    for (std::uint64_t i = 0; i < 84; ++i) {
        bench.write(0, 1, i * 512);
    }
    bench.engine.run();
    CHECK(bench.completions().size() == 84);
    CHECK(bench.network.totals().plane_bytes ==
          std::vector<std::uint64_t>{14 * 512, 14 * 512, 14 * 512, 0, 14 * 512, 14 * 512, 14 * 512});
}

TEST_CASE("fabric: two ways up are shared by hash, a pair keeps its way", "[fabric]") {
    const auto ways = [](PathChoice choice, std::uint32_t destinations) {
        FabricParams params = bench_params(2, 8, 1, 1, 4);
        params.path_choice.set(choice);
        FabricBench bench(params, 16);
        for (std::uint32_t i = 0; i < 400; ++i) {
            bench.write(i % destinations, 8 + i / destinations % destinations, std::uint64_t{i} * 512);
        }
        bench.engine.run();
        std::vector<std::uint64_t> up;
        for (const LinkStatistics& link : bench.network.link_statistics()) {
            if (link.from == "l1.n0.p0" && link.kind == LinkKind::trunk) {
                up.push_back(link.counters.packets);
            }
        }
        return up;
    };
    const auto one_pair = ways(PathChoice::by_pair, 1);
    CHECK(std::count(one_pair.begin(), one_pair.end(), 400U) == 1);
    CHECK(std::count(one_pair.begin(), one_pair.end(), 0U) == 3);
    for (const std::uint64_t packets : ways(PathChoice::by_address, 1)) {
        CHECK(packets > 60);
        CHECK(packets < 140);
    }
    for (const std::uint64_t packets : ways(PathChoice::by_pair, 8)) {
        CHECK(packets > 25);
    }
}

TEST_CASE("fabric: parameters count as used when traffic depended on them", "[fabric]") {
    const FabricParams params = bench_params(2, 2, 2, 2, 1);
    FabricBench bench(params, 8);
    bench.network.note_parameter_use();
    CHECK_FALSE(params.link_rate.used());
    bench.write(0, 2, 0);
    bench.engine.run();
    bench.network.note_parameter_use();
    CHECK(params.link_rate.used());
    CHECK(params.port_write_rate.used());
    CHECK_FALSE(params.port_read_rate.used());
    CHECK_FALSE(params.span_latency.used());
    CHECK_FALSE(params.sio_rate.used());
    bench.write(0, 1, 0, bench.engine.now());
    bench.read(0, 7, 0, bench.engine.now());
    bench.engine.run();
    bench.network.note_parameter_use();
    CHECK(params.port_read_rate.used());
    CHECK(params.span_latency.used());
    CHECK(params.sio_rate.used());
}

TEST_CASE("fabric: what must not come to the fabric is a bug", "[fabric]") {
    FabricBench bench(bench_params(1, 2, 1, 2, 0), 2);
    CHECK_THROWS_AS(bench.write(1, 1, 0), InternalError);
    CHECK_THROWS_AS(bench.write(0, 2, 0), InternalError);
    CHECK_THROWS_AS(bench.write(0, 1, 256, 0, 0, 300), InternalError);
    CHECK_THROWS_AS(bench.write(0, 1, 0, 0, 0, 513), InternalError);
    bench.write(0, 1, 0, 1'000);
    bench.engine.run();
    CHECK_THROWS_AS(bench.write(0, 1, 0, 500), InternalError);
}

TEST_CASE("fabric: NoC order without network order is refused", "[fabric]") {
    FabricParams params = bench_params(1, 2, 1, 2, 0);
    params.noc_first_packet_order.set(true);
    CHECK_THROWS_AS(FabricBench(params, 2), UserError);
}

namespace {

struct Watcher final : BlockObserverIf {
    void sent(const BlockPacket&, CardId, CardId, Picoseconds at) override { log.emplace_back('s', at); }
    void hop(const BlockPacket&, const LinkUse& use) override {
        log.emplace_back('h', use.started - use.queued);
        CHECK(use.freed > use.started);
        CHECK(use.arrives >= use.freed);
    }
    void landed(const BlockPacket&, CardId, CardId to, Picoseconds arrived, Picoseconds at) override {
        log.emplace_back('l', at);
        CHECK(index(to) == 2);
        CHECK(arrived == at);
    }
    std::vector<std::pair<char, Picoseconds>> log;
};

}  // namespace

TEST_CASE("fabric: an observer sees packets sent, queued and landed", "[fabric]") {
    FabricBench bench(bench_params(1, 3, 1, 2, 0), 3);
    Watcher watcher;
    bench.network.observe(&watcher);
    bench.write(0, 2, 0);
    bench.write(0, 2, 1024);
    bench.engine.run();
    const std::vector<std::pair<char, Picoseconds>> expected{
        {'s', 0},
        {'h', 0},
        {'s', 0},
        {'h', kBenchWrite},  // the second waits for the first one's service
        {'h', 0},
        {'h', 0},
        {'l', 2 * kBenchWrite + kBenchInNode},
        {'l', 3 * kBenchWrite + kBenchInNode}};
    CHECK(watcher.log == expected);
}
