// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Packets in flight, in recycled slots that never move. At 288 cards some 300,000 packets are in flight, far
/// more than caches hold: a slot is one cache line, touched when the packet enters and when it lands.
#include "models/engine/error.hpp"
#include "models/fabric/fabric_if.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace podsim {

class alignas(64) Flight {
public:
    void put(BlockPacket&& packet) {
        constexpr std::uint32_t kMax16 = 0xffff;
        check(packet.data.length() <= kBlockBytes && index(packet.requester_core) <= kMax16, "a packet fits its slot");
        payload_ = std::move(packet.data.slice.payload);
        requester_ = packet.requester;
        tag_ = packet.tag;
        address_offset_ = packet.address.offset;
        sent_at_ = packet.sent_at;
        data_offset_ = packet.data.slice.offset;
        word_or_next_free_ = packet.data.word;
        address_card_ = packet.address.card;
        requester_card_ = packet.requester_card;
        requester_core_ = static_cast<std::uint16_t>(packet.requester_core);
        bytes_ = static_cast<std::uint16_t>(packet.bytes);
        slice_length_ = packet.data.slice.length & 0x3ffU;
        data_length_ = static_cast<std::uint16_t>(packet.data.length());
        kind_ = packet.kind;
    }
    /// The packet; its data leaves the slot.
    BlockPacket take() { return packet_with(std::move(payload_)); }
    BlockPacket copy() const { return packet_with(payload_); }

    BlockPacket::Kind kind() const { return kind_; }
    std::uint32_t bytes() const { return bytes_; }
    GmAddress address() const { return {address_card_, address_offset_}; }
    CardId source() const { return is_reply() ? address_card_ : requester_card_; }
    CardId destination() const { return is_reply() ? requester_card_ : address_card_; }
    CoreId requester_core() const { return CoreId{requester_core_}; }

private:
    friend class FlightPool;

    bool is_reply() const { return kind_ == BlockPacket::Kind::read_reply; }
    BlockPacket packet_with(PayloadRef payload) const {
        const auto word_bytes = static_cast<std::uint32_t>(data_length_ - slice_length_);
        BlockData data{Slice{std::move(payload), data_offset_, slice_length_}, word_or_next_free_, word_bytes};
        return {kind_,      address(), requester_card_, CoreId{requester_core_}, bytes_, std::move(data),
                requester_, tag_,      sent_at_};
    }

    PayloadRef payload_;
    RequesterIf* requester_ = nullptr;
    std::uint64_t tag_ = 0;
    std::uint64_t address_offset_ = 0;
    Picoseconds sent_at_ = 0;
    std::uint32_t data_offset_ = 0;
    CardId address_card_{};
    CardId requester_card_{};
    std::uint32_t word_or_next_free_ = 0;  ///< the data's word, or in a free slot the next one
    std::uint16_t requester_core_ = 0;
    std::uint16_t bytes_ = 0;
    std::uint16_t data_length_ = 0;
    std::uint16_t slice_length_ : 10 = 0;
    BlockPacket::Kind kind_ : 6 {};
};
static_assert(sizeof(Flight) == 64);

class FlightPool {
public:
    /// The last slot given back is the first taken: it is still in the cache.
    std::uint32_t take() {
        if (free_ == kNone) [[unlikely]] {
            add_chunk();
        }
        const std::uint32_t id = free_;
        free_ = (*this)[id].word_or_next_free_;
        ++in_use_;
        return id;
    }
    /// The slot's packet must have been taken.
    void give_back(std::uint32_t id) {
        (*this)[id].word_or_next_free_ = free_;
        free_ = id;
        --in_use_;
    }
    Flight& operator[](std::uint32_t id) { return chunks_[id >> kChunkBits][id & kChunkMask]; }
    void prefetch(std::uint32_t id) { __builtin_prefetch(&(*this)[id], 1); }
    std::size_t in_use() const { return in_use_; }
    std::size_t capacity() const { return chunks_.size() << kChunkBits; }

private:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    static constexpr unsigned kChunkBits = 12;
    static constexpr std::uint32_t kChunkMask = (1U << kChunkBits) - 1;

    void add_chunk() {
        const auto first = static_cast<std::uint32_t>(capacity());
        chunks_.push_back(std::make_unique<Flight[]>(kChunkMask + 1));
        for (std::uint32_t i = 0; i <= kChunkMask; ++i) {
            chunks_.back()[i].word_or_next_free_ = i == kChunkMask ? kNone : first + i + 1;
        }
        free_ = first;
    }

    std::vector<std::unique_ptr<Flight[]>> chunks_;
    std::uint32_t free_ = kNone;
    std::size_t in_use_ = 0;
};

}  // namespace podsim
