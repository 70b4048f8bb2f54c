// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One direction of a link: a FIFO server whose in-flight packets wait here, with only the head in the engine.
#include "models/engine/engine_if.hpp"
#include "models/fabric/link_timing.hpp"
#include "models/fabric/routing_tables.hpp"

#include <cstdint>
#include <vector>

namespace podsim {

class Network;

/// What a link needs to know of a packet, so that a hop does not touch the packet itself.
struct Hop {
    Picoseconds arrive = 0;
    std::uint32_t flight = 0;  ///< index of the packet
    std::uint32_t destination = 0;
    std::uint32_t path_hash = 0;
    std::uint16_t column = 0;  ///< of the destination's switch on this plane
    PacketClass packet_class{};
};

/// Growing ring buffer; never shrinks, so a steady state allocates nothing.
class HopQueue {
public:
    bool empty() const { return head_ == tail_; }
    const Hop& front() const { return ring_[head_ & mask_]; }
    void push(const Hop& hop) {
        if (tail_ - head_ == ring_.size()) [[unlikely]] {
            grow();
        }
        ring_[tail_++ & mask_] = hop;
    }
    Hop pop() { return ring_[head_++ & mask_]; }

private:
    void grow() {
        constexpr std::size_t kFirstCapacity = 4;
        std::vector<Hop> larger(ring_.empty() ? kFirstCapacity : 2 * ring_.size());
        const std::uint32_t count = tail_ - head_;
        for (std::uint32_t i = 0; i < count; ++i) {
            larger[i] = ring_[(head_ + i) & mask_];
        }
        ring_ = std::move(larger);
        head_ = 0;
        tail_ = count;
        mask_ = static_cast<std::uint32_t>(ring_.size() - 1);
    }

    std::vector<Hop> ring_;
    std::uint32_t head_ = 0;
    std::uint32_t tail_ = 0;
    std::uint32_t mask_ = 0;
};

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

struct Link final : Unit {
    void on_event(Picoseconds now, Phase phase, std::uint64_t tag) override;  // network.cpp

    Network* network = nullptr;
    const LinkTiming* timing = nullptr;
    Picoseconds latency = 0;
    Picoseconds free_at = 0;
    HopQueue queue;
    std::uint32_t row = RoutingTables::kNoRow;  ///< of the switch it leads to; kNoRow: to a card
    std::uint32_t plane = 0;
    LinkKind kind{};
    LinkCounters counters;
};

}  // namespace podsim
