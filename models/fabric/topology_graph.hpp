// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Private to the topology's .cpp files: Boost.Graph takes seconds to compile.
#include "models/fabric/fabric_params.hpp"
#include "models/fabric/routing_tables.hpp"

#include <boost/graph/adjacency_list.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>

namespace podsim {

struct VertexProperties {
    std::string name;
    std::int32_t plane = -1;  ///< of a switch; -1: a card
    bool added = false;       ///< a switch that an edit brought in
    bool is_card() const { return plane < 0; }
};

struct EdgeProperties {
    std::int32_t plane = -1;  ///< -1: SIO
    double rate_scale = 1.0;
    Picoseconds latency = 0;  ///< of the link alone
};

using BoostGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, VertexProperties, EdgeProperties>;
using Vertex = BoostGraph::vertex_descriptor;

/// The graph, its names, and the parameters an added edge needs.
class TopologyGraph {
public:
    explicit TopologyGraph(const FabricParams& params);

    BoostGraph graph;
    std::unordered_map<std::string, Vertex> by_name;
    std::uint32_t cards = 0;
    std::uint32_t planes = 0;
    std::uint32_t dies_per_package = 1;
    bool edited = false;  ///< some edit was applied
    Picoseconds port_latency = 0;
    Picoseconds span_latency = 0;
    Picoseconds sio_latency = 0;

    Vertex add_switch(std::string name, std::uint32_t plane);
    /// Adds an edge with the latency of its kind.
    BoostGraph::edge_descriptor connect(Vertex a, Vertex b, std::int32_t plane);
    /// Among the generated names.
    std::string nearest_name(const std::string& name) const;
    void apply(const TopologyEdit& edit, std::size_t number);
    /// Throws UserError for an added switch that leads nowhere (most likely a misspelled name).
    void check_added_switches() const;
};

}  // namespace podsim
