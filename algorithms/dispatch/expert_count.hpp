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
    Task<std::uint32_t> among(LocalTensor<std::int32_t> ids, std::int32_t expert, std::uint32_t n) {
        aiv_.Duplicate(work_, expert, n);
        aiv_.PipeBarrier<Pipe::v>();
        aiv_.Sub(work_, work_, ids, n);
        aiv_.PipeBarrier<Pipe::v>();
        const auto bits = work_.ReinterpretCast<float>();
        aiv_.Abs(bits, bits, n);
        aiv_.PipeBarrier<Pipe::v>();
        aiv_.Mins(work_, work_, std::int32_t{1}, n);
        aiv_.PipeBarrier<Pipe::v>();
        aiv_.ReduceSum(sum_.ReinterpretCast<float>(), bits, n);
        aiv_.Sync<HardEvent::V_S>(kEvent);
        const std::int32_t others = co_await aiv_.GetValue(sum_, 0);
        aiv_.Alu(1);                        // n - others
        aiv_.Sync<HardEvent::S_V>(kEvent);  // the next chain overwrites the sum
        co_return n - static_cast<std::uint32_t>(others);
    }

private:
    static constexpr std::uint8_t kEvent = 2;

    Aiv& aiv_;
    LocalTensor<std::int32_t> work_, sum_;
};

}  // namespace podsim
