// SPDX-License-Identifier: Apache-2.0
#include "algorithms/dispatch/expert_count.hpp"

namespace podsim {

// In one place only: the instruction cache tells code apart by where it stands.
Task<std::uint32_t> ExpertCount::among(LocalTensor<std::int32_t> ids, std::int32_t expert, std::uint32_t n) {
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

}  // namespace podsim
