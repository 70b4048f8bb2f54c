// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Where a Dispatch keeps things in every card's global memory, and what a row looks like.
///
/// The same on all cards (symmetric addresses), as HCCL windows are. Offsets are bytes from 0:
///   expert ids | x | context | ranks' records | tiling | selectors | state window | data window | workspace | outputs
///   | clock stamps | second state window (rows there) | sums for each core | bit maps | soft-sync cells
/// State and data windows have two halves, used by calls in turn. A half of the data window begins with the
/// area that the Combine operator uses (kept, never touched), then the slots, source-major; status cells
/// are expert-major (reference: dispatch_kernels.md §1.1-1.3).
#include "algorithms/kernel_api/tensor.hpp"
#include "algorithms/routing/workload.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace podsim {

/// How a row lies in the 512 B blocks of its slot.
enum class BlockLayout : std::uint8_t {
    plain,        ///< one run of bytes
    striped_504,  ///< 504 B of row and an 8 B flag; 1 KB of values take three blocks
    packed_480,   ///< 480 B of row and a 32 B flag
};
/// By name as in the option; throws InternalError for another.
BlockLayout parse_block_layout(std::string_view name);

/// One row as it travels. Its parts: values, scale (fp32, alone in a 32 B granule), triple (source card, token, k),
/// flags.
///
/// plain        values | 32 B with the scale | triple (| token flag at the next granule)
/// packed_480   the same run of bytes cut into 480 B, each followed by its 32 B flag
/// striped_504  with S = ceil(values / 1 KB): data blocks 0 … 2S-1 hold the values where plain has them, but the flag
///              takes the last 8 B of each; tail block 2S + s holds the bytes displaced from blocks s and s + S, at
///              the end of its first and second granule. With S a multiple of the planes all three blocks of a
///              stripe take one plane. Tail block 0 has scale and triple in its third and fourth granule
struct RowLayout {
    explicit RowLayout(const Workload& workload, BlockLayout blocks = BlockLayout::plain);

    BlockLayout layout;
    std::uint32_t value_bytes;   ///< H int8 or 2H bf16
    std::uint32_t scale_at;      ///< in the slot
    std::uint32_t triple_at;     ///< in the slot
    std::uint32_t row_bytes;     ///< what a plain row sends: values, scale area, triple
    std::uint32_t struct_bytes;  ///< the same in UB before packing, whole granules
    std::uint32_t flag_at;       ///< plain: token flag cell, 32 B, in sync_mode token_flag
    std::uint32_t slot_bytes;    ///< distance of slots, whole 512 B blocks
    std::uint32_t sent_blocks;   ///< blocks one row takes on the wire
    std::uint32_t stripes = 0;   ///< striped_504: S
    std::uint32_t blocks() const { return sent_blocks; }
    bool block_flags() const { return layout != BlockLayout::plain; }
    /// Where byte `at` of the plain row lies in the slot (packed_480).
    static std::uint32_t packed_at(std::uint32_t at) { return at / kPackedBytes * kBlockBytes + at % kPackedBytes; }
    /// Where a byte of the values lies in the slot.
    std::uint32_t value_at(std::uint32_t byte) const;
    static constexpr std::uint32_t kPackedBytes = 480;
    static constexpr std::uint32_t kStripeBytes = 1024;
};

class DispatchLayout {
public:
    DispatchLayout(const Workload& workload, std::uint32_t cores, std::uint32_t status_stride,
                   BlockLayout blocks = BlockLayout::plain);

    const RowLayout& row() const { return row_; }
    std::uint32_t status_stride() const { return status_stride_; }
    /// Bytes used on each card; what GM must have at least.
    std::uint64_t end() const { return end_; }

    // Inputs and private areas of a card.
    GlobalTensor<std::int32_t> expert_ids(std::uint32_t card) const { return at<std::int32_t>(card, expert_ids_); }
    GlobalTensor<bfloat16> token(std::uint32_t card, std::uint32_t t) const {
        return at<bfloat16>(card, x_ + static_cast<std::uint64_t>(t) * 2 * hidden_);
    }
    /// HCCL context: for every rank a pointer (8 B) to what is known of it …
    GlobalTensor<std::uint64_t> context(std::uint32_t card, std::uint32_t rank) const {
        return at<std::uint64_t>(card, context_ + rank * 8ULL);
    }
    /// … and that record, which holds the rank's window base: a structure of a few hundred bytes.
    GlobalTensor<std::uint64_t> relation(std::uint32_t card, std::uint32_t rank) const {
        return at<std::uint64_t>(card, relations_ + rank * static_cast<std::uint64_t>(kBlockBytes));
    }
    /// Tiling data of the operator: read by every core at its start.
    GlobalTensor<std::uint64_t> tiling(std::uint32_t card) const { return at<std::uint64_t>(card, tiling_); }
    static constexpr std::uint32_t kTilingBytes = 256;
    /// The core's own line: word 0 counts the calls so far; its parity selects the window half.
    GlobalTensor<std::uint32_t> selector(std::uint32_t card, std::uint32_t core) const {
        return at<std::uint32_t>(card, selectors_ + core * static_cast<std::uint64_t>(kBlockBytes));
    }

    // Windows: written by peers.
    /// Status cell of (local expert, source) on `card`: word 0 flag (float), word 1 count (int32).
    GlobalTensor<std::int32_t> status(std::uint32_t card, std::uint32_t half, std::uint32_t entry) const {
        return at<std::int32_t>(card, state_ + half * state_half_ + entry * static_cast<std::uint64_t>(status_stride_));
    }
    /// Cell of the same place that says "all rows are there", where counts have gone ahead.
    GlobalTensor<std::int32_t> rows_status(std::uint32_t card, std::uint32_t half, std::uint32_t entry) const {
        return at<std::int32_t>(card,
                                rows_state_ + half * state_half_ + entry * static_cast<std::uint64_t>(status_stride_));
    }
    /// Data slot of the `slot`-th row from `source` to a local expert of `card`.
    GlobalTensor<std::uint8_t> slot(std::uint32_t card, std::uint32_t half, std::uint32_t source,
                                    std::uint32_t local_expert, std::uint32_t slot) const;
    /// All slots from `source` to a local expert of `card`: what a flag says is there.
    Announces slots(std::uint32_t card, std::uint32_t half, std::uint32_t source, std::uint32_t local_expert) const {
        return {slot(card, half, source, local_expert, 0).address, std::uint64_t{batch_} * row_.slot_bytes};
    }

    // Workspace: N x N cells of 32 B, 512 B apart, so that no two cores touch one line.
    GlobalTensor<std::int32_t> matrix(std::uint32_t card, std::uint32_t row, std::uint32_t column) const {
        return at<std::int32_t>(card, workspace_ + (static_cast<std::uint64_t>(row) * cores_ + column) * kBlockBytes);
    }

    /// A core's own copy of the prefix sums over all status entries.
    GlobalTensor<std::int32_t> prefix(std::uint32_t card, std::uint32_t core) const {
        return at<std::int32_t>(card, prefixes_ + core * prefix_bytes_);
    }
    /// Bit i: selection i of the card's routing table chose the expert. Maps are map_bytes() apart.
    GlobalTensor<std::uint8_t> expert_map(std::uint32_t card, std::uint32_t expert) const {
        return at<std::uint8_t>(card, maps_ + expert * static_cast<std::uint64_t>(map_bytes_));
    }
    std::uint32_t map_bytes() const { return map_bytes_; }
    /// What soft syncs are about: each has its own cells.
    enum class SoftPoint : std::uint8_t { rows, sums, matrix, publish, maps, prefix };
    /// Soft-sync cells of one waiter, 32 B for each raiser; the next waiter's are soft_pitch() further.
    GlobalTensor<float> soft_cells(std::uint32_t card, SoftPoint point, std::uint32_t waiter) const {
        return at<float>(card, soft_ + (static_cast<std::uint64_t>(point) * cores_ + waiter) * soft_pitch());
    }
    std::uint64_t soft_pitch() const { return align_up<std::uint64_t>(cores_ * std::uint64_t{32}, kBlockBytes); }

    // OutputBuffer.
    GlobalTensor<std::uint8_t> out_row(std::uint32_t card, std::uint64_t row) const {
        return at<std::uint8_t>(card, rows_ + row * row_.value_bytes);
    }
    GlobalTensor<float> out_scale(std::uint32_t card, std::uint64_t row) const {
        return at<float>(card, scales_ + row * 4);
    }
    GlobalTensor<std::int32_t> out_triple(std::uint32_t card, std::uint64_t row) const {
        return at<std::int32_t>(card, triples_ + row * 12);
    }
    GlobalTensor<std::int32_t> ep_recv_counts(std::uint32_t card, std::uint32_t entry) const {
        return at<std::int32_t>(card, recv_counts_ + entry * 4ULL);
    }
    GlobalTensor<std::int64_t> expert_token_nums(std::uint32_t card, std::uint32_t local_expert) const {
        return at<std::int64_t>(card, token_nums_ + local_expert * 8ULL);
    }

    /// Clock stamps of a core's last call (`/observe/stamps: cost`), room for kStamps.
    GlobalTensor<std::int64_t> stamps(std::uint32_t card, std::uint32_t core) const {
        return at<std::int64_t>(card, stamps_ + core * static_cast<std::uint64_t>(kStamps) * 8);
    }
    static constexpr std::uint32_t kStamps = 1024;

    /// Both halves of the data window and the state window, MB (1e6 B).
    double window_mb() const;
    /// The window half whose slots an offset lies in, if it does.
    std::optional<std::uint32_t> slot_half(std::uint64_t offset) const;
    /// The slot an offset lies in, if it does.
    struct SlotPlace {
        std::uint32_t source = 0, local_expert = 0, slot = 0;
    };
    std::optional<SlotPlace> slot_at(std::uint64_t offset) const;
    /// True for an offset among the output rows.
    bool is_output_row(std::uint64_t offset) const { return offset >= rows_ && offset < scales_; }

private:
    template <class T>
    static GlobalTensor<T> at(std::uint32_t card, std::uint64_t offset) {
        return {{CardId{card}, offset}};
    }

    RowLayout row_;
    std::uint32_t cores_;
    std::uint32_t status_stride_;
    std::uint32_t hidden_;
    std::uint32_t batch_;
    std::uint32_t local_experts_;
    std::uint64_t expert_ids_ = 0, x_ = 0, context_ = 0, relations_ = 0, tiling_ = 0, selectors_ = 0;
    std::uint64_t state_ = 0, state_half_ = 0;
    std::uint64_t data_ = 0, data_half_ = 0, combine_bytes_ = 0;
    std::uint64_t workspace_ = 0;
    std::uint64_t rows_ = 0, scales_ = 0, triples_ = 0, recv_counts_ = 0, token_nums_ = 0;
    std::uint64_t stamps_ = 0;
    std::uint64_t rows_state_ = 0, prefixes_ = 0, prefix_bytes_ = 0, maps_ = 0, soft_ = 0;
    std::uint32_t map_bytes_ = 0;
    std::uint64_t end_ = 0;
};

}  // namespace podsim
