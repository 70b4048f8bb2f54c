// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Packets in flight, in recycled slots that never move.
#include "models/fabric/fabric_if.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace podsim {

struct Flight {
    BlockPacket packet;
    Picoseconds extra_delay = 0;  ///< drawn when it was sent, spent after the last hop
    CardId source{};
    CardId destination{};
    std::uint32_t first_link = 0;
    std::uint32_t next_free = 0;
};

class FlightPool {
public:
    std::uint32_t take() {
        if (free_ == kNone) [[unlikely]] {
            add_chunk();
        }
        const std::uint32_t id = free_;
        free_ = (*this)[id].next_free;
        ++in_use_;
        return id;
    }
    /// The slot's packet must have been moved out.
    void give_back(std::uint32_t id) {
        (*this)[id].next_free = free_;
        free_ = id;
        --in_use_;
    }
    Flight& operator[](std::uint32_t id) { return chunks_[id >> kChunkBits][id & kChunkMask]; }
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
            chunks_.back()[i].next_free = i == kChunkMask ? kNone : first + i + 1;
        }
        free_ = first;
    }

    std::vector<std::unique_ptr<Flight[]>> chunks_;
    std::uint32_t free_ = kNone;
    std::size_t in_use_ = 0;
};

}  // namespace podsim
