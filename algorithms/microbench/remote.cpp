// SPDX-License-Identifier: Apache-2.0
// Other cards' memory: latency of one block, bandwidth of a card against its AIV cores, many cards onto one.
#include "algorithms/microbench/places.hpp"

#include <algorithm>

namespace podsim {

namespace {

constexpr std::uint32_t kTimes = 20;
constexpr std::uint32_t kCopyBytes = 8U << 10U;
constexpr std::uint32_t kSlots = 4;  ///< buffers of a read stream

/// bytes, times: reads `from`, one after the other.
Task<void> reads(Aiv& aiv, const BenchWork& work) {
    const auto ub = aiv.Alloc<std::uint8_t>(work.bytes);
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        aiv.DataCopy(ub, GlobalTensor<std::uint8_t>{work.from}, work.bytes);
        aiv.PipeBarrierAll();
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

/// bytes, times: stores to `to`, each acknowledged before the next.
Task<void> writes(Aiv& aiv, const BenchWork& work) {
    const auto ub = aiv.Alloc<std::uint8_t>(work.bytes);
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        aiv.DataCopy(GlobalTensor<std::uint8_t>{work.to}, ub, work.bytes);
        aiv.PipeBarrierAll();
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

/// bytes, times, step: from another card's GM through UB into the own, with a flag on each side and one buffer.
Task<void> fetches(Aiv& aiv, const BenchWork& work) {
    const auto ub = aiv.Alloc<std::uint8_t>(work.bytes);
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        if (i == 1) {
            aiv.PipeBarrierAll();
            aiv.Phase(kBenchBegin);
        }
        aiv.DataCopy(ub, GlobalTensor<std::uint8_t>{work.from + work.place(i)}, work.bytes);
        aiv.Sync<HardEvent::MTE2_MTE3>();
        aiv.DataCopy(GlobalTensor<std::uint8_t>{work.to + work.place(i)}, ub, work.bytes);
        aiv.Sync<HardEvent::MTE3_MTE2>();
    }
    aiv.PipeBarrierAll();
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

/// bytes, times, step: reads of another card, back to back.
Task<void> read_stream(Aiv& aiv, const BenchWork& work) {
    const auto ub = aiv.Alloc<std::uint8_t>(kSlots * work.bytes);
    aiv.SyncAll();
    aiv.Phase(kBenchBegin);
    for (std::uint32_t i = 0; i < work.times; ++i) {
        aiv.DataCopy(ub[i % kSlots * work.bytes], GlobalTensor<std::uint8_t>{work.from + work.place(i)}, work.bytes);
    }
    aiv.PipeBarrierAll();
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

/// bytes, times, step: stores to another card, back to back.
Task<void> write_stream(Aiv& aiv, const BenchWork& work) {
    const auto ub = aiv.Alloc<std::uint8_t>(work.bytes);
    aiv.SyncAll();
    aiv.Phase(kBenchBegin);
    for (std::uint32_t i = 0; i < work.times; ++i) {
        aiv.DataCopy(GlobalTensor<std::uint8_t>{work.to + work.place(i)}, ub, work.bytes);
    }
    aiv.PipeBarrierAll();
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

/// A plan over card 0 and what it reaches; nothing where there is nobody, or not so many cores, or not so much UB.
std::optional<BenchPlan> with_peers(const BenchMachine& machine, Reach reach, std::uint32_t cores, std::uint32_t ub) {
    const auto others = peers(machine, reach);
    if (others.empty() || cores > machine.cores || ub > machine.ub_bytes) {
        return std::nullopt;
    }
    BenchPlan plan;
    plan.cards = index(others.back()) + 1;
    return plan;
}

std::optional<double> one_by_one(BenchRunnerIf& runner, const BenchArguments& arguments, BenchBody body) {
    auto plan = with_peers(runner.machine(), arguments.reach, 1, arguments.bytes);
    if (!plan) {
        return std::nullopt;
    }
    BenchWork work;
    work.body = body;
    work.from = work.to = region(0, peers(runner.machine(), arguments.reach).front());
    work.bytes = arguments.bytes;
    work.times = kTimes;
    plan->resident.push_back({work.from, work.bytes});
    plan->works.push_back(work);
    return to_ns(runner.run(*plan).span()) / kTimes;
}
std::optional<double> read_latency(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return one_by_one(runner, arguments, reads);
}
std::optional<double> write_latency(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return one_by_one(runner, arguments, writes);
}

std::optional<double> fetch_time(BenchRunnerIf& runner, const BenchArguments& arguments) {
    auto plan = with_peers(runner.machine(), arguments.reach, 1, arguments.bytes);
    if (!plan) {
        return std::nullopt;
    }
    BenchWork work;
    work.body = fetches;
    work.from = region(0, peers(runner.machine(), arguments.reach).front());
    work.to = region(1);
    work.bytes = arguments.bytes;
    work.times = kTimes;
    work.step = align_up(work.bytes, kBlockBytes);
    plan->resident.push_back({work.from, static_cast<std::uint32_t>((kTimes + 1) * work.step)});
    plan->works.push_back(work);
    return to_ns(runner.run(*plan).span()) / kTimes;
}

BenchWork stream_work(BenchBody body) {
    constexpr std::uint32_t kCopies = 32;
    BenchWork work;
    work.body = body;
    work.bytes = kCopyBytes;
    work.times = kCopies;
    work.step = kCopyBytes;
    return work;
}

/// Cores of `card` stream from or to `others`, the next core from or to the next of them. Returns the bytes.
std::uint64_t add_streams(BenchPlan& plan, CardId card, std::uint32_t cores, const std::vector<CardId>& others,
                          const BenchWork& stream) {
    const auto length = static_cast<std::uint32_t>(stream.times * stream.step);
    for (std::uint32_t c = 0; c < cores; ++c) {
        BenchWork work = stream;
        work.on = {card, CoreId{c}};
        work.from = work.to = region(0, others[c % others.size()]) + (std::uint64_t{index(card)} * cores + c) * length;
        work.cores = cores;
        if (stream.body == read_stream) {
            plan.resident.push_back({work.from, length});
        }
        plan.works.push_back(work);
    }
    return std::uint64_t{cores} * length;
}

std::optional<double> bandwidth(BenchRunnerIf& runner, const BenchArguments& arguments, BenchBody body) {
    auto plan = with_peers(runner.machine(), arguments.reach, arguments.cores, kSlots * kCopyBytes);
    if (!plan) {
        return std::nullopt;
    }
    const std::uint64_t bytes =
        add_streams(*plan, CardId{0}, arguments.cores, peers(runner.machine(), arguments.reach), stream_work(body));
    return gigabytes_per_s(bytes, runner.run(*plan).span());
}
std::optional<double> read_bandwidth(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return bandwidth(runner, arguments, read_stream);
}
std::optional<double> write_bandwidth(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return bandwidth(runner, arguments, write_stream);
}

/// Half the AIVs beside all of them.
std::optional<double> half_of_the_cores(BenchRunnerIf& runner, const BenchArguments& arguments) {
    const auto half = write_bandwidth(runner, {0, arguments.cores / 2, arguments.reach});
    const auto all = write_bandwidth(runner, arguments);
    return half && all ? std::optional(100 * *half / *all) : std::nullopt;
}

/// Both dies of a package write to each other; both directions together.
std::optional<double> both_ways(BenchRunnerIf& runner, const BenchArguments& arguments) {
    auto plan = with_peers(runner.machine(), Reach::package, arguments.cores, kCopyBytes);
    if (!plan) {
        return std::nullopt;
    }
    std::uint64_t bytes = 0;
    for (const std::uint32_t card : {0U, 1U}) {
        bytes += add_streams(*plan, CardId{card}, arguments.cores, {CardId{1 - card}}, stream_work(write_stream));
    }
    return gigabytes_per_s(bytes, runner.run(*plan).span());
}

/// All cards that reach card 0 so write to it, with `cores` each.
std::optional<double> incast(BenchRunnerIf& runner, const BenchArguments& arguments) {
    auto plan = with_peers(runner.machine(), arguments.reach, arguments.cores, kSlots * kCopyBytes);
    if (!plan) {
        return std::nullopt;
    }
    std::uint64_t bytes = 0;
    for (const CardId card : peers(runner.machine(), arguments.reach)) {
        bytes += add_streams(*plan, card, arguments.cores, {CardId{0}}, stream_work(write_stream));
    }
    return gigabytes_per_s(bytes, runner.run(*plan).span());
}

}  // namespace

std::vector<Microbench> remote_benches() {
    return {{"remote_read", "ns", true, false, true, read_latency},
            {"remote_write", "ns", true, false, true, write_latency},
            {"remote_fetch", "ns", true, false, true, fetch_time},
            {"remote_read_bandwidth", "GB/s", false, true, true, read_bandwidth},
            {"remote_write_bandwidth", "GB/s", false, true, true, write_bandwidth},
            {"remote_write_half_cores", "%", false, true, true, half_of_the_cores},
            {"package_both_ways", "GB/s", false, true, false, both_ways},
            {"incast", "GB/s", false, true, true, incast}};
}

}  // namespace podsim
