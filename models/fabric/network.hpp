// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The fabric's behaviour, without SystemC hierarchy: packets, links, order.
///
/// Store and forward, packet by packet: a packet that is at a link at time t leaves it at
/// max(t, link free) + service and is at the far end a latency later. Queues are unbounded. Acknowledgements
/// take the latency of the way back and no bandwidth (a flit against the 27 of a block).
#include "models/engine/engine_if.hpp"
#include "models/engine/partitions.hpp"
#include "models/fabric/block_observer.hpp"
#include "models/fabric/fabric_if.hpp"
#include "models/fabric/fabric_params.hpp"
#include "models/fabric/fabric_statistics.hpp"
#include "models/fabric/flight_pool.hpp"
#include "models/fabric/link.hpp"
#include "models/fabric/order_keeper.hpp"
#include "models/fabric/plane_hash.hpp"
#include "models/fabric/routing_tables.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace podsim {

class Network final : public FabricIf {
public:
    /// `params` must outlive the network (it marks the parameters that mattered). Throws UserError as
    /// Topology does.
    Network(const FabricParams& params, std::uint32_t cards_used, std::uint64_t seed);
    Network(const FabricParams&& params, std::uint32_t cards_used, std::uint64_t seed) = delete;

    /// Once, before the first event: registers a unit per link and per card, in a fixed order.
    /// `sinks[c]` is card c.
    void attach(EngineIf& engine, std::vector<BlockSinkIf*> sinks);
    void observe(BlockObserverIf* observer) { observer_ = observer; }

    /// `now` may lie after the engine's instant (the packet then waits for it, for one more event), never before.
    void send(BlockPacket packet, Picoseconds now) override;
    void acknowledge(const BlockPacket& packet, Picoseconds landed_at) override;
    void reply(BlockPacket packet, BlockData data, Picoseconds read_at) override;

    /// Latency from card to card without queues and service; the best plane, or SIO.
    Picoseconds one_way_latency(CardId from, CardId to) const;
    /// Latency an acknowledgement of a store to `address` takes back to `requester`.
    Picoseconds return_latency(GmAddress address, CardId requester) const;
    /// What Partitions may count on: the least latency into the fabric and out of it.
    Lookahead lookahead() const;
    /// Plane of packets between the two cards about `address`; nothing for SIO.
    std::optional<PlaneId> plane_of(GmAddress address, CardId requester) const;

    std::size_t packets_in_flight() const { return pool_.in_use(); }
    const RoutingTables& routes() const { return tables_; }
    /// In the order of routes().links.
    std::vector<LinkStatistics> link_statistics() const;
    LinkCounters counters(std::size_t link) const;
    PortStatistics port_statistics(CardId card, PlaneId plane) const;
    FabricTotals totals() const;
    /// Marks the parameters that the traffic so far depended on as used. Call before reporting unused ones.
    void note_parameter_use() const;

private:
    friend class Link;

    /// Wakes the network for one card: packets to be sent later, packets that landed but are delayed.
    struct CardUnit final : Unit {
        void on_event(Picoseconds now, Phase phase, std::uint64_t tag) override;
        Network* network = nullptr;
    };

    void launch(BlockPacket&& packet, CardId source, CardId destination, Picoseconds now);
    void enter(std::uint32_t id, Picoseconds now);
    void enqueue(std::uint32_t link_number, const Hop& hop, Picoseconds now);
    void schedule_head(Link& link);
    void on_arrival(Link& link, Picoseconds now);
    std::uint32_t next_link(const Link& link, const Hop& hop) const;
    void last_hop_done(std::uint32_t id, Picoseconds now);
    void landed(std::uint32_t id, Picoseconds now);
    void deliver(std::uint32_t id, Picoseconds arrived, Picoseconds now);
    std::uint32_t plane_between(GmAddress address, std::uint32_t source, std::uint32_t destination) const;
    std::uint32_t path_hash(GmAddress address, std::uint32_t source, std::uint32_t destination) const;

    const FabricParams& params_;
    RoutingTables tables_;
    LinkTimings timings_;
    PlaneHash hash_;
    PathChoice path_choice_;
    Picoseconds extra_reorder_;
    std::uint64_t seed_;
    EngineIf* engine_ = nullptr;
    BlockObserverIf* observer_ = nullptr;
    std::vector<BlockSinkIf*> sinks_;
    std::vector<Link> links_;
    std::vector<CardUnit> card_units_;
    std::vector<Picoseconds> first_start_;     // per link
    std::vector<std::uint64_t> sent_by_card_;  // keys of the extra delays
    std::vector<Picoseconds> extra_delay_;     // per flight, while there are such delays
    std::optional<OrderKeeper> order_;
    FlightPool pool_;
    bool reads_ = false;  // whether any read came by
};

}  // namespace podsim
