// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Where a Dispatch keeps things in every card's global memory, and what a row looks like.
///
/// The same on all cards (symmetric addresses), as HCCL windows are. Offsets are bytes from 0:
///   expert ids | x | context | selectors | state window | data window | workspace | outputs | clock stamps
/// State and data windows have two halves, used by calls in turn. A half of the data window begins with the
/// area that the Combine operator uses (kept, never touched), then the slots, source-major; status cells
/// are expert-major (reference: dispatch_kernels.md §1.1-1.3).
#include "algorithms/kernel_api/tensor.hpp"
#include "algorithms/routing/workload.hpp"

#include <cstdint>
#include <optional>

namespace podsim {

/// One row as it travels in a plain slot: values, 32 B that hold the scale, then the triple (source card,
/// token, k); all parts start on 32 B granules except that the triple follows the scale area directly.
struct RowLayout {
    explicit RowLayout(const Workload& workload);

    std::uint32_t value_bytes;  ///< H int8 or 2H bf16
    std::uint32_t scale_at;     ///< Align32(value_bytes)
    std::uint32_t triple_at;    ///< scale_at + 32
    std::uint32_t row_bytes;    ///< triple_at + 12: what is sent
    std::uint32_t flag_at;      ///< Align32(row_bytes): token flag cell, 32 B, in sync_mode token_flag
    std::uint32_t slot_bytes;   ///< distance of slots, whole 512 B blocks
    std::uint32_t blocks() const { return ceil_div(row_bytes, kBlockBytes); }
};

class DispatchLayout {
public:
    DispatchLayout(const Workload& workload, std::uint32_t cores, std::uint32_t status_stride);

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
    /// Data slot of the `slot`-th row from `source` to a local expert of `card`.
    GlobalTensor<std::uint8_t> slot(std::uint32_t card, std::uint32_t half, std::uint32_t source,
                                    std::uint32_t local_expert, std::uint32_t slot) const;

    // Workspace: N x N cells of 32 B, 512 B apart, so that no two cores touch one line.
    GlobalTensor<std::int32_t> matrix(std::uint32_t card, std::uint32_t row, std::uint32_t column) const {
        return at<std::int32_t>(card, workspace_ + (static_cast<std::uint64_t>(row) * cores_ + column) * kBlockBytes);
    }

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
    std::uint64_t end_ = 0;
};

}  // namespace podsim
