// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The fabric as a graph: cards, switches and the edges between them, generated from TopologyParams, changed
/// by its edits. Everything the hot path needs of it is put into RoutingTables.
#include "models/fabric/fabric_params.hpp"
#include "models/fabric/routing_tables.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace podsim {

class TopologyGraph;  // boost::adjacency_list, topology_graph.hpp

class Topology {
public:
    /// Builds the graph of the whole machine and applies the edits, in order.
    /// Throws UserError (pointer "/machine/topology/edits/<n>/…") for an edit that names no vertex or edge.
    explicit Topology(const FabricParams& params);
    ~Topology();
    Topology(Topology&&) noexcept;
    Topology& operator=(Topology&&) noexcept;

    /// Shortest paths by latency (fewer hops first where that is equal) between the first `cards_used` cards.
    /// Throws UserError when two of them have neither a plane nor SIO in common, or there are not that many.
    RoutingTables routes(std::uint32_t cards_used) const;

    std::size_t vertices() const;
    std::size_t edges() const;
    bool has_edge(const std::string& from, const std::string& to, std::int32_t plane) const;
    /// The generated vertex name most like `name`.
    std::string nearest_name(const std::string& name) const;

private:
    std::unique_ptr<TopologyGraph> graph_;
    Picoseconds switch_latency_ = 0;
};

}  // namespace podsim
