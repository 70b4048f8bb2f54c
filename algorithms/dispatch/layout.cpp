// SPDX-License-Identifier: Apache-2.0
#include "algorithms/dispatch/layout.hpp"

#include "models/engine/error.hpp"

#include <algorithm>
#include <string>

namespace podsim {

BlockLayout parse_block_layout(std::string_view name) {
    if (name == "plain") {
        return BlockLayout::plain;
    }
    if (name == "striped_504") {
        return BlockLayout::striped_504;
    }
    if (name == "packed_480") {
        return BlockLayout::packed_480;
    }
    throw InternalError("no block layout is called '" + std::string(name) + "'");
}

RowLayout::RowLayout(const Workload& workload, BlockLayout blocks)
    : layout(blocks),
      value_bytes(workload.row_value_bytes()),
      scale_at(align_up(value_bytes, kUbGranule)),
      triple_at(scale_at + kUbGranule),
      row_bytes(triple_at + 12),
      struct_bytes(align_up(row_bytes, kUbGranule)),
      flag_at(struct_bytes),
      slot_bytes(align_up(flag_at + kUbGranule, kBlockBytes)),
      sent_blocks(ceil_div(row_bytes, kBlockBytes)) {
    if (blocks == BlockLayout::packed_480) {
        sent_blocks = ceil_div(struct_bytes, kPackedBytes);
        scale_at = packed_at(scale_at);
        triple_at = packed_at(triple_at);
        slot_bytes = sent_blocks * kBlockBytes;
    } else if (blocks == BlockLayout::striped_504) {
        stripes = ceil_div(value_bytes, kStripeBytes);
        sent_blocks = 3 * stripes;
        scale_at = 2 * stripes * kBlockBytes + 2 * kUbGranule;
        triple_at = scale_at + kUbGranule;
        slot_bytes = sent_blocks * kBlockBytes;
    }
}

std::uint32_t RowLayout::value_at(std::uint32_t byte) const {
    if (layout == BlockLayout::packed_480) {
        return packed_at(byte);
    }
    constexpr std::uint32_t kFlag = kBlockBytes - 8;
    const std::uint32_t block = byte / kBlockBytes, at = byte % kBlockBytes;
    if (layout == BlockLayout::plain || at < kFlag) {
        return byte;
    }
    return (2 * stripes + block % stripes) * kBlockBytes + (block / stripes + 1) * kUbGranule - kBlockBytes + at;
}

DispatchLayout::DispatchLayout(const Workload& w, std::uint32_t cores, std::uint32_t status_stride, BlockLayout blocks)
    : row_(w, blocks),
      cores_(cores),
      status_stride_(status_stride),
      hidden_(w.hidden),
      batch_(w.batch_size),
      local_experts_(w.experts_per_card()) {
    std::uint64_t top = 0;
    const auto area = [&top](std::uint64_t bytes) {
        const std::uint64_t begin = top;
        top = align_up<std::uint64_t>(top + bytes, kBlockBytes);
        return begin;
    };
    // A MoE card's status and output areas are at least as large as a shared-expert card's, except where
    // few shared-expert cards collect many tokens.
    const std::uint64_t entries = static_cast<std::uint64_t>(w.cards) * std::max(local_experts_, 1U);
    const std::uint64_t to_moe = static_cast<std::uint64_t>(w.cards) * batch_ * std::min(local_experts_, w.top_k);
    const std::uint64_t most_rows = std::max<std::uint64_t>(to_moe, static_cast<std::uint64_t>(w.cards) * batch_);
    expert_ids_ = area(static_cast<std::uint64_t>(batch_) * w.top_k * 4);
    x_ = area(static_cast<std::uint64_t>(batch_) * hidden_ * 2);
    context_ = area(w.cards * 8ULL);
    relations_ = area(static_cast<std::uint64_t>(w.cards) * kBlockBytes);
    tiling_ = area(kTilingBytes);
    selectors_ = area(static_cast<std::uint64_t>(cores) * kBlockBytes);
    state_half_ = align_up<std::uint64_t>(entries * status_stride, kBlockBytes);
    state_ = area(2 * state_half_);
    combine_bytes_ =
        static_cast<std::uint64_t>(batch_) * (w.top_k + w.shared_experts) * align_up(2 * hidden_, kBlockBytes);
    data_half_ = combine_bytes_ + entries * batch_ * row_.slot_bytes;
    data_ = area(2 * data_half_);
    workspace_ = area(static_cast<std::uint64_t>(cores) * cores * kBlockBytes);
    rows_ = area(most_rows * row_.value_bytes);
    scales_ = area(most_rows * 4);
    triples_ = area(most_rows * 12);
    recv_counts_ = area(entries * 4);
    token_nums_ = area(std::max(local_experts_, 1U) * 8ULL);
    stamps_ = area(static_cast<std::uint64_t>(cores) * kStamps * 8);
    // Of kernels that count early, share or sync softly; after all else, so that others lie as they always did.
    rows_state_ = area(2 * state_half_);
    prefix_bytes_ = align_up<std::uint64_t>(entries * 4, kBlockBytes);
    prefixes_ = area(cores * prefix_bytes_);
    map_bytes_ = align_up(ceil_div(batch_ * w.top_k, 64U) * 8, kUbGranule);
    maps_ = area(static_cast<std::uint64_t>(w.experts) * map_bytes_);
    soft_ = area(6 * static_cast<std::uint64_t>(cores) * soft_pitch());
    end_ = top;
}

GlobalTensor<std::uint8_t> DispatchLayout::slot(std::uint32_t card, std::uint32_t half, std::uint32_t source,
                                                std::uint32_t local_expert, std::uint32_t slot) const {
    const std::uint64_t number = (static_cast<std::uint64_t>(source) * local_experts_ + local_expert) * batch_ + slot;
    return at<std::uint8_t>(card, data_ + half * data_half_ + combine_bytes_ + number * row_.slot_bytes);
}

std::optional<std::uint32_t> DispatchLayout::slot_half(std::uint64_t offset) const {
    if (offset < data_ || offset >= data_ + 2 * data_half_) {
        return std::nullopt;
    }
    const std::uint64_t within = offset - data_;
    if (within % data_half_ < combine_bytes_) {
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(within / data_half_);
}

std::optional<DispatchLayout::SlotPlace> DispatchLayout::slot_at(std::uint64_t offset) const {
    if (!slot_half(offset)) {
        return std::nullopt;
    }
    const std::uint64_t number = ((offset - data_) % data_half_ - combine_bytes_) / row_.slot_bytes;
    const std::uint64_t pair = number / batch_;
    return SlotPlace{static_cast<std::uint32_t>(pair / local_experts_),
                     static_cast<std::uint32_t>(pair % local_experts_), static_cast<std::uint32_t>(number % batch_)};
}

double DispatchLayout::window_mb() const { return static_cast<double>(2 * data_half_ + 2 * state_half_) / 1e6; }

}  // namespace podsim
