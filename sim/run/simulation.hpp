// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One simulated run, from a checked config to everything a result is made of.
///
/// Holds the pod: destroying a Simulation destroys 10^5 modules and resets SystemC's context, so that the
/// next one can live in the same process. The command line leaves without doing so.
#include "sim/config/run_config.hpp"
#include "sim/observe/early_flags.hpp"
#include "sim/observe/hazards.hpp"
#include "sim/observe/landing_recorder.hpp"
#include "sim/observe/observer_hub.hpp"
#include "sim/observe/phase_recorder.hpp"
#include "sim/observe/stamps.hpp"
#include "sim/observe/timeline.hpp"
#include "sim/run/dispatch_job.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace podsim {

enum class RunStatus : std::uint8_t { ok, mismatch, deadlock, timeout };
std::string_view name_of(RunStatus status);
ExitCode exit_code_of(RunStatus status);

/// How far a run is; for a progress line.
struct Progress {
    Picoseconds simulated = 0;
    std::uint64_t blocks_landed = 0;
    std::uint64_t blocks_expected = 0;
    double wall_s = 0;
};

struct HostFigures {
    double wall_s = 0;
    std::uint64_t events = 0;
    double peak_rss_mb = 0;
};

class Simulation {
public:
    /// Builds and elaborates. Throws UserError for a routing file or topology that cannot be used.
    /// `extra` listeners (timeline, hazards …) outlive the simulation.
    explicit Simulation(const RunConfig& config, const std::vector<ObserverIf*>& extra = {});
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /// Runs to the end, a deadlock, a time-out or the first broken rule; `progress` is called now and then.
    void run(const std::function<void(const Progress&)>& progress = {});

    RunStatus status() const { return status_; }
    /// The same more finely: "wrong_output", "early_flag" and "broken_rule" are all a mismatch; "" when ok.
    std::string_view failure() const;
    /// What a broken rule, a deadlock or a time-out looks like: one line each.
    const std::vector<std::string>& diagnosis() const { return diagnosis_; }
    const RunConfig& config() const { return config_; }
    const DispatchLayout& layout() const { return layout_; }
    const DispatchJob& job() const { return *job_; }
    const PhaseRecorder& phases() const { return phases_; }
    const LandingRecorder& landings() const { return landings_; }
    const Pod& pod() const { return *pod_; }
    /// Listeners that the config asked for, else nullptr.
    const HazardDetector* hazards() const { return hazards_.get(); }
    const TimelineRecorder* timeline() const { return timeline_.get(); }
    /// Clock stamps of every core's last call, by card and core; empty without `/observe/stamps`.
    StampRows stamps() const;
    const HostFigures& host() const { return host_; }

private:
    void listen();
    Picoseconds time_limit() const;
    void conclude();
    void tell_early_flags();
    StampRows stamps_in_gm() const;

    using Clock = std::chrono::steady_clock;

    const Clock::time_point made_ = Clock::now();  ///< building a large pod takes seconds of host time, too
    RunConfig config_;
    DispatchLayout layout_;
    PhaseRecorder phases_;
    LandingRecorder landings_;
    EarlyFlags early_flags_;
    std::unique_ptr<HazardDetector> hazards_;
    std::unique_ptr<TimelineRecorder> timeline_;
    std::unique_ptr<StampRecorder> stamps_;  ///< ideal ones; those that cost are in GM
    ObserverHub hub_;
    std::unique_ptr<DispatchJob> job_;
    std::unique_ptr<Pod> pod_;
    RunStatus status_ = RunStatus::ok;
    std::vector<std::string> diagnosis_;
    bool out_of_wall_time_ = false;
    bool broke_rule_ = false;
    HostFigures host_;
};

}  // namespace podsim
