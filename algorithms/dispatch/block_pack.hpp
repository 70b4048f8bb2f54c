// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Rows into blocks with flags and back, in UB (RowLayout says what lies where).
///
/// Vector lanes cannot move inside a 32 B granule and copies start on one, so both layouts are made of whole
/// granules: packed_480 by strided copies of 256 and 224 B, striped_504 by masked copies of the last two fp32
/// lanes of a granule.
#include "algorithms/dispatch/core_state.hpp"

namespace podsim {

class BlockPack {
public:
    explicit BlockPack(CoreState& core) : c_(core) {}

    /// Flags that no row overwrites, once a buffer. V, before anything else is in it.
    void prepare(LocalTensor<std::uint8_t> blocks);
    /// A row's bytes as they lie in a plain slot to blocks; packed_480. V.
    void spread(LocalTensor<std::uint8_t> plain, LocalTensor<std::uint8_t> blocks);
    /// Displaced bytes to their tail blocks and flags in their place; striped_504, and flags of packed_480 where the
    /// scalar unit writes them. V or S; ends before MTE3 may take the blocks (the caller orders S).
    Task<void> finish(LocalTensor<std::uint8_t> blocks);
    /// Displaced bytes back; striped_504. V.
    void restore(LocalTensor<std::uint8_t> blocks);

    /// Bytes from a block's start to its flag's last word, which is what receivers look at.
    static constexpr std::uint32_t kFlagAt = kBlockBytes - 4;
    /// First block in which a flag can be missing last: what arrivals are watched by.
    std::uint32_t last_block() const { return c_.row.sent_blocks - 1; }

private:
    static constexpr std::uint32_t kTail = 8;
    void set_flags(LocalTensor<std::uint8_t> blocks, std::uint32_t first, std::uint32_t count);

    CoreState& c_;
};

}  // namespace podsim
