// SPDX-License-Identifier: Apache-2.0
#include "sim/run/bench_runner.hpp"

#include "models/pod/pod.hpp"
#include "sim/run/silence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

namespace podsim {

namespace {

/// No microbenchmark takes a thousandth of this.
constexpr Picoseconds kTimeLimit = 1'000'000'000'000;
constexpr std::uint64_t kGmBytes = std::uint64_t{64} << 30U;

/// The marks of each core, by round.
class Marks final : public ObserverIf {
public:
    explicit Marks(const BenchPlan& plan) {
        times_.cores.resize(plan.works.size());
        for (std::size_t i = 0; i < plan.works.size(); ++i) {
            place_[plan.works[i].on] = i;
        }
    }
    Interest interest() const override { return {false, false, false}; }
    void phase_entered(CoreRef core, std::string_view phase, bool /*step*/, Picoseconds at) override {
        BenchTimes::Core& times = times_.cores[place_.at(core)];
        if (phase == kBenchBegin) {
            times.begin.push_back(at);
        } else if (phase == kBenchEnd) {
            times.end.push_back(at);
        }
    }
    BenchTimes take() { return std::move(times_); }

private:
    std::map<CoreRef, std::size_t> place_;
    BenchTimes times_;
};

/// Starts all kernels when the engine stands and before the first event.
class Launcher final : public sc_core::sc_module {
public:
    Launcher(const sc_core::sc_module_name& name, Pod& pod, const BenchPlan& plan) : sc_module(name) {
        for (const BenchWork& work : plan.works) {
            AivCore& core = pod.card(work.on.card).core(work.on.core);
            aivs_.push_back(std::make_unique<Aiv>(core, pod.cards(), kGmBytes));
            kernels_.push_back({&core, work.body(*aivs_.back(), work)});
        }
    }

private:
    void start_of_simulation() override {
        for (auto& [core, kernel] : kernels_) {
            core->launch(std::move(kernel), 0);
        }
    }

    struct Kernel {
        AivCore* core;
        Task<void> body;
    };
    std::vector<std::unique_ptr<Aiv>> aivs_;
    std::vector<Kernel> kernels_;
};

/// Declared before the modules, so that SystemC forgets them after they are gone.
struct Context {
    Context() = default;
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context() { sc_core::sc_get_curr_simcontext()->reset(); }
};

void place_data(Pod& pod, const BenchPlan& plan) {
    for (const BenchPlan::Resident& resident : plan.resident) {
        pod.card(resident.at.card).memory.preset(resident.at.offset, {nullptr, 0, resident.bytes}, true);
    }
    std::vector<std::uint32_t> participants(pod.cards(), 0);
    for (const BenchWork& work : plan.works) {
        ++participants[index(work.on.card)];
    }
    for (std::uint32_t c = 0; c < pod.cards(); ++c) {
        pod.card(CardId{c}).sync.port->set_participants(participants[c]);
    }
}

BenchMachine facts_of(const Machine& machine) {
    BenchMachine facts;
    const TopologyParams& topology = machine.fabric.topology;
    facts.cards = topology.cards();
    facts.cards_per_node = topology.cards_per_node();
    facts.dies_per_package = topology.dies_per_package.peek();
    facts.cores = machine.core.aiv_per_card.peek();
    facts.ub_bytes = machine.core.ub_bytes.peek();
    facts.clock_mhz = static_cast<std::uint32_t>(machine.core.clock_mhz.peek());
    return facts;
}

}  // namespace

BenchRunner::BenchRunner(Machine machine) : machine_(std::move(machine)), facts_(facts_of(machine_)) {}

BenchTimes BenchRunner::run(const BenchPlan& plan) {
    silence_systemc();
    const Context context;
    Marks marks(plan);
    PodParams params;
    params.cards = plan.cards;
    for (const BenchWork& work : plan.works) {
        params.cores_per_card = std::max(params.cores_per_card, index(work.on.core) + 1);
    }
    params.seed = 1;
    params.engine.time_limit = kTimeLimit;
    params.observer = &marks;
    Pod pod("pod", machine_, params);
    Launcher launcher("launcher", pod, plan);
    place_data(pod, plan);
    pod.engine().run();
    for (const BenchWork& work : plan.works) {
        const AivCore& core = pod.card(work.on.card).core(work.on.core);
        if (!core.finished()) {
            throw PodsimError(ExitCode::stuck, fmt::format("a microbenchmark never ends: card {} core {} waits for {}",
                                                           index(work.on.card), index(work.on.core), core.waits_for()));
        }
    }
    return marks.take();
}

}  // namespace podsim
