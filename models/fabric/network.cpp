// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/network.hpp"

#include "models/engine/error.hpp"
#include "models/engine/random.hpp"
#include "models/fabric/topology.hpp"

#include <algorithm>
#include <utility>

namespace podsim {

namespace {

// Tags of card events: the flight, and whether it is to be sent or has landed.
constexpr std::uint64_t kToSend = 0;
constexpr std::uint64_t kDelayed = std::uint64_t{1} << 32;

/// Finalizer of SplitMix64: every input bit reaches the upper 32 bits, which are taken.
std::uint32_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return static_cast<std::uint32_t>(x >> 32);
}

}  // namespace

void Link::on_event(Picoseconds now, Phase /*phase*/, std::uint64_t /*tag*/) { network_->on_arrival(*this, now); }

void Network::CardUnit::on_event(Picoseconds now, Phase /*phase*/, std::uint64_t tag) {
    const auto flight = static_cast<std::uint32_t>(tag);
    if ((tag & kDelayed) == 0) {
        network->enter(flight, now);
    } else {
        network->landed(flight, now);
    }
}

Network::Network(const FabricParams& params, std::uint32_t cards_used, std::uint64_t seed)
    : params_(params),
      tables_(Topology(params).routes(cards_used)),
      timings_(params),
      hash_(tables_.planes, params.plane_hash_bytes.peek()),
      path_choice_(params.path_choice.peek()),
      extra_reorder_(params.extra_reorder.get()),
      seed_(seed),
      links_(tables_.links.size()),
      card_units_(cards_used),
      first_start_(tables_.links.size(), kNever),
      sent_by_card_(cards_used, 0) {
    const bool by_core = params.noc_first_packet_order.get();
    if (params.network_in_order.get()) {
        order_.emplace(cards_used, by_core);
    } else if (by_core) {
        throw UserError({"", "/machine/hccs/noc_first_packet_order", "false, or network_in_order: true",
                         "true without network_in_order",
                         "the order in which a core's packets enter the network means nothing if the network "
                         "does not keep it"});
    }
    check(extra_reorder_ >= 0, "extra_reorder is not negative");
    check(cards_used <= Hop::kMaxDestination, "card numbers fit their field");
    for (std::size_t i = 0; i < links_.size(); ++i) {
        const LinkSpec& spec = tables_.links[i];
        links_[i].configure(*this, spec, timings_.get(spec.kind, spec.rate_scale), tables_.link_row[i]);
    }
    for (CardUnit& unit : card_units_) {
        unit.network = this;
    }
}

void Network::attach(EngineIf& engine, std::vector<BlockSinkIf*> sinks) {
    check(engine_ == nullptr, "the fabric is attached once");
    check(sinks.size() == tables_.cards, "the fabric has a sink for every used card");
    engine_ = &engine;
    sinks_ = std::move(sinks);
    for (std::uint32_t card = 0; card < tables_.cards; ++card) {
        engine.register_unit(card_units_[card], CardId{card});
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
        // What arrives at a card acts on the card at once; a link to a switch is the fabric's.
        const bool to_card = links_[i].row() == CardPort::kNoRow;
        engine.register_unit(links_[i], to_card ? std::optional(CardId{tables_.links[i].to}) : std::nullopt);
    }
}

void Network::send(BlockPacket packet, Picoseconds now) {
    check(packet.kind != BlockPacket::Kind::read_reply, "replies go by FabricIf::reply");
    packet.sent_at = now;
    const CardId source = packet.requester_card;
    const CardId destination = packet.address.card;
    launch(std::move(packet), source, destination, now);
}

void Network::reply(BlockPacket packet, BlockData data, Picoseconds read_at) {
    packet.kind = BlockPacket::Kind::read_reply;
    packet.data = std::move(data);
    reads_ = true;
    const CardId source = packet.address.card;
    const CardId destination = packet.requester_card;
    launch(std::move(packet), source, destination, read_at);
}

void Network::acknowledge(const BlockPacket& packet, Picoseconds landed_at) {
    packet.requester->completed(packet.tag, landed_at + return_latency(packet.address, packet.requester_card), {});
}

Lookahead Network::lookahead() const {
    Lookahead least{kNever, kNever, 1};
    for (const LinkSpec& link : tables_.links) {
        if (link.kind == LinkKind::sio) {
            least.cards_together = 2;
        } else if (link.kind == LinkKind::card_up) {
            least.enter = std::min(least.enter, link.latency);
        } else if (link.kind == LinkKind::card_down) {
            least.leave = std::min(least.leave, link.latency);
        }
    }
    return least;
}

void Network::launch(BlockPacket&& packet, CardId source, CardId destination, Picoseconds now) {
    const std::uint32_t from = index(source);
    const std::uint32_t to = index(destination);
    const Picoseconds engine_now = engine_->now();
    check(from < tables_.cards && to < tables_.cards, "a packet's cards are in use");
    check(from != to, "a packet to its own card does not come to the fabric");
    check(packet.address.offset % kBlockBytes + packet.bytes <= kBlockBytes, "a packet stays inside one 512 B line");
    check(packet.requester != nullptr, "a packet has a requester");
    check(now >= engine_now, "a packet is not sent in the past");

    const std::uint32_t id = pool_.take();
    check(id <= Hop::kMaxFlight, "packets in flight fit their field");
    Flight& flight = pool_[id];
    flight.put(std::move(packet));
    if (extra_reorder_ > 0 && flight.kind() != BlockPacket::Kind::read_request) {
        extra_delay_.resize(pool_.capacity(), 0);
        extra_delay_[id] =
            static_cast<Picoseconds>(random_below(seed_, RandomStream::fabric_reorder, from, sent_by_card_[from]++,
                                                  static_cast<std::uint64_t>(extra_reorder_)));
    }
    if (order_) {
        if (flight.kind() == BlockPacket::Kind::read_reply) {
            order_->issued_by_memory(id, source, destination);
        } else {
            order_->issued(id, source, flight.requester_core(), destination);
        }
    }
    if (observer_ != nullptr) [[unlikely]] {
        observer_->sent(flight.copy(), source, destination, now);
    }
    if (now > engine_now) {
        engine_->schedule(card_units_[from], now, Phase::land, kToSend | id);
    } else {
        enter(id, now);
    }
}

void Network::enter(std::uint32_t id, Picoseconds now) {
    const Flight& flight = pool_[id];
    const std::uint32_t from = index(flight.source());
    const std::uint32_t to = index(flight.destination());
    const PacketClass c = packet_class(flight.kind(), flight.bytes());
    if (tables_.joined_by_sio(from, to)) {
        // The one link keeps order by itself; extra delays need the list.
        if (order_) {
            order_->reached_first_switch(id);
        }
        enqueue(tables_.sio[from], Hop(id, flight.destination(), c, 0), now);
        return;
    }
    const std::uint32_t plane = plane_between(flight.address(), from, to);
    const std::uint32_t hash = path_hash(flight.address(), from, to);
    enqueue(tables_.port(from, plane).up, Hop(id, flight.destination(), c, hash), now);
}

void Network::enqueue(std::uint32_t link_number, const Hop& hop, Picoseconds now) {
    Link& link = links_[link_number];
    const Link::Use use = link.accept(hop, now);
    if (use.is_head) {
        if (first_start_[link_number] == kNever) [[unlikely]] {
            first_start_[link_number] = use.start;
        }
        schedule_head(link);
    }
    if (observer_ != nullptr) [[unlikely]] {
        observer_->hop(pool_[hop.flight()].copy(), {link_number, now, use.start, link.free_at(), use.arrive});
    }
}

void Network::schedule_head(Link& link) {
    const Hop& head = link.head();
    check(link.free_at() <= Hop::kMaxArrive - link.latency(), "times fit their field");
    engine_->schedule(link, head.arrive(), Phase::land, 0);
    if (link.row() == CardPort::kNoRow) {
        // Untouched since it was sent, and needed when it lands.
        pool_.prefetch(head.flight());
    }
}

void Network::on_arrival(Link& link, Picoseconds now) {
    const Hop hop = link.head();
    link.pop_head();
    if (!link.empty()) {
        schedule_head(link);
    }
    const std::uint32_t flight = hop.flight();
    if (link.row() == CardPort::kNoRow) {
        last_hop_done(flight, now);
        return;
    }
    if (order_ && link.kind() == LinkKind::card_up) {
        order_->reached_first_switch(flight);
    }
    enqueue(next_link(link, hop), hop, now);
}

std::uint32_t Network::next_link(const Link& link, const Hop& hop) const {
    const CardPort& port = tables_.port(hop.destination(), link.plane());
    const std::uint32_t group = tables_.group[link.row() + port.column];
    if (group == RoutingTables::kDeliver) {
        return port.down;
    }
    const std::uint32_t begin = tables_.group_begin[group];
    const std::uint64_t count = tables_.group_begin[group + 1] - begin;
    // A multiplier per switch (odd): a switch behind a choice must not see only packets that choose alike again.
    const std::uint32_t hash = hop.path_hash() * (0x9e3779b1U ^ (link.row() << 1));
    return tables_.group_links[begin + static_cast<std::uint32_t>((hash * count) >> 32)];
}

void Network::last_hop_done(std::uint32_t id, Picoseconds now) {
    if (extra_reorder_ > 0 && extra_delay_[id] > 0) {
        const Picoseconds delay = std::exchange(extra_delay_[id], 0);
        engine_->schedule(card_units_[index(pool_[id].destination())], now + delay, Phase::land, kDelayed | id);
    } else {
        landed(id, now);
    }
}

void Network::landed(std::uint32_t id, Picoseconds now) {
    if (!order_) {
        deliver(id, now, now);
        return;
    }
    const std::uint32_t pair = order_->pair_of(id);
    order_->arrived(id, now);
    for (std::uint32_t next = order_->next_ready(pair); next != OrderKeeper::kNone; next = order_->next_ready(pair)) {
        deliver(next, order_->arrived_at(next), now);
    }
}

void Network::deliver(std::uint32_t id, Picoseconds arrived, Picoseconds now) {
    Flight& flight = pool_[id];
    const CardId source = flight.source();
    const CardId destination = flight.destination();
    BlockPacket packet = flight.take();
    // Free before the card is told: it may answer at once and take the slot.
    pool_.give_back(id);
    if (observer_ != nullptr) [[unlikely]] {
        observer_->landed(packet, source, destination, arrived, now);
    }
    if (packet.kind == BlockPacket::Kind::read_reply) {
        packet.requester->completed(packet.tag, now, std::move(packet.data));
    } else {
        sinks_[index(destination)]->arrive(std::move(packet), now);
    }
}

std::uint32_t Network::plane_between(GmAddress address, std::uint32_t source, std::uint32_t destination) const {
    const std::uint32_t plane = hash_.plane(address);
    if (tables_.every_plane_connects_all || tables_.connects(source, destination, plane)) [[likely]] {
        return plane;
    }
    std::uint32_t working = 0;
    for (std::uint32_t p = 0; p < tables_.planes; ++p) {
        working += tables_.connects(source, destination, p) ? 1 : 0;
    }
    std::uint32_t place = hash_.substitute(address, working);
    std::uint32_t chosen = 0;
    while (!tables_.connects(source, destination, chosen) || place-- > 0) {
        ++chosen;
    }
    return chosen;
}

std::uint32_t Network::path_hash(GmAddress address, std::uint32_t source, std::uint32_t destination) const {
    std::uint64_t key = (std::uint64_t{source} << 32) | destination;
    if (path_choice_ == PathChoice::by_address) {
        key ^= line_of(address.offset) * 0x9e3779b97f4a7c15U;
    }
    return mix(key);
}

Picoseconds Network::one_way_latency(CardId from, CardId to) const {
    return tables_.one_way_latency(index(from), index(to));
}

Picoseconds Network::return_latency(GmAddress address, CardId requester) const {
    const std::uint32_t from = index(address.card);
    const std::uint32_t to = index(requester);
    if (tables_.joined_by_sio(from, to)) {
        return tables_.links[tables_.sio[from]].latency;
    }
    return tables_.latency(from, to, plane_between(address, from, to));
}

std::optional<PlaneId> Network::plane_of(GmAddress address, CardId requester) const {
    const std::uint32_t from = index(requester);
    const std::uint32_t to = index(address.card);
    if (tables_.joined_by_sio(from, to)) {
        return std::nullopt;
    }
    return PlaneId{plane_between(address, from, to)};
}

}  // namespace podsim
