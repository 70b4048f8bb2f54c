// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/topology.hpp"

#include "models/engine/error.hpp"
#include "models/fabric/topology_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace podsim {

namespace {

constexpr std::uint64_t kMostEdges = 1'000'000;  // some 100 MB; the published pod has 11,000

/// Edit distance, so that "l1.n0p0" finds "l1.n0.p0".
std::size_t distance_between(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row.back();
}

}  // namespace

TopologyGraph::TopologyGraph(const FabricParams& params)
    : cards(params.topology.cards()),
      planes(params.topology.planes.get()),
      dies_per_package(params.topology.dies_per_package.get()),
      port_latency(params.port_latency.peek()),
      span_latency(params.span_latency.peek()),
      sio_latency(params.sio_latency.peek()) {
    const TopologyParams& shape = params.topology;
    const std::uint32_t nodes = shape.nodes.get();
    const std::uint32_t cards_per_node = shape.packages_per_node.get() * dies_per_package;
    check(cards > 0 && planes > 0, "a machine has cards and planes");
    check(dies_per_package <= 2, "a package has one or two dies");
    const std::uint64_t edges =
        std::uint64_t{planes} * (cards + std::uint64_t{nodes} * shape.l2_switches_per_plane.get());
    if (edges > kMostEdges) {
        throw UserError({"", "/machine/topology",
                         fmt::format("at most {} edges between cards and switches", kMostEdges),
                         fmt::format("{} edges", edges), "planes x (cards + nodes x l2_switches_per_plane)"});
    }

    for (std::uint32_t card = 0; card < cards; ++card) {
        const std::string name = fmt::format("card{}", card);
        by_name.emplace(name, add_vertex(VertexProperties{name}, graph));
    }
    if (dies_per_package == 2) {
        for (std::uint32_t card = 0; card < cards; card += 2) {
            connect(card, card + 1, -1);
        }
    }
    for (std::uint32_t plane = 0; plane < planes; ++plane) {
        std::vector<Vertex> first_tier;
        for (std::uint32_t node = 0; node < nodes; ++node) {
            first_tier.push_back(add_switch(fmt::format("l1.n{}.p{}", node, plane), plane));
            for (std::uint32_t i = 0; i < cards_per_node; ++i) {
                connect(node * cards_per_node + i, first_tier.back(), static_cast<std::int32_t>(plane));
            }
        }
        for (std::uint32_t k = 0; k < shape.l2_switches_per_plane.get(); ++k) {
            const Vertex second_tier = add_switch(fmt::format("l2.p{}.k{}", plane, k), plane);
            for (const Vertex l1 : first_tier) {
                connect(l1, second_tier, static_cast<std::int32_t>(plane));
            }
        }
    }
}

Vertex TopologyGraph::add_switch(std::string name, std::uint32_t plane) {
    const Vertex added = add_vertex(VertexProperties{name, static_cast<std::int32_t>(plane)}, graph);
    by_name.emplace(std::move(name), added);
    return added;
}

BoostGraph::edge_descriptor TopologyGraph::connect(Vertex a, Vertex b, std::int32_t plane) {
    const int cards_joined = (graph[a].is_card() ? 1 : 0) + (graph[b].is_card() ? 1 : 0);
    const Picoseconds latency = cards_joined == 2 ? sio_latency : cards_joined == 1 ? port_latency : span_latency;
    return add_edge(a, b, EdgeProperties{plane, 1.0, latency}, graph).first;
}

std::string TopologyGraph::nearest_name(const std::string& name) const {
    std::string best;
    std::size_t best_distance = ~std::size_t{0};
    for (const Vertex v : boost::make_iterator_range(boost::vertices(graph))) {
        const std::size_t d = distance_between(name, graph[v].name);
        if (!graph[v].added && d < best_distance) {
            best_distance = d;
            best = graph[v].name;
        }
    }
    return best;
}

Topology::Topology(const FabricParams& params)
    : graph_(std::make_unique<TopologyGraph>(params)), switch_latency_(params.switch_latency.get()) {
    const auto& edits = params.topology.edits;
    for (std::size_t i = 0; i < edits.size(); ++i) {
        graph_->apply(edits[i], i);
    }
    graph_->check_added_switches();
}

Topology::~Topology() = default;
Topology::Topology(Topology&&) noexcept = default;
Topology& Topology::operator=(Topology&&) noexcept = default;

std::size_t Topology::vertices() const { return num_vertices(graph_->graph); }
std::size_t Topology::edges() const { return num_edges(graph_->graph); }
std::string Topology::nearest_name(const std::string& name) const { return graph_->nearest_name(name); }

bool Topology::has_edge(const std::string& from, const std::string& to, std::int32_t plane) const {
    const auto a = graph_->by_name.find(from);
    const auto b = graph_->by_name.find(to);
    if (a == graph_->by_name.end() || b == graph_->by_name.end()) {
        return false;
    }
    const auto edges = boost::make_iterator_range(out_edges(a->second, graph_->graph));
    return std::any_of(edges.begin(), edges.end(), [&](const auto& edge) {
        return target(edge, graph_->graph) == b->second && graph_->graph[edge].plane == plane;
    });
}

}  // namespace podsim
