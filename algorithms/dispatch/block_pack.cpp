// SPDX-License-Identifier: Apache-2.0
#include "algorithms/dispatch/block_pack.hpp"

namespace podsim {

namespace {
constexpr std::uint32_t kHigh = 256;                              // one repeat
constexpr std::uint32_t kLow = RowLayout::kPackedBytes - kHigh;   // the rest of a block's data
constexpr std::uint32_t kLastWords = kBlockBytes - 8;             // the flag of striped_504
constexpr std::uint32_t kLastGranule = kBlockBytes - kUbGranule;  // the flag of packed_480
constexpr std::uint32_t kLanes = kUbGranule - 8;                  // last two fp32 lanes of a granule
}  // namespace

void BlockPack::set_flags(LocalTensor<std::uint8_t> blocks, std::uint32_t first, std::uint32_t count) {
    const bool striped = c_.row.layout == BlockLayout::striped_504;
    const auto at = blocks[first * kBlockBytes + (striped ? kLastWords : kLastGranule)].ReinterpretCast<float>();
    c_.aiv.Duplicate(at, c_.block_flag_value(), VectorPieces{count, striped ? 2U : 8U, kBlockBytes});
}

void BlockPack::prepare(LocalTensor<std::uint8_t> blocks) {
    if (c_.row.layout == BlockLayout::striped_504) {
        // Tail blocks: nothing but two granules and the first one's scale and triple ever changes in them.
        set_flags(blocks, 2 * c_.row.stripes, c_.row.stripes);
    } else if (c_.row.layout == BlockLayout::packed_480) {
        set_flags(blocks, 0, c_.row.sent_blocks);
    }
}

void BlockPack::spread(LocalTensor<std::uint8_t> plain, LocalTensor<std::uint8_t> blocks) {
    const auto from = plain.ReinterpretCast<float>();
    const auto to = blocks.ReinterpretCast<float>();
    const std::uint32_t n = c_.row.sent_blocks;
    c_.aiv.Copy(to, from, VectorPieces{n, kHigh / 4, kBlockBytes, RowLayout::kPackedBytes});
    c_.aiv.Copy(to[kHigh / 4], from[kHigh / 4], VectorPieces{n, kLow / 4, kBlockBytes, RowLayout::kPackedBytes});
}

Task<void> BlockPack::finish(LocalTensor<std::uint8_t> blocks) {
    Aiv& aiv = c_.aiv;
    const bool striped = c_.row.layout == BlockLayout::striped_504;
    const std::uint32_t s = c_.row.stripes;
    if (c_.opt.vector_pack) {
        if (striped) {
            aiv.PipeBarrier<Pipe::v>();  // the values are there
            const auto all = blocks.ReinterpretCast<float>();
            for (std::uint32_t part = 0; part < 2; ++part) {
                const auto from = all[(part * s * kBlockBytes + kLastWords) / 4];
                const auto to = all[(2 * s * kBlockBytes + part * kUbGranule + kLanes) / 4];
                aiv.Copy(to, from, VectorPieces{s, 2, kBlockBytes, kBlockBytes});
            }
            aiv.PipeBarrier<Pipe::v>();
            set_flags(blocks, 0, 2 * s);
        }
        co_return;
    }
    aiv.Sync<HardEvent::V_S>(kFlagEvent);
    const auto words = blocks.ReinterpretCast<std::uint64_t>();
    std::uint64_t flag = std::bit_cast<std::uint32_t>(c_.block_flag_value());
    flag |= flag << 32U;
    for (std::uint32_t b = 0; b < c_.row.sent_blocks; ++b) {
        const std::uint32_t last = (b * kBlockBytes + kLastWords) / 8;
        if (striped && b < 2 * s) {
            const std::uint64_t displaced = co_await aiv.GetValue(words, last);
            const std::uint32_t tail = (2 * s + b % s) * kBlockBytes + b / s * kUbGranule + kLanes;
            aiv.SetValue(words, tail / 8, displaced);
        }
        aiv.SetValue(words, last, flag);
        aiv.Alu(4);  // two addresses, loop
    }
    aiv.Sync<HardEvent::S_V>(kFlagEvent);
}

void BlockPack::restore(LocalTensor<std::uint8_t> blocks) {
    const std::uint32_t s = c_.row.stripes;
    const auto all = blocks.ReinterpretCast<float>();
    for (std::uint32_t part = 0; part < 2; ++part) {
        const auto to = all[(part * s * kBlockBytes + kLastWords) / 4];
        const auto from = all[(2 * s * kBlockBytes + part * kUbGranule + kLanes) / 4];
        c_.aiv.Copy(to, from, VectorPieces{s, 2, kBlockBytes, kBlockBytes});
    }
}

}  // namespace podsim
