// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Building block of Dispatch kernels: per-token dynamic int8 quantization of one row in UB
/// (reference: dispatch_kernels.md §2.3).
#include "algorithms/kernel_api/aiv.hpp"

namespace podsim {

class RowQuantizer {
public:
    /// Takes its work space from UB: 10 B a value.
    RowQuantizer(Aiv& aiv, std::uint32_t hidden)
        : aiv_(aiv),
          hidden_(hidden),
          wide_(aiv.Alloc<float>(hidden)),
          magnitude_(aiv.Alloc<float>(hidden)),
          narrow_(aiv.Alloc<half>(hidden)),
          max_(aiv.Alloc<float>(8)) {}

    static std::uint64_t ub_bytes(std::uint32_t hidden) { return 10ULL * hidden + 4 * kUbGranule; }

    /// Vector work on `row` (in UB, MTE2 waited for by V): writes int8 to `out`, returns the stored scale
    /// max/127 as 1 / (127 / max). `taken(…)` is called when V no longer needs `row`.
    /// S waits for the row maximum, V then for S.
    template <class Taken>
    Task<float> quantize(LocalTensor<bfloat16> row, LocalTensor<std::int8_t> out, Taken taken) {
        aiv_.Cast(wide_, row, Round::none, hidden_);
        taken();
        aiv_.PipeBarrier<Pipe::v>();
        aiv_.Abs(magnitude_, wide_, hidden_);
        aiv_.PipeBarrier<Pipe::v>();
        aiv_.ReduceMax(max_, magnitude_, hidden_);
        aiv_.Sync<HardEvent::V_S>(kEvent);
        const float most = co_await aiv_.GetValue(max_, 0);
        const float scale = 127.0F / most;
        aiv_.Alu(kDivide);
        aiv_.Sync<HardEvent::S_V>(kEvent);
        aiv_.Muls(wide_, wide_, scale, hidden_);
        aiv_.PipeBarrier<Pipe::v>();
        const auto whole = wide_.ReinterpretCast<std::int32_t>();
        aiv_.Cast(whole, wide_, Round::rint, hidden_);
        aiv_.PipeBarrier<Pipe::v>();
        aiv_.Alu(1);  // SetDeqScale(1.0): one special register
        aiv_.Cast(narrow_, whole, Round::round, hidden_);
        aiv_.PipeBarrier<Pipe::v>();
        aiv_.Cast(out, narrow_, Round::trunc, hidden_);
        aiv_.Alu(kDivide);
        co_return 1.0F / scale;
    }

private:
    /// Free between V and S in both directions: kernels use 0, 2, 4 and 5 there.
    static constexpr std::uint8_t kEvent = 3;
    static constexpr std::uint32_t kDivide = 10;  // fp32 division on the scalar unit: a few dependent steps

    Aiv& aiv_;
    std::uint32_t hidden_;
    LocalTensor<float> wide_, magnitude_;
    LocalTensor<half> narrow_;
    LocalTensor<float> max_;
};

}  // namespace podsim
