// SPDX-License-Identifier: Apache-2.0
#include "sim/run/simulation.hpp"

#include "algorithms/kernel_api/registry.hpp"
#include "models/engine/error.hpp"
#include "sim/run/fabric_check.hpp"
#include "sim/run/silence.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

namespace podsim {

namespace {

/// How often the clock is looked at: runs of a few hundred events keep /limits/max_wall_s too, and a look costs less
/// than an event.
constexpr std::uint64_t kEventsPerBeat = 1U << 8U;
constexpr std::size_t kMostWaiting = 20;

double peak_rss_mb() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

DispatchLayout layout_for(const RunConfig& config) {
    const AlgorithmConfig& algorithm = config.algorithm;
    const LayoutNeeds needs = algorithm.kernel->layout_needs(algorithm.options);
    return {config.workload, algorithm.aiv_cores, needs.status_stride, parse_block_layout(needs.block_layout)};
}

/// What a core stores to a card lands as it was issued.
bool keeps_order(const FabricParams& fabric) {
    return fabric.network_in_order.peek() && fabric.noc_first_packet_order.peek();
}

}  // namespace

std::string_view name_of(RunStatus status) {
    constexpr std::string_view kNames[] = {"ok", "mismatch", "deadlock", "timeout"};
    return kNames[static_cast<std::size_t>(status)];
}

ExitCode exit_code_of(RunStatus status) {
    switch (status) {
        case RunStatus::ok:
            return ExitCode::ok;
        case RunStatus::mismatch:
            return ExitCode::kernel_wrong;
        default:
            return ExitCode::stuck;
    }
}

Simulation::Simulation(const RunConfig& config, const std::vector<ObserverIf*>& extra)
    : config_(config),
      layout_(layout_for(config)),
      phases_(config.cards, config.algorithm.aiv_cores, config.calls),
      landings_(layout_, config.cards),
      early_flags_(layout_, config.cards, config.algorithm.aiv_cores, keeps_order(config.machine.fabric)) {
    silence_systemc();
    check(config_.algorithm.aiv_cores <= config_.machine.core.aiv_per_card.get(), "a kernel runs on AIVs that exist");
    JobParams job;
    job.workload = config_.workload;
    job.routing = config_.routing;
    job.options = config_.algorithm.options;
    job.body = config_.algorithm.kernel->body;
    job.cores = config_.algorithm.aiv_cores;
    job.count_cores = config_.algorithm.count_cores;
    job.calls = config_.calls;
    job.seed = config_.seed;
    job.landings = &landings_;
    job.early_flags = &early_flags_;
    job.stamps = config_.observe.stamps == Stamps::cost;
    job_ = std::make_unique<DispatchJob>(job, layout_);
    hub_.add(phases_);
    hub_.add(landings_);
    hub_.add(early_flags_);
    listen();
    for (ObserverIf* listener : extra) {
        hub_.add(*listener);
    }
    hub_.add(*job_);  // last: it may launch the next call

    PodParams pod;
    pod.cards = config_.cards;
    pod.cores_per_card = config_.algorithm.aiv_cores;
    pod.seed = config_.seed;
    pod.engine.wake = config_.engine.wake;
    pod.engine.quantum = config_.engine.quantum;
    pod.engine.time_limit = time_limit();
    pod.payload = config_.engine.payload;
    pod.polling = config_.engine.polling;
    pod.observer = &hub_;
    pod_ = std::make_unique<Pod>("pod", config_.machine, pod);
    check_link_rates(config_.machine.fabric, pod_->fabric().network());
    job_->start(*pod_, *pod_->engine().port.operator->());
}

Picoseconds Simulation::time_limit() const {
    constexpr Picoseconds kMost = 8'000'000'000'000;  // what a line of memory can count, with room to spare
    return std::min(config_.limits.timeout * config_.calls, kMost);
}

void Simulation::listen() {
    const std::uint32_t cores = config_.algorithm.aiv_cores;
    if (config_.check_hazards) {
        hazards_ = std::make_unique<HazardDetector>(config_.cards, cores);
        hub_.add(*hazards_);
    }
    if (config_.observe.timeline == Timeline::phases) {
        timeline_ = std::make_unique<TimelineRecorder>(config_.cards, cores);
        hub_.add(*timeline_);
    }
    if (config_.observe.stamps == Stamps::ideal) {
        stamps_ = std::make_unique<StampRecorder>(config_.cards, cores, config_.machine.core.counter_mhz.peek());
        hub_.add(*stamps_);
    }
}

StampRows Simulation::stamps() const {
    if (stamps_) {
        return stamps_->rows();
    }
    return config_.observe.stamps == Stamps::cost ? stamps_in_gm() : StampRows{};
}

StampRows Simulation::stamps_in_gm() const {
    StampRows rows;
    for (std::uint32_t card = 0; card < config_.cards; ++card) {
        const GmStore& gm = pod_->card(CardId{card}).memory.store_contents();
        for (std::uint32_t core = 0; core < config_.algorithm.aiv_cores; ++core) {
            std::vector<std::int64_t> row(job_->stamps_sent({CardId{card}, CoreId{core}}));
            Content content;
            gm.read(layout_.stamps(card, core).address.offset, row.size() * sizeof(std::int64_t), content);
            copy_bytes(content, std::as_writable_bytes(std::span(row)));
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

Simulation::~Simulation() {
    pod_.reset();
    sc_core::sc_get_curr_simcontext()->reset();
}

void Simulation::run(const std::function<void(const Progress&)>& progress) {
    const auto begun = Clock::now();
    const std::uint64_t blocks = job_->expected_rows() * layout_.row().blocks();
    pod_->engine().set_heartbeat(kEventsPerBeat, [&](Picoseconds now) {
        const auto seconds_since = [](Clock::time_point t) {
            return std::chrono::duration<double>(Clock::now() - t).count();
        };
        const double wall = seconds_since(begun);
        if (config_.limits.max_wall_s > 0 && seconds_since(made_) > config_.limits.max_wall_s) {
            out_of_wall_time_ = true;
            pod_->engine().stop();
        }
        if (progress) {
            progress({now, landings_.data_blocks(), blocks, wall});
        }
    });
    try {
        pod_->engine().run();
        conclude();
    } catch (const KernelError& error) {
        status_ = RunStatus::mismatch;
        broke_rule_ = true;
        diagnosis_.emplace_back(error.what());
    }
    if (timeline_) {
        timeline_->close(pod_->engine().port->now());
    }
    host_.wall_s = std::chrono::duration<double>(Clock::now() - begun).count();
    host_.events = pod_->engine().events();
    host_.peak_rss_mb = peak_rss_mb();
}

std::string_view Simulation::failure() const {
    if (status_ == RunStatus::mismatch) {
        return broke_rule_ ? "broken_rule" : job_->check().mismatches() > 0 ? "wrong_output" : "early_flag";
    }
    return status_ == RunStatus::ok ? "" : name_of(status_);
}

void Simulation::conclude() {
    if (job_->finished()) {
        const bool right = job_->check().mismatches() == 0 && job_->flags().early() == 0;
        status_ = right ? RunStatus::ok : RunStatus::mismatch;
        for (const Mismatch& wrong : job_->check().examples()) {
            diagnosis_.push_back(wrong.text());
        }
        tell_early_flags();
        return;
    }
    const bool late = pod_->engine().timed_out() || out_of_wall_time_;
    status_ = late ? RunStatus::timeout : RunStatus::deadlock;
    if (out_of_wall_time_) {
        diagnosis_.push_back(
            fmt::format("stopped after {} s of host time (/limits/max_wall_s)", config_.limits.max_wall_s));
    } else if (late) {
        diagnosis_.push_back(
            fmt::format("not finished after {} us of simulated time (/limits/timeout_us x /calls, at most 8 s)",
                        to_us(time_limit())));
    } else {
        diagnosis_.emplace_back("nothing is left that could happen, and cores still wait:");
    }
    for (std::string& line : pod_->waiting_cores(kMostWaiting)) {
        diagnosis_.push_back(std::move(line));
    }
    job_->take_open_flags();
    tell_early_flags();
}

void Simulation::tell_early_flags() {
    for (std::string& line : job_->flags().lines()) {
        diagnosis_.push_back(std::move(line));
    }
}

}  // namespace podsim
