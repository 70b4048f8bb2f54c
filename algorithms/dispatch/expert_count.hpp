// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Building block of Dispatch kernels: how often an expert occurs among the first n routing entries.
///
/// The chain of five vector operations over the prefix (reference: dispatch_kernels.md §2.1 P2):
/// fill with the expert, subtract, absolute value on the float view (clears the sign: any difference becomes
/// a positive number), clamp to 1, sum; n minus the sum is the count. Differences stay integers in the float
/// view: as denormals they add up exactly.
#include "algorithms/kernel_api/aiv.hpp"

namespace podsim {

class ExpertCount {
public:
    /// Work space for prefixes up to `most` entries.
    ExpertCount(Aiv& aiv, std::uint32_t most)
        : aiv_(aiv), work_(aiv.Alloc<std::int32_t>(most)), sum_(aiv.Alloc<std::int32_t>(8)) {}

    /// Occurrences of `expert` in ids[0, n), n > 0. S waits for V.
    Task<std::uint32_t> among(LocalTensor<std::int32_t> ids, std::int32_t expert, std::uint32_t n);

private:
    static constexpr std::uint8_t kEvent = 2;

    Aiv& aiv_;
    LocalTensor<std::int32_t> work_, sum_;
};

}  // namespace podsim
