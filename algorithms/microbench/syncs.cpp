// SPDX-License-Identifier: Apache-2.0
// Hardware SyncAll, and synchronization through flags in GM: one to one, one to many, all to all.
#include "algorithms/kernel_api/soft_sync.hpp"
#include "algorithms/microbench/places.hpp"

#include <algorithm>

namespace podsim {

namespace {

constexpr std::uint32_t kRounds = 20;
constexpr std::uint32_t kCell = 32;

/// times: SyncAll after SyncAll.
Task<void> sync_alls(Aiv& aiv, const BenchWork& work) {
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        aiv.SyncAll();
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

SoftCells cells(const BenchWork& work) {
    return {{region(0)}, align_up<std::uint64_t>(std::uint64_t{work.cores} * kCell, kBlockBytes)};
}

/// Rounds begin a little later each time, so that polls are met at different points of their loop.
void stagger(Aiv& aiv, std::uint32_t round) { aiv.Alu(round * 17); }

/// times, cores: core 0 raises, and all wait for it, itself included.
Task<void> one_to_all(Aiv& aiv, const BenchWork& work) {
    SoftSync soft(aiv, work.cores);
    const SoftCells point = cells(work);
    const std::uint32_t self = index(work.on.core);
    for (std::uint32_t round = 1; round <= work.times; ++round) {
        aiv.SyncAll();
        if (self == 0) {
            aiv.Alu(2000);  // the others poll by then
            stagger(aiv, round);
            aiv.Phase(kBenchBegin);
            soft.raise(point, self, 0, work.cores, round);
        }
        co_await soft.wait(point, self, 0, 1, round);
        aiv.Phase(kBenchEnd);
    }
    aiv.End();
}

/// times, cores: everybody raises to all and waits for all.
Task<void> all_to_all(Aiv& aiv, const BenchWork& work) {
    SoftSync soft(aiv, work.cores);
    const SoftCells point = cells(work);
    const std::uint32_t self = index(work.on.core);
    for (std::uint32_t round = 1; round <= work.times; ++round) {
        aiv.SyncAll();
        stagger(aiv, self % 4);
        aiv.Phase(kBenchBegin);
        soft.raise(point, self, 0, work.cores, round);
        co_await soft.wait(point, self, 0, work.cores, round);
        aiv.Phase(kBenchEnd);
    }
    aiv.End();
}

/// times: cores 0 and 1 raise each other in turn.
Task<void> ping_pong(Aiv& aiv, const BenchWork& work) {
    SoftSync soft(aiv, 2);
    const SoftCells point = cells(work);
    const std::uint32_t self = index(work.on.core);
    aiv.SyncAll();
    aiv.Phase(kBenchBegin);
    for (std::uint32_t round = 1; round <= work.times; ++round) {
        if (self == 0) {
            soft.raise(point, 0, 1, 1, round);
        }
        co_await soft.wait(point, self, 1 - self, 1, round);
        if (self == 1) {
            soft.raise(point, 1, 0, 1, round);
        }
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
}

std::optional<BenchPlan> plan_of(const BenchRunnerIf& runner, std::uint32_t cores, BenchBody body) {
    if (cores > runner.machine().cores) {
        return std::nullopt;
    }
    BenchWork work;
    work.body = body;
    work.times = kRounds;
    BenchPlan plan = on_cores(cores, work);
    plan.resident.push_back({region(0), static_cast<std::uint32_t>(cores * align_up(cores * kCell, kBlockBytes))});
    return plan;
}

std::optional<double> sync_all(BenchRunnerIf& runner, const BenchArguments& arguments) {
    const auto plan = plan_of(runner, arguments.cores, sync_alls);
    return plan ? std::optional(to_ns(runner.run(*plan).span()) / kRounds) : std::nullopt;
}

/// Mean over the rounds.
std::optional<double> rounds(BenchRunnerIf& runner, std::uint32_t cores, BenchBody body) {
    const auto plan = plan_of(runner, cores, body);
    if (!plan) {
        return std::nullopt;
    }
    const BenchTimes times = runner.run(*plan);
    Picoseconds sum = 0;
    for (std::size_t round = 0; round < kRounds; ++round) {
        sum += times.span(round);
    }
    return to_ns(sum) / kRounds;
}
std::optional<double> soft_one_to_many(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return rounds(runner, arguments.cores, one_to_all);
}
std::optional<double> soft_all(BenchRunnerIf& runner, const BenchArguments& arguments) {
    return rounds(runner, arguments.cores, all_to_all);
}
std::optional<double> soft_one_to_one(BenchRunnerIf& runner, const BenchArguments& /*none*/) {
    const auto plan = plan_of(runner, 2, ping_pong);
    return plan ? std::optional(to_ns(runner.run(*plan).span()) / (2 * kRounds)) : std::nullopt;
}

}  // namespace

std::vector<Microbench> sync_benches() {
    return {{"sync_all", "ns", false, true, false, sync_all},
            {"soft_sync_1_1", "ns", false, false, false, soft_one_to_one},
            {"soft_sync_1_n", "ns", false, true, false, soft_one_to_many},
            {"soft_sync_n_n", "ns", false, true, false, soft_all}};
}

}  // namespace podsim
