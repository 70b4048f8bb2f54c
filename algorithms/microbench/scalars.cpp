// SPDX-License-Identifier: Apache-2.0
// The scalar unit: operations, loads and stores, flags. A multiply-add counts as two operations, as in every kernel.
#include "algorithms/microbench/places.hpp"

namespace podsim {

namespace {

constexpr std::uint32_t kTimes = 64;  ///< after one that warms up

/// times: a chain of x * 3 + 1, each step two operations.
Task<void> chain(Aiv& aiv, const BenchWork& work) {
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        aiv.Alu(2);
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

/// times: a step of each of eight independent chains.
Task<void> eight_chains(Aiv& aiv, const BenchWork& work) {
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        aiv.Alu(8 * 2);
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

/// times: one instruction such as a leading-zero count.
Task<void> bit_operations(Aiv& aiv, const BenchWork& work) {
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        aiv.Alu(1);
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

/// times, from, step: scalar loads from GM, of one word that is in the data cache (step 0) or each of another line.
Task<void> gm_loads(Aiv& aiv, const BenchWork& work) {
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        co_await aiv.LoadGm(GlobalTensor<std::uint32_t>{work.from + work.place(i)});
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
}

/// times: GetValue alone.
Task<void> ub_loads(Aiv& aiv, const BenchWork& work) {
    const auto x = aiv.Alloc<std::uint32_t>(work.times + 1);
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        co_await aiv.GetValue(x, i);
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
}

/// times: z[i] = x[i] + y[i] on a type the vector unit has no addition for, element by element.
Task<void> scalar_add(Aiv& aiv, const BenchWork& work) {
    const auto x = aiv.Alloc<float>(work.times + 1);
    const auto y = aiv.Alloc<float>(work.times + 1);
    const auto z = aiv.Alloc<float>(work.times + 1);
    aiv.Duplicate(x, 1.0F, work.times + 1);
    aiv.Duplicate(y, 2.0F, work.times + 1);
    aiv.PipeBarrierAll();
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        const float a = co_await aiv.GetValue(x, i);
        const float b = co_await aiv.GetValue(y, i);
        aiv.Alu(2);  // both to a type that can be added
        aiv.Alu(1);  // the addition
        aiv.Alu(1);  // and back
        aiv.SetValue(z, i, a + b);
        aiv.Alu(6);  // three addresses: a shift and an addition each
        aiv.Alu(3);  // index, comparison, branch
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
}

/// times, to, step: a word into GM, and the line written back.
Task<void> store_and_clean(Aiv& aiv, const BenchWork& work) {
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        const GlobalTensor<std::uint32_t> word{work.to + work.place(i)};
        aiv.StoreGm(word, i);
        aiv.DataCacheCleanAndInvalid(word);
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

/// times: SetFlag and WaitFlag between two pipes that have nothing else to do, as the scalar unit issues them.
Task<void> flag_pairs(Aiv& aiv, const BenchWork& work) {
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        aiv.Sync<HardEvent::MTE2_V>(static_cast<std::uint8_t>(i % 4));
    }
    aiv.Phase(kBenchEnd);
    aiv.PipeBarrierAll();
    aiv.End();
    co_return;
}

/// times: from one pipe to the scalar unit.
Task<void> flag_hops(Aiv& aiv, const BenchWork& work) {
    aiv.PipeBarrierAll();
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        aiv.Sync<HardEvent::V_S>();
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

/// times: PipeBarrier<ALL> with nothing to wait for.
Task<void> barriers(Aiv& aiv, const BenchWork& work) {
    aiv.PipeBarrierAll();
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        aiv.PipeBarrierAll();
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
    co_return;
}

/// times: the system counter.
Task<void> clocks(Aiv& aiv, const BenchWork& work) {
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        begin_at(aiv, i, 1);
        co_await aiv.GetSystemCycle();
    }
    aiv.Phase(kBenchEnd);
    aiv.End();
}

template <BenchBody body>
Picoseconds time_of(BenchRunnerIf& runner) {
    BenchWork work;
    work.body = body;
    work.times = kTimes;
    return alone(runner, work);
}
template <BenchBody body>
std::optional<double> cycles(BenchRunnerIf& runner, const BenchArguments& /*none*/) {
    return to_cycles(time_of<body>(runner), runner.machine()) / kTimes;
}
template <BenchBody body>
std::optional<double> nanoseconds(BenchRunnerIf& runner, const BenchArguments& /*none*/) {
    return to_ns(time_of<body>(runner)) / kTimes;
}
std::optional<double> cycles_of_a_flag(BenchRunnerIf& runner, const BenchArguments& none) {
    return *cycles<flag_pairs>(runner, none) / 2;
}

std::optional<double> load_misses(BenchRunnerIf& runner, const BenchArguments& /*none*/) {
    BenchWork work;
    work.body = gm_loads;
    work.times = kTimes;
    work.step = kBlockBytes;
    BenchPlan plan;
    plan.works.push_back(work);
    plan.resident.push_back({work.from, (kTimes + 1) * kBlockBytes});
    return to_ns(runner.run(plan).span()) / kTimes;
}
std::optional<double> stores(BenchRunnerIf& runner, const BenchArguments& /*none*/) {
    BenchWork work;
    work.body = store_and_clean;
    work.times = kTimes;
    work.step = kBlockBytes;
    BenchPlan plan;
    plan.works.push_back(work);
    plan.resident.push_back({work.to, (kTimes + 1) * kBlockBytes});
    return to_ns(runner.run(plan).span()) / kTimes;
}

}  // namespace

std::vector<Microbench> scalar_benches() {
    return {{"alu_dependent", "cycles", false, false, false, cycles<chain>},
            {"alu_eight_chains", "cycles", false, false, false, cycles<eight_chains>},
            {"bit_operation", "cycles", false, false, false, cycles<bit_operations>},
            {"gm_load_hit", "cycles", false, false, false, cycles<gm_loads>},
            {"gm_load_miss", "ns", false, false, false, load_misses},
            {"get_value", "ns", false, false, false, nanoseconds<ub_loads>},
            {"scalar_add", "cycles", false, false, false, cycles<scalar_add>},
            {"gm_store_dcci", "ns", false, false, false, stores},
            {"flag_issue", "cycles", false, false, false, cycles_of_a_flag},
            {"flag_hop", "cycles", false, false, false, cycles<flag_hops>},
            {"pipe_barrier_all", "ns", false, false, false, nanoseconds<barriers>},
            {"get_system_cycle", "cycles", false, false, false, cycles<clocks>}};
}

}  // namespace podsim
