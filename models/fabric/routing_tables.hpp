// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Every route and latency of the fabric as flat arrays, computed once from the topology graph.
///
/// "Row" = offset of a switch's lines in `group` and `distance`; "column" = a switch that used cards hang on,
/// numbered within its plane. `group[row + column]` names the equally short ways on (a range of
/// `group_links`), or says that the packet leaves to a card here.
#include "models/engine/units.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace podsim {

enum class LinkKind : std::uint8_t {
    card_up,    ///< card port -> its first switch
    card_down,  ///< last switch -> card port
    trunk,      ///< switch -> switch
    sio,        ///< die -> the other die of its package
};

inline constexpr std::uint32_t kNoLink = ~std::uint32_t{0};

/// One direction of one edge of the graph.
struct LinkSpec {
    std::uint32_t from = 0;  ///< vertex
    std::uint32_t to = 0;    ///< vertex
    LinkKind kind{};
    std::int32_t plane = -1;  ///< -1: SIO
    double rate_scale = 1.0;
    Picoseconds latency = 0;  ///< of the link and of the switch it leaves
};

/// A card's port on one plane: everything a packet's first and last hop need, in one place.
struct CardPort {
    static constexpr std::uint32_t kNoRow = ~std::uint32_t{0};
    static constexpr std::uint32_t kNoColumn = ~std::uint32_t{0};
    std::uint32_t up = kNoLink;
    std::uint32_t down = kNoLink;
    std::uint32_t row = kNoRow;        ///< of the switch the port hangs on
    std::uint32_t column = kNoColumn;  ///< of that switch
    Picoseconds up_latency = 0;
    Picoseconds down_latency = 0;  ///< that of the switch included
};

struct RoutingTables {
    static constexpr std::uint32_t kDeliver = ~std::uint32_t{0};          ///< in `group`: the card hangs here
    static constexpr std::uint32_t kUnreachable = ~std::uint32_t{0} - 1;  ///< in `group`

    std::uint32_t cards = 0;   ///< used cards; card c is vertex c
    std::uint32_t planes = 0;  ///< all planes, those that are down too
    std::vector<std::string> vertex_names;
    std::vector<LinkSpec> links;          ///< those on some route between used cards
    std::vector<std::uint32_t> link_row;  ///< [link] row of the switch it leads to, CardPort::kNoRow: to a card
    std::vector<CardPort> ports;          ///< [card * planes + plane]
    std::vector<std::uint32_t> sio;       ///< [card] link to the other die or kNoLink
    std::vector<std::uint32_t> group;
    std::vector<Picoseconds> distance;       ///< [row + column] between switches, kNever: no way
    std::vector<std::uint32_t> group_begin;  ///< [group], one more at the end
    std::vector<std::uint32_t> group_links;  ///< link numbers
    bool every_plane_connects_all = false;   ///< no card port and no pair lacks any plane

    const CardPort& port(std::uint32_t card, std::uint32_t plane) const {
        return ports[std::size_t{card} * planes + plane];
    }
    CardPort& port(std::uint32_t card, std::uint32_t plane) { return ports[std::size_t{card} * planes + plane]; }
    /// True when `plane` has a way between the two cards.
    bool connects(std::uint32_t from, std::uint32_t to, std::uint32_t plane) const;
    /// True when the two cards are joined by a die-to-die link.
    bool joined_by_sio(std::uint32_t from, std::uint32_t to) const {
        return sio[from] != kNoLink && links[sio[from]].to == to;
    }
    /// Latency of the way by `plane`, without queues and service; the plane must connect the cards.
    Picoseconds latency(std::uint32_t from, std::uint32_t to, std::uint32_t plane) const;
    /// Latency by SIO where the cards have it, else by the shortest plane.
    Picoseconds one_way_latency(std::uint32_t from, std::uint32_t to) const;
};

}  // namespace podsim
