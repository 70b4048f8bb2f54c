// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Parameters of the HCCS fabric; values and sources stand in the machine file (`/topology`, `/hccs`).
#include "models/engine/param.hpp"
#include "models/engine/units.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace podsim {

/// One change to the generated graph, from `/topology/edits` of the machine file.
/// Vertex names: "card<c>", "l1.n<node>.p<plane>", "l2.p<plane>.k<k>"; an added hop may use a new name.
struct TopologyEdit {
    enum class Kind : std::uint8_t { remove, add, slow };
    Kind kind = Kind::remove;
    std::string from, to;           ///< the edge's ends (edges are bidirectional); "" with plane set = the plane
    std::int32_t plane = -1;        ///< which plane the edge belongs to (needed between card and switch, >= 0)
    double rate_scale = 1.0;        ///< slow: link rate is multiplied by this
    Picoseconds extra_latency = 0;  ///< slow, add: added to the latency of a link of its kind
    bool operator==(const TopologyEdit&) const = default;
};

struct TopologyParams {
    Param<std::uint32_t> nodes;
    Param<std::uint32_t> packages_per_node;
    Param<std::uint32_t> dies_per_package;  ///< 1 or 2; a card is a die
    Param<std::uint32_t> planes;
    Param<std::uint32_t> l2_switches_per_plane;  ///< 0 when one node is all there is
    std::vector<TopologyEdit> edits;

    std::uint32_t cards_per_node() const { return packages_per_node.peek() * dies_per_package.peek(); }
    std::uint32_t cards() const { return nodes.peek() * cards_per_node(); }
};

/// How the L1 switch of the source picks one of several equally short ways up.
enum class PathChoice : std::uint8_t { by_pair, by_address };

struct FabricParams {
    TopologyParams topology;
    Param<std::uint64_t> link_rate;         ///< bytes/µs on the wire, one plane, one direction
    Param<std::uint32_t> header_bytes;      ///< wire bytes a packet adds to its payload
    Param<std::uint32_t> flit_bytes;        ///< packets occupy whole flits
    Param<std::uint64_t> port_write_rate;   ///< payload bytes/µs a card port takes or gives per plane for writes
    Param<std::uint64_t> port_read_rate;    ///< the same for reads (read replies)
    Param<Picoseconds> port_latency;        ///< card port incl. SerDes and the way to a core, one way, card <-> L1
    Param<Picoseconds> switch_latency;      ///< through one L1 or L2 switch
    Param<Picoseconds> span_latency;        ///< optical span L1 <-> L2
    Param<std::uint64_t> sio_rate;          ///< bytes/µs die to die in one package, one direction
    Param<Picoseconds> sio_latency;         ///< one way
    Param<std::uint32_t> plane_hash_bytes;  ///< interleave granularity of the address hash (512 or 1024)
    Param<PathChoice> path_choice;
    Param<bool> network_in_order;        ///< blocks of one (source, destination) pair land in the order they
                                         ///< reached their first switch
    Param<bool> noc_first_packet_order;  ///< … in the order their core issued them (needs network_in_order)
    Param<Picoseconds> extra_reorder;    ///< seeded random delay in [0, this) before a block lands; 0 = off
};

}  // namespace podsim
