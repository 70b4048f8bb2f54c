// SPDX-License-Identifier: Apache-2.0
#pragma once
/// When the last data block reached each card's window, and the last byte its OutputBuffer.
#include "algorithms/dispatch/layout.hpp"
#include "models/engine/observer.hpp"

#include <array>
#include <utility>
#include <vector>

namespace podsim {

class LandingRecorder final : public ObserverIf {
public:
    LandingRecorder(const DispatchLayout& layout, std::uint32_t cards) : layout_(layout), cards_(cards) {}

    Interest interest() const override { return {false, true, false}; }
    void block_landed(const BlockEvent& block, Picoseconds at) override {
        Card& card = cards_[index(block.address.card)];
        if (const auto half = layout_.slot_half(block.address.offset)) {
            if (!block.remote && block.bytes <= kUbGranule) {
                return;  // the receiver's clean-up of its flags
            }
            card.data[*half] = at;
            ++data_blocks_;
        } else if (layout_.is_output_row(block.address.offset)) {
            card.output = at;
        }
    }

    /// The card has ended its next call. A half is not written again before its call has ended everywhere.
    void close_call(std::uint32_t card) {
        Card& c = cards_[card];
        // What is seen once is not the next call's, which may bring the card no row.
        c.calls.push_back({std::exchange(c.data[c.calls.size() % 2], 0), std::exchange(c.output, 0)});
    }
    struct Landed {
        Picoseconds data = 0;    ///< last block in the call's window half; 0: none
        Picoseconds output = 0;  ///< last byte of the OutputBuffer; 0: none
    };
    const Landed& landed(std::uint32_t card, std::uint32_t call) const { return cards_[card].calls[call]; }
    std::uint64_t data_blocks() const { return data_blocks_; }

private:
    struct Card {
        std::array<Picoseconds, 2> data{};
        Picoseconds output = 0;
        std::vector<Landed> calls;
    };
    const DispatchLayout& layout_;
    std::vector<Card> cards_;
    std::uint64_t data_blocks_ = 0;
};

}  // namespace podsim
