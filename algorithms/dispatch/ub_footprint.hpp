// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How much Unified Buffer a core of a Dispatch takes, before it runs, and how it adapts to what there is.
#include "algorithms/dispatch/core_plan.hpp"

namespace podsim {

/// Buffers of the send side: as many rows in flight as wanted, or as UB has room for, as the real kernel falls back to
/// one queue buffer.
struct SendBuffers {
    SendBuffers(const CorePlan& core, std::uint64_t left);

    std::uint32_t rows, inputs;  ///< in flight; of them with an input buffer of their own
    std::uint32_t in_bytes, out_bytes, plain_bytes;
};

/// Status cells read at once, in pieces where UB cannot hold `all`: beside them `beside` bytes are wanted and the
/// reserve.
std::uint32_t cells_at_once(std::uint64_t left, std::uint32_t all, std::uint64_t beside);

/// The most bytes that the core has allocated at one time, if it has `ub_bytes`; more than that: it does not fit.
/// Follows the allocations of the kernel step by step (KernelInfo::ub_needed).
std::uint64_t dispatch_ub_needed(const DispatchArgs& args, std::uint64_t ub_bytes);

}  // namespace podsim
