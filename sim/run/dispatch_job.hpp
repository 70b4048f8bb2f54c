// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Runs the calls of a Dispatch on a pod: places inputs, launches cores, checks each card's output when its
/// call ends, launches its next call. Cards are not synchronised with each other between calls.
#include "algorithms/dispatch/dispatch_args.hpp"
#include "algorithms/kernel_api/aiv.hpp"
#include "algorithms/kernel_api/registry.hpp"
#include "algorithms/reference/reference_dispatch.hpp"
#include "algorithms/routing/routing.hpp"
#include "models/pod/pod.hpp"
#include "sim/check/flag_check.hpp"
#include "sim/check/output_check.hpp"
#include "sim/observe/landing_recorder.hpp"

#include <memory>
#include <vector>

namespace podsim {

struct JobParams {
    Workload workload;
    RoutingSpec routing;
    Options options;
    KernelBody body = nullptr;
    std::uint32_t cores = 0;
    std::uint32_t count_cores = 0;  ///< 0: the kernel derives it
    std::uint32_t calls = 1;
    std::uint64_t seed = 0;
    bool stamps = false;                  ///< kernels stamp their clock, at its cost
    LandingRecorder* landings = nullptr;  ///< told when a card ends a call
    EarlyFlags* early_flags = nullptr;    ///< the same
};

/// Start and end of one card in one call: first core's start, last core's end with everything drained.
struct CardCall {
    Picoseconds started = kNever;
    Picoseconds ended = kNever;
};

class DispatchJob final : public ObserverIf {
public:
    DispatchJob(const JobParams& params, const DispatchLayout& layout);

    /// After the pod is elaborated, before its first event.
    void start(Pod& pod, EngineIf& engine);

    // ObserverIf: hears of ended cores.
    Interest interest() const override { return {false, false, false}; }
    void phase_entered(CoreRef core, std::string_view phase, bool /*step*/, Picoseconds at) override;

    bool finished() const { return cards_done_ == params_.workload.cards; }
    const CardCall& card_call(std::uint32_t call, std::uint32_t card) const { return times_[call][card]; }
    const OutputCheck& check() const { return check_; }
    const FlagCheck& flags() const { return flags_; }
    /// A run that stopped before its end: takes in the early flags of calls that have not ended.
    void take_open_flags();
    const RoutingTable& routing(std::uint32_t call) const { return calls_[call]->table; }
    const ReferenceDispatch& reference(std::uint32_t call) const { return calls_[call]->reference; }
    /// What is worth knowing about the routing of the first call (leftover tokens of a trace …).
    const std::vector<std::string>& notes() const { return notes_; }
    std::uint64_t expected_rows() const;
    /// Stamps in the core's stamp area, and those it had no room for.
    std::uint32_t stamps_sent(CoreRef core) const { return aiv(core).stamps_sent(); }
    std::uint32_t stamps_lost(CoreRef core) const { return aiv(core).stamps_lost(); }

private:
    struct Call {
        RoutingTable table;
        ReferenceDispatch reference;
    };
    /// Wakes the job when the card's call has ended.
    struct CardState final : Unit {
        void on_event(Picoseconds now, Phase phase, std::uint64_t tag) override;
        DispatchJob* job = nullptr;
        std::uint32_t card = 0;
        std::uint32_t call = 0;
        std::uint32_t running = 0;  ///< cores of the current call that have not ended
        Picoseconds ended = 0;      ///< latest end so far
    };

    void go_on(std::uint32_t card, Picoseconds now);
    const Aiv& aiv(CoreRef core) const {
        return *aivs_[index(core.card) * static_cast<std::size_t>(params_.cores) + index(core.core)];
    }
    void prepare_call(std::uint32_t call);
    void place_fixed(std::uint32_t card);
    void launch(std::uint32_t card, Picoseconds at);
    void check_flags(std::uint32_t card, Picoseconds now);
    Picoseconds way_back(const StoreEvent& store) const;
    Picoseconds core_skew(std::uint32_t card, std::uint32_t core, std::uint32_t call) const;

    JobParams params_;
    const DispatchLayout& layout_;
    Pod* pod_ = nullptr;
    EngineIf* engine_ = nullptr;
    std::vector<std::unique_ptr<Call>> calls_;
    std::vector<CardState> cards_;
    std::vector<DispatchArgs> args_;  ///< per card and core
    std::vector<std::unique_ptr<Aiv>> aivs_;
    std::vector<std::vector<CardCall>> times_;
    OutputCheck check_;
    FlagCheck flags_;
    std::vector<std::string> notes_;
    std::uint32_t cards_done_ = 0;
};

}  // namespace podsim
