// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How a copy splits into requests: every burst is cut at 512 B lines.
#include "models/aicore/instruction.hpp"

#include <algorithm>

namespace podsim {

struct Piece {
    std::uint64_t gm = 0;  ///< offset in the card's GM
    std::uint32_t ub = 0;  ///< where it belongs in UB
    std::uint32_t bytes = 0;
    bool opens_burst = false;
};

class Pieces {
public:
    explicit Pieces(const CopyCall& copy) : copy_(copy) {}
    Pieces() = default;

    bool done() const { return block_ == copy_.blocks || copy_.block_bytes == 0; }
    /// Offset in GM where the next piece begins.
    std::uint64_t next_gm() const { return copy_.gm.offset + block_ * copy_.gm_stride + within_; }
    Piece next() {
        Piece piece;
        piece.gm = next_gm();
        piece.ub = copy_.ub + block_ * copy_.ub_stride + within_;
        piece.bytes =
            std::min(copy_.block_bytes - within_, static_cast<std::uint32_t>(kBlockBytes - piece.gm % kBlockBytes));
        piece.opens_burst = within_ == 0;
        within_ += piece.bytes;
        if (within_ == copy_.block_bytes) {
            within_ = 0;
            ++block_;
        }
        return piece;
    }

private:
    CopyCall copy_{};
    std::uint32_t block_ = 0;
    std::uint32_t within_ = 0;
};

/// MTE cycles a piece takes on its way: its bytes, and at least burst_min for the first of a burst.
inline MilliCycles piece_cycles(const MteParams& mte, const Piece& piece, bool inbound) {
    const std::uint32_t rate = inbound ? mte.in_bytes_per_cycle : mte.out_bytes_per_cycle;
    const MilliCycles bytes = static_cast<MilliCycles>(piece.bytes) * 1000 / rate;
    return piece.opens_burst ? std::max<MilliCycles>(bytes, mte.burst_min) : bytes;
}

}  // namespace podsim
