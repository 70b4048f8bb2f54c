// SPDX-License-Identifier: Apache-2.0
// Many cores of a card at once: streams of copies, and how they meet in memory.
#include "algorithms/microbench/places.hpp"

#include <algorithm>

namespace podsim {

namespace {

constexpr std::uint32_t kEmitted = 32;  ///< copies between two CatchUp()s: as many as a queue holds

/// bytes, blocks, times, step, first, wrap, hint: back to back, no wait but the last.
Task<void> stream_in(Aiv& aiv, const BenchWork& work) {
    const std::uint32_t size = work.bytes * work.blocks;
    const std::uint32_t slots = std::max(1U, std::min(8U, aiv.UbLeft() / size));
    const auto ub = aiv.Alloc<std::uint8_t>(size * slots);
    aiv.SyncAll();
    aiv.Phase(kBenchBegin);
    for (std::uint32_t i = 0; i < work.times; ++i) {
        aiv.DataCopyPad(ub[i % slots * size], GlobalTensor<std::uint8_t>{work.from + work.place(i)},
                        {work.blocks, work.bytes, 0, 0}, work.hint);
        if (i % kEmitted == kEmitted - 1) {
            co_await aiv.CatchUp();
        }
    }
    aiv.PipeBarrierAll();
    aiv.Phase(kBenchEnd);
    aiv.End();
}

/// bytes, times, step, first, wrap, hint: one buffer, so each copy waits for the one before.
Task<void> one_buffer_in(Aiv& aiv, const BenchWork& work) {
    const auto ub = aiv.Alloc<std::uint8_t>(work.bytes);
    aiv.SyncAll();
    aiv.Phase(kBenchBegin);
    for (std::uint32_t i = 0; i < work.times; ++i) {
        aiv.DataCopy(ub, GlobalTensor<std::uint8_t>{work.from + work.place(i)}, work.bytes, work.hint);
        aiv.PipeBarrier<Pipe::mte2>();
        if (i % kEmitted == kEmitted - 1) {
            co_await aiv.CatchUp();
        }
    }
    aiv.PipeBarrierAll();
    aiv.Phase(kBenchEnd);
    aiv.End();
}

/// bytes, times, step: the same out of UB.
Task<void> stream_out(Aiv& aiv, const BenchWork& work) {
    const auto ub = aiv.Alloc<std::uint8_t>(work.bytes);
    aiv.SyncAll();
    aiv.Phase(kBenchBegin);
    for (std::uint32_t i = 0; i < work.times; ++i) {
        aiv.DataCopyPad(GlobalTensor<std::uint8_t>{work.to + work.place(i)}, ub, {1, work.bytes, 0, 0});
        if (i % kEmitted == kEmitted - 1) {
            co_await aiv.CatchUp();
        }
    }
    aiv.PipeBarrierAll();
    aiv.Phase(kBenchEnd);
    aiv.End();
}

/// bytes, times, step, hint: z = x + y with two buffers of each, the standard vector kernel.
Task<void> add_stream(Aiv& aiv, const BenchWork& work) {
    const std::uint32_t count = work.bytes / sizeof(float);
    const auto x = aiv.Alloc<float>(2 * count);
    const auto y = aiv.Alloc<float>(2 * count);
    const auto z = aiv.Alloc<float>(2 * count);
    const GlobalTensor<float> second{work.from + kCoreRegion / 4};
    aiv.SyncAll();
    aiv.Phase(kBenchBegin);
    for (std::uint32_t i = 0; i < work.times; ++i) {
        const auto b = static_cast<std::uint8_t>(i % 2);
        const std::uint64_t at = work.place(i) / sizeof(float);
        if (i >= 2) {
            aiv.WaitFlag<HardEvent::V_MTE2>(b);
        }
        aiv.DataCopy(x[b * count], GlobalTensor<float>{work.from}[at], count, work.hint);
        aiv.DataCopy(y[b * count], second[at], count, work.hint);
        aiv.Sync<HardEvent::MTE2_V>(b);
        if (i >= 2) {
            aiv.WaitFlag<HardEvent::MTE3_V>(b);
        }
        aiv.Add(z[b * count], x[b * count], y[b * count], count);
        if (i + 2 < work.times) {
            aiv.SetFlag<HardEvent::V_MTE2>(b);
        }
        aiv.Sync<HardEvent::V_MTE3>(b);
        aiv.DataCopy(GlobalTensor<float>{work.to}[at], z[b * count], count);
        if (i + 2 < work.times) {
            aiv.SetFlag<HardEvent::MTE3_V>(b);
        }
        co_await aiv.CatchUp();
    }
    aiv.PipeBarrierAll();
    aiv.Phase(kBenchEnd);
    aiv.End();
}

bool too_small(const BenchMachine& machine, const BenchArguments& arguments, std::uint32_t buffers) {
    return arguments.cores > machine.cores || arguments.bytes * buffers > machine.ub_bytes;
}

/// Enough copies that the first one's latency hardly shows.
std::uint32_t copies_for(std::uint32_t bytes) {
    constexpr std::uint32_t kEach = 512U << 10U;
    return std::max(16U, kEach / bytes);
}

BenchWork stream_work(const BenchArguments& arguments) {
    BenchWork work;
    work.body = stream_in;
    work.bytes = arguments.bytes;
    work.step = arguments.bytes;
    work.times = copies_for(arguments.bytes);
    return work;
}

/// Reads of fresh memory, each core its own.
std::optional<double> read_hbm(BenchRunnerIf& runner, const BenchArguments& arguments) {
    if (too_small(runner.machine(), arguments, 1)) {
        return std::nullopt;
    }
    const BenchWork work = stream_work(arguments);
    const auto bytes = std::uint64_t{arguments.cores} * work.times * work.bytes;
    return gigabytes_per_s(bytes, runner.run(on_cores(arguments.cores, work)).span());
}

/// The same in copies of 64 bursts of `bytes`.
std::optional<double> read_hbm_bursts(BenchRunnerIf& runner, const BenchArguments& arguments) {
    constexpr std::uint32_t kBursts = 64;
    if (too_small(runner.machine(), arguments, kBursts)) {
        return std::nullopt;
    }
    BenchWork work = stream_work(arguments);
    work.blocks = kBursts;
    work.step = std::uint64_t{kBursts} * work.bytes;
    work.times = copies_for(kBursts * work.bytes);
    const auto bytes = arguments.cores * work.times * work.step;
    return gigabytes_per_s(bytes, runner.run(on_cores(arguments.cores, work)).span());
}
/// Time of one such copy, all cores at it.
std::optional<double> burst_copy_time(BenchRunnerIf& runner, const BenchArguments& arguments) {
    const auto rate = read_hbm_bursts(runner, arguments);
    return rate ? std::optional(64.0 * arguments.bytes * arguments.cores / *rate) : std::nullopt;
}

/// `passes` times the same memory of its own for each core; the first pass finds the L2 empty unless `resident`.
std::optional<double> read_again(BenchRunnerIf& runner, const BenchArguments& arguments, std::uint32_t passes,
                                 bool resident) {
    if (too_small(runner.machine(), arguments, 1)) {
        return std::nullopt;
    }
    BenchWork work = stream_work(arguments);
    work.wrap = copies_for(arguments.bytes) / 2;
    work.times = passes * work.wrap;
    BenchPlan plan = on_cores(arguments.cores, work);
    for (const BenchWork& one : plan.works) {
        if (resident) {
            plan.resident.push_back({one.from, work.wrap * work.bytes});
        }
    }
    const auto bytes = std::uint64_t{arguments.cores} * work.times * work.bytes;
    return gigabytes_per_s(bytes, runner.run(plan).span());
}
std::optional<double> read_three_quarters_hit(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return read_again(runner, arguments, 4, false);
}
std::optional<double> read_l2(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return read_again(runner, arguments, 4, true);
}
std::optional<double> read_l2_share(BenchRunnerIf& runner, const BenchArguments& arguments) {
    const auto all = read_l2(runner, arguments);
    return all ? std::optional(*all / arguments.cores) : std::nullopt;
}

std::optional<double> write_share(BenchRunnerIf& runner, const BenchArguments& arguments) {
    if (too_small(runner.machine(), arguments, 1)) {
        return std::nullopt;
    }
    BenchWork work = stream_work(arguments);
    work.body = stream_out;
    return gigabytes_per_s(std::uint64_t{work.times} * work.bytes, runner.run(on_cores(arguments.cores, work)).span());
}

std::optional<double> add_rate(BenchRunnerIf& runner, const BenchArguments& arguments, CacheHint hint) {
    if (too_small(runner.machine(), arguments, 6)) {
        return std::nullopt;
    }
    BenchWork work = stream_work(arguments);
    work.body = add_stream;
    work.hint = hint;
    const auto bytes = std::uint64_t{3} * arguments.cores * work.times * work.bytes;
    return gigabytes_per_s(bytes, runner.run(on_cores(arguments.cores, work)).span());
}
std::optional<double> add_cached(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return add_rate(runner, arguments, CacheHint::normal);
}
std::optional<double> add_bypassed(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return add_rate(runner, arguments, CacheHint::bypass_l2);
}

/// All cores read the same tiles past the L2, from the first one on or each from its own on.
std::optional<double> same_tiles(BenchRunnerIf& runner, const BenchArguments& arguments, BenchBody body,
                                 bool staggered) {
    if (too_small(runner.machine(), arguments, 1)) {
        return std::nullopt;
    }
    BenchWork work = stream_work(arguments);
    work.body = body;
    work.wrap = arguments.cores;
    work.times = 2 * arguments.cores;
    work.hint = CacheHint::bypass_l2;
    BenchPlan plan = on_cores(arguments.cores, work);
    for (std::uint32_t c = 0; c < arguments.cores; ++c) {
        plan.works[c].from = region(0);
        plan.works[c].first = staggered ? c : 0;
    }
    const auto bytes = std::uint64_t{arguments.cores} * work.times * work.bytes;
    return gigabytes_per_s(bytes, runner.run(plan).span());
}
std::optional<double> same_order(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return same_tiles(runner, arguments, one_buffer_in, false);
}
std::optional<double> staggered(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return same_tiles(runner, arguments, one_buffer_in, true);
}
std::optional<double> same_order_queued(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return same_tiles(runner, arguments, stream_in, false);
}
std::optional<double> staggered_queued(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return same_tiles(runner, arguments, stream_in, true);
}

/// Time from one small copy to the next, back to back; places `step` apart.
std::optional<double> issue_distance(BenchRunnerIf& runner, const BenchArguments& arguments, std::uint64_t step,
                                     bool resident) {
    constexpr std::uint32_t kCopies = 2048;
    if (too_small(runner.machine(), arguments, 1)) {
        return std::nullopt;
    }
    BenchWork work = stream_work(arguments);
    work.step = step;
    work.times = kCopies;
    BenchPlan plan = on_cores(arguments.cores, work);
    for (const BenchWork& one : plan.works) {
        if (resident) {
            plan.resident.push_back({one.from, static_cast<std::uint32_t>(kCopies * step)});
        }
    }
    return to_ns(runner.run(plan).span()) / kCopies;
}
std::optional<double> issue_contiguous(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return issue_distance(runner, arguments, arguments.bytes, false);
}
std::optional<double> issue_apart(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return issue_distance(runner, arguments, align_up(arguments.bytes, kBlockBytes), true);
}

}  // namespace

std::vector<Microbench> stream_benches() {
    return {{"issue_contiguous", "ns", true, true, false, issue_contiguous},
            {"issue_apart", "ns", true, true, false, issue_apart},
            {"read_hbm", "GB/s", true, true, false, read_hbm},
            {"read_hbm_bursts", "GB/s", true, true, false, read_hbm_bursts},
            {"burst_copy", "ns", true, true, false, burst_copy_time},
            {"read_l2", "GB/s", true, true, false, read_l2},
            {"read_l2_share", "GB/s", true, true, false, read_l2_share},
            {"read_75_hit", "GB/s", true, true, false, read_three_quarters_hit},
            {"write_l2", "GB/s", true, true, false, write_share},
            {"add_cached", "GB/s", true, true, false, add_cached},
            {"add_bypassed", "GB/s", true, true, false, add_bypassed},
            {"same_tiles_same_order", "GB/s", true, true, false, same_order},
            {"same_tiles_staggered", "GB/s", true, true, false, staggered},
            {"same_tiles_same_order_queued", "GB/s", true, true, false, same_order_queued},
            {"same_tiles_staggered_queued", "GB/s", true, true, false, staggered_queued}};
}

}  // namespace podsim
