// SPDX-License-Identifier: Apache-2.0
// One core, one copy at a time: a loop of DataCopy and PipeBarrier<ALL>, as such figures are measured.
#include "algorithms/microbench/places.hpp"

namespace podsim {

namespace {

constexpr std::uint32_t kTimes = 20;

/// bytes, times, step: GM to UB. The first round warms up.
Task<void> copy_in(Aiv& aiv, const BenchWork& work) {
    const auto ub = aiv.Alloc<std::uint8_t>(work.bytes);
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        aiv.DataCopy(ub, GlobalTensor<std::uint8_t>{work.from + work.place(i)}, work.bytes);
        aiv.PipeBarrierAll();
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

/// bytes, times, step: UB to GM.
Task<void> copy_out(Aiv& aiv, const BenchWork& work) {
    const auto ub = aiv.Alloc<std::uint8_t>(work.bytes);
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        aiv.DataCopyPad(GlobalTensor<std::uint8_t>{work.to + work.place(i)}, ub, {1, work.bytes, 0, 0});
        aiv.PipeBarrierAll();
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

/// bytes, times, hint: UB to GM and back, the way a window is read that others have just written.
Task<void> out_and_in(Aiv& aiv, const BenchWork& work) {
    const auto ub = aiv.Alloc<std::uint8_t>(work.bytes);
    const GlobalTensor<std::uint8_t> gm{work.to};
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        aiv.DataCopy(gm, ub, work.bytes);
        aiv.PipeBarrierAll();
        aiv.DataCopy(ub, gm, work.bytes, work.hint);
        aiv.PipeBarrierAll();
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

/// bytes, times, step: two operands of one instruction, then the wait for both.
Task<void> pair_in(Aiv& aiv, const BenchWork& work) {
    const auto x = aiv.Alloc<std::uint8_t>(work.bytes);
    const auto y = aiv.Alloc<std::uint8_t>(work.bytes);
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        aiv.DataCopy(x, GlobalTensor<std::uint8_t>{work.from + work.place(2 * i)}, work.bytes);
        aiv.DataCopy(y, GlobalTensor<std::uint8_t>{work.from + work.place(2 * i + 1)}, work.bytes);
        aiv.PipeBarrierAll();
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

/// The longest copy a kernel can make: "192 KB" is what the platform leaves of it, in whole lines.
std::uint32_t usable(const BenchMachine& machine, std::uint32_t bytes) {
    constexpr std::uint32_t kWhole = 192U << 10U;
    return bytes == kWhole && machine.ub_bytes < kWhole ? machine.ub_bytes / kBlockBytes * kBlockBytes : bytes;
}

std::optional<double> one_copy(BenchRunnerIf& runner, const BenchArguments& arguments, BenchBody body, bool fresh) {
    BenchWork work;
    work.body = body;
    work.bytes = usable(runner.machine(), arguments.bytes);
    work.times = kTimes;
    work.step = fresh ? align_up(work.bytes, kBlockBytes) : 0;
    if (work.bytes > runner.machine().ub_bytes) {
        return std::nullopt;
    }
    BenchPlan plan;
    plan.works.push_back(work);
    if (!fresh) {
        plan.resident.push_back({work.from, work.bytes});
    }
    return to_ns(runner.run(plan).span()) / kTimes;
}

std::optional<double> in_from_l2(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return one_copy(runner, arguments, copy_in, false);
}
std::optional<double> in_from_hbm(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return one_copy(runner, arguments, copy_in, true);
}
std::optional<double> out_to_l2(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return one_copy(runner, arguments, copy_out, false);
}

std::optional<double> dirty_past_l2(BenchRunnerIf& runner, const BenchArguments& arguments) {
    if (arguments.bytes > runner.machine().ub_bytes) {
        return std::nullopt;
    }
    BenchWork work;
    work.body = out_and_in;
    work.bytes = arguments.bytes;
    work.times = kTimes;
    work.hint = CacheHint::bypass_l2;
    return to_ns(alone(runner, work)) / kTimes;
}

BenchWork pair_work(std::uint32_t bytes) {
    BenchWork work;
    work.body = pair_in;
    work.bytes = bytes;
    work.times = kTimes;
    work.step = align_up(bytes, kBlockBytes);
    return work;
}

std::optional<double> pair_from_hbm(BenchRunnerIf& runner, const BenchArguments& arguments) {
    if (2 * arguments.bytes > runner.machine().ub_bytes) {
        return std::nullopt;
    }
    return to_ns(alone(runner, pair_work(arguments.bytes))) / kTimes;
}
std::optional<double> pair_rate(BenchRunnerIf& runner, const BenchArguments& arguments) {
    const auto ns = pair_from_hbm(runner, arguments);
    return ns ? std::optional(2 * arguments.bytes / *ns) : std::nullopt;
}

/// What `bytes` more cost beside as much, as a rate: the slope of time over size.
std::optional<double> slope(BenchRunnerIf& runner, const BenchArguments& arguments, BenchBody body) {
    const auto once = one_copy(runner, arguments, body, false);
    const auto twice = one_copy(runner, {2 * arguments.bytes, 0, {}}, body, false);
    return once && twice ? std::optional(arguments.bytes / (*twice - *once)) : std::nullopt;
}
std::optional<double> slope_in(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return slope(runner, arguments, copy_in);
}
std::optional<double> slope_out(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return slope(runner, arguments, copy_out);
}

}  // namespace

std::vector<Microbench> copy_benches() {
    return {{"copy_in_l2", "ns", true, false, false, in_from_l2},
            {"copy_in_hbm", "ns", true, false, false, in_from_hbm},
            {"copy_out", "ns", true, false, false, out_to_l2},
            {"copy_dirty_bypass", "ns", true, false, false, dirty_past_l2},
            {"copy_pair_hbm", "ns", true, false, false, pair_from_hbm},
            {"copy_pair_hbm_rate", "GB/s", true, false, false, pair_rate},
            {"copy_in_slope", "GB/s", true, false, false, slope_in},
            {"copy_out_slope", "GB/s", true, false, false, slope_out}};
}

}  // namespace podsim
