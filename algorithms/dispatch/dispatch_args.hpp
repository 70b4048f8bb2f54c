// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What one AIV core is told when a Dispatch call is launched: the operator's arguments and tiling.
#include "algorithms/dispatch/layout.hpp"
#include "algorithms/kernel_api/options.hpp"
#include "algorithms/routing/workload.hpp"

#include <cstdint>

namespace podsim {

struct DispatchArgs {
    const Workload* workload = nullptr;
    const Options* options = nullptr;
    const DispatchLayout* layout = nullptr;
    std::uint32_t card = 0;
    std::uint32_t core = 0;         ///< block index
    std::uint32_t cores = 0;        ///< block dimension: AIV cores in the kernel
    std::uint32_t count_cores = 0;  ///< wanted by the run; 0: derived
    std::uint32_t tokens = 0;       ///< BS of this card, 0 .. workload.batch_size
};

/// A contiguous, near equal share of `total` for `part` of `parts`; the remainder goes to the low parts.
struct Share {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t end() const { return first + count; }
};

constexpr Share share_of(std::uint32_t total, std::uint32_t part, std::uint32_t parts) {
    const std::uint32_t each = total / parts;
    const std::uint32_t more = total % parts;
    const std::uint32_t extra = part < more ? part : more;
    return {part * each + extra, each + (part < more ? 1U : 0U)};
}

}  // namespace podsim
