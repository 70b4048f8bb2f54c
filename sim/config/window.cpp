// SPDX-License-Identifier: Apache-2.0
#include "sim/config/window.hpp"

#include "models/engine/units.hpp"

namespace podsim {

namespace {

// Scale (32 B) and triple (12 B) beside the values of a row.
constexpr std::uint64_t kRowTail = 44;
// striped_504: 1 KB of a plane's share becomes three blocks, since 8 B of each of the first two go to its flag.
constexpr std::uint64_t kStripe = 1024;
constexpr std::uint64_t kBlocksPerStripe = 3;
constexpr std::uint64_t kPackedPayload = 480;

}  // namespace

std::uint64_t window_slot_bytes(const Workload& workload, std::string_view block_layout) {
    const std::uint64_t row = align_up<std::uint64_t>(2ULL * workload.hidden, kUbGranule) + kRowTail;
    if (block_layout == "packed_480") {
        return ceil_div(row, kPackedPayload) * kBlockBytes;
    }
    if (block_layout == "striped_504") {
        return ceil_div(row, kStripe) * kBlocksPerStripe * kBlockBytes;
    }
    return align_up<std::uint64_t>(row, kBlockBytes);
}

std::uint64_t window_bytes(const Workload& workload, std::string_view block_layout) {
    const std::uint64_t slots =
        static_cast<std::uint64_t>(workload.experts_per_card()) * workload.batch_size * workload.cards;
    const std::uint64_t combine = (workload.top_k + workload.shared_copies()) *
                                  static_cast<std::uint64_t>(workload.batch_size) *
                                  align_up<std::uint64_t>(2ULL * workload.hidden, kBlockBytes);
    return 2 * (slots * window_slot_bytes(workload, block_layout) + combine);
}

std::uint64_t needed_hccl_buffsize_mb(const Workload& workload, std::string_view block_layout) {
    // The tiling rounds down and adds one, also when it fits exactly (vllm-ascend PR #5287 reports 609 for 608.0).
    return (window_bytes(workload, block_layout) >> 20) + 1;
}

}  // namespace podsim
