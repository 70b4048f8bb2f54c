// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/topology.hpp"

#include "models/engine/error.hpp"
#include "tests/support/fabric_bench.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <set>
#include <string>

using namespace podsim;
using namespace podsim::test;

namespace {

TopologyEdit edit(TopologyEdit::Kind kind, std::string from, std::string to, std::int32_t plane = -1) {
    TopologyEdit e;
    e.kind = kind;
    e.from = std::move(from);
    e.to = std::move(to);
    e.plane = plane;
    return e;
}
TopologyEdit removed(std::string from, std::string to, std::int32_t plane = -1) {
    return edit(TopologyEdit::Kind::remove, std::move(from), std::move(to), plane);
}
TopologyEdit added(std::string from, std::string to, std::int32_t plane = -1) {
    return edit(TopologyEdit::Kind::add, std::move(from), std::move(to), plane);
}

/// Follows every choice of every route and checks that it arrives after exactly the promised latency.
void check_all_routes(const RoutingTables& t) {
    for (std::uint32_t a = 0; a < t.cards; ++a) {
        for (std::uint32_t b = 0; b < t.cards; ++b) {
            for (std::uint32_t plane = 0; a != b && plane < t.planes; ++plane) {
                if (!t.connects(a, b, plane)) {
                    continue;
                }
                const std::uint32_t column = t.port(b, plane).column;
                const std::function<void(std::uint32_t, Picoseconds, int)> follow = [&](std::uint32_t link,
                                                                                        Picoseconds spent, int hops) {
                    REQUIRE(link < t.links.size());
                    REQUIRE(hops < 16);
                    spent += t.links[link].latency;
                    REQUIRE(t.links[link].plane == static_cast<std::int32_t>(plane));
                    if (t.link_row[link] == CardPort::kNoRow) {
                        REQUIRE(t.links[link].to == b);
                        REQUIRE(spent == t.latency(a, b, plane));
                        return;
                    }
                    const std::uint32_t group = t.group[t.link_row[link] + column];
                    if (group == RoutingTables::kDeliver) {
                        follow(t.port(b, plane).down, spent, hops + 1);
                        return;
                    }
                    REQUIRE(group != RoutingTables::kUnreachable);
                    REQUIRE(t.group_begin[group] < t.group_begin[group + 1]);
                    for (std::uint32_t i = t.group_begin[group]; i < t.group_begin[group + 1]; ++i) {
                        follow(t.group_links[i], spent, hops + 1);
                    }
                };
                follow(t.port(a, plane).up, 0, 0);
            }
        }
    }
}

std::string refusal(const FabricParams& params, std::uint32_t cards) {
    try {
        const RoutingTables tables = Topology(params).routes(cards);
    } catch (const UserError& e) {
        return e.detail().pointer + " | " + e.detail().found + " | " + e.detail().hint;
    }
    return "accepted";
}

}  // namespace

TEST_CASE("fabric: the generated graph has the machine's vertices and edges", "[fabric]") {
    SECTION("the published pod: 48 nodes of 16 cards, 7 planes, 16 L2 switches a plane") {
        const Topology pod(bench_params(48, 8, 2, 7, 16));
        CHECK(pod.vertices() == 768 + 48 * 7 + 16 * 7);
        CHECK(pod.edges() == 768 * 7 + 384 + 7 * 48 * 16);
        CHECK(pod.has_edge("card767", "l1.n47.p6", 6));
        CHECK_FALSE(pod.has_edge("card767", "l1.n46.p6", 6));
        CHECK(pod.has_edge("l1.n0.p3", "l2.p3.k15", 3));
        CHECK(pod.has_edge("card0", "card1", -1));
        CHECK_FALSE(pod.has_edge("card1", "card2", -1));
    }
    SECTION("one die a package: no SIO") {
        const Topology odd(bench_params(3, 5, 1, 2, 1));
        CHECK(odd.vertices() == 15 + 3 * 2 + 2);
        CHECK(odd.edges() == 15 * 2 + 3 * 2);
        CHECK_FALSE(odd.has_edge("card0", "card1", -1));
    }
}

TEST_CASE("fabric: every route arrives after the latency the tables promise", "[fabric]") {
    const auto [nodes, packages, dies, planes, l2] =
        GENERATE(table<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>(
            {{1, 1, 2, 1, 0}, {1, 4, 2, 7, 0}, {2, 2, 2, 3, 1}, {5, 3, 1, 2, 4}, {3, 1, 1, 7, 16}}));
    const FabricParams params = bench_params(nodes, packages, dies, planes, l2);
    const RoutingTables tables = Topology(params).routes(params.topology.cards());
    check_all_routes(tables);
    CHECK(tables.every_plane_connects_all);
    for (std::uint32_t a = 0; a < tables.cards; ++a) {
        for (std::uint32_t b = 0; b < tables.cards; ++b) {
            if (a == b) {
                continue;
            }
            const bool same_package = dies == 2 && a / 2 == b / 2;
            const bool same_node = a / (packages * dies) == b / (packages * dies);
            CHECK(tables.one_way_latency(a, b) == (same_package ? 30'000 : same_node ? kBenchInNode : kBenchAcross));
        }
    }
}

TEST_CASE("fabric: all L2 switches are equal ways up, one way down", "[fabric]") {
    const RoutingTables t = Topology(bench_params(4, 2, 2, 2, 5)).routes(16);
    const std::uint32_t l1 = t.port(0, 1).row;
    const std::uint32_t group = t.group[l1 + t.port(15, 1).column];
    CHECK(t.group_begin[group + 1] - t.group_begin[group] == 5);
    std::set<std::string> tops;
    for (std::uint32_t i = t.group_begin[group]; i < t.group_begin[group + 1]; ++i) {
        tops.insert(t.vertex_names[t.links[t.group_links[i]].to]);
    }
    CHECK(tops == std::set<std::string>{"l2.p1.k0", "l2.p1.k1", "l2.p1.k2", "l2.p1.k3", "l2.p1.k4"});
}

TEST_CASE("fabric: links that used cards cannot use get no model", "[fabric]") {
    const FabricParams pod = bench_params(48, 8, 2, 7, 16);
    // 8 cards of one node: up and down on 7 planes, and SIO both ways.
    CHECK(Topology(pod).routes(8).links.size() == 8 * 7 * 2 + 8);
    // 64 cards = 4 nodes: their trunks as well.
    CHECK(Topology(pod).routes(64).links.size() == 64 * 7 * 2 + 64 + 4 * 16 * 7 * 2);
    CHECK(Topology(pod).routes(768).links.size() == 768 * 7 * 2 + 768 + 48 * 16 * 7 * 2);
}

TEST_CASE("fabric: edits change routes and latencies", "[fabric]") {
    FabricParams p = bench_params(2, 2, 1, 2, 1);
    auto& edits = p.topology.edits;

    SECTION("a removed trunk takes its plane from the pairs that need it") {
        edits = {removed("l1.n0.p0", "l2.p0.k0")};
        const RoutingTables t = Topology(p).routes(4);
        check_all_routes(t);
        CHECK_FALSE(t.every_plane_connects_all);
        CHECK_FALSE(t.connects(0, 2, 0));
        CHECK_FALSE(t.connects(2, 0, 0));
        CHECK(t.connects(0, 2, 1));
        CHECK(t.connects(0, 1, 0));
    }
    SECTION("a removed plane leaves the others") {
        TopologyEdit down = removed("", "", 1);
        edits = {down};
        const RoutingTables t = Topology(p).routes(4);
        check_all_routes(t);
        CHECK_FALSE(t.connects(0, 1, 1));
        CHECK(t.connects(0, 3, 0));
    }
    SECTION("a removed card port") {
        edits = {removed("card1", "l1.n0.p1")};
        const RoutingTables t = Topology(p).routes(4);
        check_all_routes(t);
        CHECK_FALSE(t.connects(1, 0, 1));
        CHECK_FALSE(t.connects(3, 1, 1));
        CHECK(t.connects(0, 3, 1));
        CHECK(t.port(1, 1).up == kNoLink);
    }
    SECTION("a direct trunk between two L1 switches is shorter than the way by L2") {
        edits = {added("l1.n0.p0", "l1.n1.p0", 0)};
        const RoutingTables t = Topology(p).routes(4);
        check_all_routes(t);
        CHECK(t.latency(0, 2, 0) == 100'000 + 2 * 200'000 + 50'000 + 100'000);
        CHECK(t.latency(0, 2, 1) == kBenchAcross);
        CHECK(t.one_way_latency(0, 2) == 650'000);
    }
    SECTION("a hop put into a trunk") {
        TopologyEdit far = added("relay", "l2.p0.k0");
        far.extra_latency = 7'000;
        edits = {removed("l1.n0.p0", "l2.p0.k0"), added("l1.n0.p0", "relay", 0), far};
        const RoutingTables t = Topology(p).routes(4);
        check_all_routes(t);
        CHECK(t.latency(0, 2, 0) == kBenchAcross + 200'000 + 50'000 + 7'000);
        CHECK(t.latency(2, 0, 0) == t.latency(0, 2, 0));
    }
    SECTION("a parallel trunk is an equal way") {
        edits = {added("l1.n0.p0", "l2.p0.k0")};
        const RoutingTables t = Topology(p).routes(4);
        check_all_routes(t);
        const std::uint32_t group = t.group[t.port(0, 0).row + t.port(2, 0).column];
        CHECK(t.group_begin[group + 1] - t.group_begin[group] == 2);
    }
    SECTION("a longer equal-latency way is no way") {
        p.span_latency.set(0);
        p.switch_latency.set(0);
        edits = {added("l1.n0.p0", "a"), added("a", "l2.p0.k0")};
        check_all_routes(Topology(p).routes(4));
    }
    SECTION("a slow edge keeps its route; a slow plane is slow everywhere") {
        TopologyEdit slow = edit(TopologyEdit::Kind::slow, "card0", "l1.n0.p0");
        slow.rate_scale = 0.5;
        slow.extra_latency = 11'000;
        TopologyEdit slow_plane = edit(TopologyEdit::Kind::slow, "", "", 1);
        slow_plane.rate_scale = 0.25;
        edits = {slow, slow_plane};
        const RoutingTables t = Topology(p).routes(4);
        check_all_routes(t);
        CHECK(t.latency(0, 1, 0) == kBenchInNode + 11'000);
        CHECK(t.latency(1, 0, 0) == kBenchInNode + 11'000);
        for (const LinkSpec& link : t.links) {
            const bool card0 = link.plane == 0 && (link.from == 0 || link.to == 0);
            CHECK(link.rate_scale == (link.plane == 1 ? 0.25 : card0 ? 0.5 : 1.0));
        }
    }
    SECTION("a card moved to another switch") {
        edits = {removed("card1", "l1.n0.p0"), added("card1", "l2.p0.k0")};
        const RoutingTables t = Topology(p).routes(4);
        check_all_routes(t);
        CHECK(t.latency(1, 0, 0) == 100'000 + 2 * 200'000 + 50'000 + 100'000);
    }
}

TEST_CASE("fabric: removed SIO sends a package's traffic over the planes", "[fabric]") {
    FabricParams p = bench_params(1, 2, 2, 2, 0);
    CHECK(Topology(p).routes(4).one_way_latency(0, 1) == 30'000);
    p.topology.edits = {removed("card0", "card1")};
    const RoutingTables t = Topology(p).routes(4);
    CHECK_FALSE(t.joined_by_sio(0, 1));
    CHECK(t.joined_by_sio(3, 2));
    CHECK(t.one_way_latency(0, 1) == kBenchInNode);
    p.topology.edits.push_back(added("card1", "card0"));
    CHECK(Topology(p).routes(4).joined_by_sio(0, 1));
}

TEST_CASE("fabric: a lone package needs no plane at all", "[fabric]") {
    FabricParams p = bench_params(1, 1, 2, 1, 0);
    p.topology.edits = {removed("", "", 0)};
    CHECK(Topology(p).routes(2).one_way_latency(0, 1) == 30'000);
    p.topology.edits.push_back(removed("card0", "card1"));
    CHECK(refusal(p, 2).find("no plane joins card0 and card1") != std::string::npos);
    CHECK(Topology(p).routes(1).links.empty());
}

TEST_CASE("fabric: mistakes in the topology are the user's, with the nearest name", "[fabric]") {
    FabricParams p = bench_params(2, 2, 2, 2, 1);
    auto& edits = p.topology.edits;
    const auto with = [&](TopologyEdit e) {
        edits = {std::move(e)};
        return refusal(p, 8);
    };
    CHECK(with(removed("l1.n0p0", "card1")) ==
          "/machine/topology/edits/0/from | \"l1.n0p0\" | nearest is \"l1.n0.p0\"");
    CHECK(with(removed("card1", "l1.n0.p9")).starts_with("/machine/topology/edits/0/to | \"l1.n0.p9\""));
    CHECK(with(added("card8", "l1.n0.p0")).starts_with("/machine/topology/edits/0/from | \"card8\""));
    CHECK(with(removed("card0", "l1.n1.p0")).find("no edge card0 - l1.n1.p0") != std::string::npos);
    CHECK(with(added("card0", "l1.n0.p0")).find("card0 - l1.n0.p0 exists") != std::string::npos);
    CHECK(with(added("card0", "card2")).find("cards have links to switches only") != std::string::npos);
    CHECK(with(added("l1.n0.p0", "l1.n1.p1")).find("of plane 1") != std::string::npos);
    CHECK(with(removed("l1.n0.p0", "l2.p0.k0", 1)).starts_with("/machine/topology/edits/0/plane"));
    CHECK(with(removed("", "", 2)).starts_with("/machine/topology/edits/0/plane"));
    CHECK(with(removed("", "", -1)).starts_with("/machine/topology/edits/0/plane"));
    CHECK(with(removed("card0", "")).starts_with("/machine/topology/edits/0/to"));
    CHECK(with(removed("card0", "card0")).starts_with("/machine/topology/edits/0/to"));
    CHECK(with(added("", "", 1)).starts_with("/machine/topology/edits/0/from"));
    CHECK(with(added("x", "y")).starts_with("/machine/topology/edits/0/plane"));
    CHECK(with(added("l1_n0.p0", "l2.p0.k0")).find("new switch \"l1_n0.p0\" has 1") != std::string::npos);
    TopologyEdit slow = edit(TopologyEdit::Kind::slow, "card0", "l1.n0.p0");
    slow.rate_scale = 0;
    CHECK(with(slow).starts_with("/machine/topology/edits/0/rate_scale"));
    slow.rate_scale = 1;
    slow.extra_latency = -1;
    CHECK(with(slow).starts_with("/machine/topology/edits/0/extra_latency_ns"));

    edits.clear();
    CHECK(refusal(p, 9).starts_with("/cards | 9"));
    CHECK(refusal(p, 0).starts_with("/cards | 0"));
    CHECK(refusal(p, 8) == "accepted");
    CHECK(refusal(bench_params(1024, 8, 2, 64, 256), 16).starts_with("/machine/topology | 17825792 edges"));
}

TEST_CASE("fabric: nodes without a path between them are refused when they are used", "[fabric]") {
    const FabricParams p = bench_params(2, 2, 2, 3, 0);
    CHECK(refusal(p, 4) == "accepted");
    CHECK(refusal(p, 5).starts_with("/machine/topology | no plane joins card0 and card4"));
}
