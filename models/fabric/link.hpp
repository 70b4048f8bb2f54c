// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One direction of a link: a FIFO server whose in-flight packets wait here, with only the head in the engine.
///
/// Laid out for the cache, because that is what a hop costs: 16 B a packet, two lines a link.
#include "models/engine/engine_if.hpp"
#include "models/fabric/link_timing.hpp"
#include "models/fabric/routing_tables.hpp"

#include <cstdint>
#include <memory>

namespace podsim {

class Network;

/// What a link needs to know of a packet, so that a hop does not touch the packet itself.
/// Two words, packed by hand: storing bit-fields would read the (long evicted) place stored to.
class Hop {
public:
    static constexpr Picoseconds kMaxArrive = (Picoseconds{1} << 48) - 1;  // 281 s
    static constexpr std::uint32_t kMaxDestination = (1U << 16) - 1;
    static constexpr std::uint32_t kMaxFlight = (1U << 28) - 1;

    Hop() = default;
    /// Of `path_hash` the lower 25 bits are kept.
    Hop(std::uint32_t flight, CardId destination, PacketClass packet_class, std::uint32_t path_hash)
        : when_where_(index(destination)),
          what_((std::uint64_t{flight} << kFlightShift) | (static_cast<std::uint64_t>(packet_class) << kClassShift) |
                (path_hash & kHashMask)) {}

    void set_arrive(Picoseconds at) {
        when_where_ = (static_cast<std::uint64_t>(at) << kArriveShift) | (when_where_ & kMaxDestination);
    }
    Picoseconds arrive() const { return static_cast<Picoseconds>(when_where_ >> kArriveShift); }
    std::uint32_t destination() const { return static_cast<std::uint32_t>(when_where_ & kMaxDestination); }
    std::uint32_t flight() const { return static_cast<std::uint32_t>(what_ >> kFlightShift); }
    PacketClass packet_class() const { return static_cast<PacketClass>((what_ >> kClassShift) & kClassMask); }
    std::uint32_t path_hash() const { return static_cast<std::uint32_t>(what_ & kHashMask); }

private:
    static constexpr unsigned kArriveShift = 16;
    static constexpr unsigned kClassShift = 25;
    static constexpr unsigned kFlightShift = 36;
    static constexpr std::uint64_t kClassMask = (1U << 11) - 1;
    static constexpr std::uint64_t kHashMask = (1U << kClassShift) - 1;

    std::uint64_t when_where_ = 0;  // arrive 48, destination 16
    std::uint64_t what_ = 0;        // flight 28, packet class 11, path hash 25
};
static_assert(sizeof(Hop) == 16);

/// What went over a link. busy <= last_end - first_start, and wire_bytes <= rate * busy.
struct LinkCounters {
    std::uint64_t packets = 0;
    std::uint64_t blocks = 0;  ///< packets with payload
    std::uint64_t payload_bytes = 0;
    std::uint64_t wire_bytes = 0;
    Picoseconds busy = 0;
    Picoseconds first_start = kNever;
    Picoseconds last_end = 0;
};

class alignas(64) Link final : public Unit {
public:
    void configure(Network& network, const LinkSpec& spec, const LinkTiming& timing, std::uint32_t row) {
        network_ = &network;
        timing_ = &timing;
        latency_ = spec.latency;
        row_ = row;
        plane_ = static_cast<std::uint16_t>(spec.plane < 0 ? 0 : spec.plane);
        kind_ = spec.kind;
    }

    struct Use {
        Picoseconds start = 0;
        Picoseconds arrive = 0;
        bool is_head = false;  ///< nothing was in flight: its arrival is to be scheduled
    };
    /// Takes `hop`, which is here since `now`, into the queue.
    Use accept(Hop hop, Picoseconds now);

    bool empty() const { return count_ == 0; }
    const Hop& head() const { return head_; }
    void pop_head();

    LinkKind kind() const { return kind_; }
    std::uint32_t plane() const { return plane_; }
    std::uint32_t row() const { return row_; }  ///< of the switch it leads to; CardPort::kNoRow: to a card
    Picoseconds free_at() const { return free_at_; }
    Picoseconds latency() const { return latency_; }
    /// first_start is kept by the network.
    LinkCounters counters() const { return {packets_, blocks_, payload_bytes_, wire_bytes_, busy_, kNever, free_at_}; }

private:
    void on_event(Picoseconds now, Phase phase, std::uint64_t tag) override;  // network.cpp
    void grow();

    // First line, with Unit.
    Picoseconds free_at_ = 0;
    Picoseconds latency_ = 0;
    const LinkTiming* timing_ = nullptr;
    Hop head_;
    // Second line. Packets behind the head are in a ring that grows and never shrinks.
    std::unique_ptr<Hop[]> ring_;
    Network* network_ = nullptr;
    std::uint32_t first_ = 0;  // of the ring; the next free place is first_ + count_ - 1
    std::uint32_t count_ = 0;  // head included
    std::uint32_t row_ = CardPort::kNoRow;
    std::uint16_t plane_ = 0;
    std::uint8_t ring_bits_ = 0;
    LinkKind kind_{};
    std::uint64_t payload_bytes_ = 0;
    std::uint64_t wire_bytes_ = 0;
    Picoseconds busy_ = 0;
    std::uint32_t packets_ = 0;
    std::uint32_t blocks_ = 0;
};
static_assert(sizeof(Link) == 128);

inline Link::Use Link::accept(Hop hop, Picoseconds now) {
    const Service& service = timing_->of(hop.packet_class());
    const Picoseconds start = now > free_at_ ? now : free_at_;
    free_at_ = start + service.time;
    const Picoseconds arrive = free_at_ + latency_;
    hop.set_arrive(arrive);
    ++packets_;
    blocks_ += service.payload_bytes > 0 ? 1 : 0;
    payload_bytes_ += service.payload_bytes;
    wire_bytes_ += service.wire_bytes;
    busy_ += service.time;

    if (count_++ == 0) {
        head_ = hop;
        return {start, arrive, true};
    }
    const std::uint32_t behind = count_ - 2;
    if (ring_ == nullptr || behind == 1U << ring_bits_) [[unlikely]] {
        grow();
    }
    ring_[(first_ + behind) & ((1U << ring_bits_) - 1)] = hop;
    return {start, arrive, false};
}

inline void Link::pop_head() {
    if (--count_ > 0) {
        head_ = ring_[first_];
        first_ = (first_ + 1) & ((1U << ring_bits_) - 1);
        __builtin_prefetch(&ring_[first_]);  // for the next pop, some thousand events from now
    }
}

}  // namespace podsim
