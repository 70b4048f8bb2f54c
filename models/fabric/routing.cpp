// SPDX-License-Identifier: Apache-2.0
// Shortest paths over the topology graph, flattened into RoutingTables.
#include "models/engine/error.hpp"
#include "models/fabric/topology.hpp"
#include "models/fabric/topology_graph.hpp"

#include <fmt/format.h>
#include <boost/graph/dijkstra_shortest_paths.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

namespace podsim {

namespace {

/// Path lengths are latency * kHopScale + hops: of equally long ways the one with fewer hops, and no edge is
/// free, which would let packets run in circles.
constexpr std::int64_t kHopScale = 1024;

struct Arc {
    std::uint32_t to = 0;  // switch, numbered within its plane
    std::uint32_t id = 0;  // 2 * edge + direction
    std::int64_t weight = 0;
};

struct WeightedEdge {
    std::int64_t weight = 0;
};
using PlaneGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property, WeightedEdge>;

class RouteBuilder {
public:
    RouteBuilder(const TopologyGraph& topology, Picoseconds switch_latency, std::uint32_t cards_used)
        : graph_(topology.graph), edited_(topology.edited), switch_latency_(switch_latency) {
        tables_.cards = cards_used;
        tables_.planes = topology.planes;
    }

    RoutingTables build() {
        number_edges();
        row_of_switch_.assign(num_vertices(graph_), CardPort::kNoRow);
        tables_.ports.assign(std::size_t{tables_.cards} * tables_.planes, {});
        tables_.sio.assign(tables_.cards, kNoLink);
        tables_.group_begin.push_back(0);
        for (std::uint32_t plane = 0; plane < tables_.planes; ++plane) {
            build_plane(plane);
        }
        use_card_links();
        keep_used_links();
        for (const Vertex v : boost::make_iterator_range(boost::vertices(graph_))) {
            tables_.vertex_names.push_back(graph_[v].name);
        }
        check_connections();
        return std::move(tables_);
    }

private:
    using Edge = BoostGraph::edge_descriptor;

    void number_edges() {
        for (const Edge& edge : boost::make_iterator_range(boost::edges(graph_))) {
            edges_.push_back(edge);
        }
        used_.assign(2 * edges_.size(), false);
    }

    bool is_used_card(Vertex v) const { return graph_[v].is_card() && v < tables_.cards; }

    void build_plane(std::uint32_t plane) {
        std::vector<Vertex> switches;
        std::vector<std::uint32_t> local(num_vertices(graph_), 0);
        for (const Vertex v : boost::make_iterator_range(boost::vertices(graph_))) {
            if (graph_[v].plane == static_cast<std::int32_t>(plane)) {
                local[v] = static_cast<std::uint32_t>(switches.size());
                switches.push_back(v);
            }
        }
        PlaneGraph trunks(switches.size());
        std::vector<std::vector<Arc>> arcs(switches.size());
        std::vector<std::vector<std::uint32_t>> cards_at(switches.size());
        for (std::uint32_t e = 0; e < edges_.size(); ++e) {
            const EdgeProperties& edge = graph_[edges_[e]];
            if (edge.plane != static_cast<std::int32_t>(plane)) {
                continue;
            }
            const Vertex a = source(edges_[e], graph_);
            const Vertex b = target(edges_[e], graph_);
            if (graph_[a].is_card() || graph_[b].is_card()) {
                const Vertex card = graph_[a].is_card() ? a : b;
                if (is_used_card(card)) {
                    cards_at[local[graph_[a].is_card() ? b : a]].push_back(static_cast<std::uint32_t>(card));
                }
                continue;
            }
            const std::int64_t weight = (edge.latency + switch_latency_) * kHopScale + 1;
            add_edge(local[a], local[b], WeightedEdge{weight}, trunks);
            arcs[local[a]].push_back({local[b], 2 * e, weight});
            arcs[local[b]].push_back({local[a], 2 * e + 1, weight});
        }

        std::vector<std::uint32_t> columns;
        for (std::uint32_t s = 0; s < switches.size(); ++s) {
            if (!cards_at[s].empty()) {
                columns.push_back(s);
            }
        }
        const auto first_row = static_cast<std::uint32_t>(tables_.group.size());
        const auto width = static_cast<std::uint32_t>(columns.size());
        tables_.group.resize(first_row + switches.size() * width, RoutingTables::kUnreachable);
        tables_.distance.resize(tables_.group.size(), kNever);
        for (std::uint32_t s = 0; s < switches.size(); ++s) {
            row_of_switch_[switches[s]] = first_row + s * width;
        }
        for (std::uint32_t c = 0; c < width; ++c) {
            for (const std::uint32_t card : cards_at[columns[c]]) {
                CardPort& port = tables_.port(card, plane);
                port.row = first_row + columns[c] * width;
                port.column = c;
            }
            route_to(trunks, arcs, columns[c], first_row + c, width);
        }
        mark_used(arcs, columns, first_row, width);
    }

    /// Fills one column: from every switch of the plane to switch `destination`.
    void route_to(const PlaneGraph& trunks, const std::vector<std::vector<Arc>>& arcs, std::uint32_t destination,
                  std::uint32_t first_cell, std::uint32_t width) {
        constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max();
        std::vector<std::int64_t> length(arcs.size(), kInfinite);
        boost::dijkstra_shortest_paths(
            trunks, destination,
            boost::weight_map(get(&WeightedEdge::weight, trunks)).distance_map(length.data()).distance_inf(kInfinite));
        for (std::uint32_t s = 0; s < arcs.size(); ++s) {
            if (length[s] == kInfinite) {
                continue;
            }
            const std::size_t cell = first_cell + std::size_t{s} * width;
            tables_.distance[cell] = length[s] / kHopScale;
            if (s == destination) {
                tables_.group[cell] = RoutingTables::kDeliver;
                continue;
            }
            std::vector<std::uint32_t> ways;
            for (const Arc& arc : arcs[s]) {
                if (length[arc.to] != kInfinite && length[arc.to] + arc.weight == length[s]) {
                    ways.push_back(arc.id);
                }
            }
            tables_.group[cell] = group_of(ways);
        }
    }

    /// Most cells of a switch share one set of ways; each set is stored once.
    std::uint32_t group_of(const std::vector<std::uint32_t>& ways) {
        const auto next = static_cast<std::uint32_t>(tables_.group_begin.size() - 1);
        const auto [entry, added] = group_numbers_.emplace(ways, next);
        if (added) {
            tables_.group_links.insert(tables_.group_links.end(), ways.begin(), ways.end());
            tables_.group_begin.push_back(static_cast<std::uint32_t>(tables_.group_links.size()));
        }
        return entry->second;
    }

    /// Links that no packet between used cards can take get no model.
    void mark_used(const std::vector<std::vector<Arc>>& arcs, const std::vector<std::uint32_t>& columns,
                   std::uint32_t first_row, std::uint32_t width) {
        for (std::uint32_t c = 0; c < width; ++c) {
            std::vector<bool> seen(arcs.size(), false);
            std::vector<std::uint32_t> open;
            for (const std::uint32_t s : columns) {
                seen[s] = true;
                open.push_back(s);
            }
            while (!open.empty()) {
                const std::uint32_t s = open.back();
                open.pop_back();
                const std::uint32_t group = tables_.group[first_row + std::size_t{s} * width + c];
                if (group == RoutingTables::kDeliver || group == RoutingTables::kUnreachable) {
                    continue;
                }
                const auto begin = tables_.group_links.begin() + tables_.group_begin[group];
                const auto end = tables_.group_links.begin() + tables_.group_begin[group + 1];
                for (const Arc& arc : arcs[s]) {
                    if (std::find(begin, end, arc.id) != end) {
                        used_[arc.id] = true;
                        if (!seen[arc.to]) {
                            seen[arc.to] = true;
                            open.push_back(arc.to);
                        }
                    }
                }
            }
        }
    }

    void use_card_links() {
        for (std::uint32_t e = 0; e < edges_.size(); ++e) {
            const Vertex a = source(edges_[e], graph_);
            const Vertex b = target(edges_[e], graph_);
            if (graph_[edges_[e]].plane < 0) {
                used_[2 * e] = used_[2 * e + 1] = is_used_card(a) && is_used_card(b);
            } else if (is_used_card(a) || is_used_card(b)) {
                used_[2 * e] = used_[2 * e + 1] = true;
            }
        }
    }

    void keep_used_links() {
        std::vector<std::uint32_t> new_number(used_.size(), kNoLink);
        for (std::uint32_t id = 0; id < used_.size(); ++id) {
            if (!used_[id]) {
                continue;
            }
            new_number[id] = static_cast<std::uint32_t>(tables_.links.size());
            const Edge& edge = edges_[id / 2];
            Vertex from = source(edge, graph_);
            Vertex to = target(edge, graph_);
            if (id % 2 == 1) {
                std::swap(from, to);
            }
            add_link(graph_[edge], from, to);
        }
        for (std::uint32_t& link : tables_.group_links) {
            link = new_number[link];
        }
    }

    void add_link(const EdgeProperties& edge, Vertex from, Vertex to) {
        const auto number = static_cast<std::uint32_t>(tables_.links.size());
        LinkSpec link{static_cast<std::uint32_t>(from),
                      static_cast<std::uint32_t>(to),
                      LinkKind::trunk,
                      edge.plane,
                      edge.rate_scale,
                      edge.latency};
        if (edge.plane < 0) {
            link.kind = LinkKind::sio;
            tables_.sio[from] = number;
        } else if (graph_[from].is_card()) {
            link.kind = LinkKind::card_up;
            CardPort& port = tables_.port(link.from, static_cast<std::uint32_t>(edge.plane));
            port.up = number;
            port.up_latency = link.latency;
        } else {
            link.latency += switch_latency_;
            if (graph_[to].is_card()) {
                link.kind = LinkKind::card_down;
                CardPort& port = tables_.port(link.to, static_cast<std::uint32_t>(edge.plane));
                port.down = number;
                port.down_latency = link.latency;
            }
        }
        tables_.links.push_back(link);
        tables_.link_row.push_back(graph_[to].is_card() ? CardPort::kNoRow : row_of_switch_[to]);
    }

    /// Cards on the same switches reach the same cards, so one of each kind stands for all.
    void check_connections() {
        std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> alike;
        for (std::uint32_t card = 0; card < tables_.cards; ++card) {
            std::vector<std::uint32_t> rows;
            for (std::uint32_t plane = 0; plane < tables_.planes; ++plane) {
                rows.push_back(tables_.port(card, plane).row);
            }
            alike[rows].push_back(card);
        }
        tables_.every_plane_connects_all = true;
        for (const auto& [rows_a, cards_a] : alike) {
            for (const auto& [rows_b, cards_b] : alike) {
                check_connection(cards_a, cards_b);
            }
        }
    }

    void check_connection(const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to) {
        std::uint32_t ways = 0;
        for (std::uint32_t plane = 0; plane < tables_.planes; ++plane) {
            ways += tables_.connects(from.front(), to.front(), plane) ? 1 : 0;
        }
        tables_.every_plane_connects_all = tables_.every_plane_connects_all && ways == tables_.planes;
        if (ways > 0) {
            return;
        }
        for (const std::uint32_t a : from) {
            for (const std::uint32_t b : to) {
                if (a != b && !tables_.joined_by_sio(a, b)) {
                    throw UserError({"", edited_ ? "/machine/topology/edits" : "/machine/topology",
                                     "a path between any two of the cards used",
                                     fmt::format("no plane joins card{} and card{}", a, b),
                                     "nodes are joined by l2_switches_per_plane switches on each plane, less the "
                                     "edges that edits remove"});
                }
            }
        }
    }

    const BoostGraph& graph_;
    bool edited_;
    Picoseconds switch_latency_;
    RoutingTables tables_;
    std::vector<Edge> edges_;
    std::vector<bool> used_;  // [2 * edge + direction]
    std::vector<std::uint32_t> row_of_switch_;
    std::map<std::vector<std::uint32_t>, std::uint32_t> group_numbers_;
};

}  // namespace

RoutingTables Topology::routes(std::uint32_t cards_used) const {
    if (cards_used == 0 || cards_used > graph_->cards) {
        throw UserError({"", "/cards", fmt::format("1 to {}, the cards of the machine", graph_->cards),
                         fmt::format("{}", cards_used), ""});
    }
    return RouteBuilder(*graph_, switch_latency_, cards_used).build();
}

}  // namespace podsim
