// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How much HCCL window the real Dispatch asks for (its tiling check), so that podsim refuses what hardware refuses.
#include "algorithms/routing/workload.hpp"

#include <cstdint>
#include <string_view>

namespace podsim {

/// Bytes of one data slot as the tiling sizes it: always for 2-byte values, even if int8 is sent.
/// `block_layout`: "plain", "packed_480" or "striped_504".
std::uint64_t window_slot_bytes(const Workload& workload, std::string_view block_layout);

/// Bytes of a card's data window: two halves of combine area and dispatch slots.
std::uint64_t window_bytes(const Workload& workload, std::string_view block_layout);

/// The least HCCL_BUFFSIZE that passes, in its own MB of 2^20 bytes, as the tiling reports it.
std::uint64_t needed_hccl_buffsize_mb(const Workload& workload, std::string_view block_layout);

}  // namespace podsim
