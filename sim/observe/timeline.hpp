// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Every stretch of every core's time by phase, and as Chrome Trace Event JSON (Perfetto, MindStudio Insight,
/// chrome://tracing): a process per card, a thread per AIV core.
#include "models/engine/observer.hpp"
#include "sim/observe/phase_names.hpp"

#include <iosfwd>
#include <vector>

namespace podsim {

class TimelineRecorder final : public ObserverIf {
public:
    /// Slices beyond `most` are counted, not kept.
    TimelineRecorder(std::uint32_t cards, std::uint32_t cores_per_card, std::size_t most = kMostSlices);

    Interest interest() const override { return {false, false, false}; }
    void phase_entered(CoreRef core, std::string_view phase, bool /*step*/, Picoseconds at) override;
    /// Ends at `at` what is still open: a run that got stuck.
    void close(Picoseconds at);

    std::size_t slices() const { return slices_.size(); }
    std::uint64_t dropped() const { return dropped_; }
    /// Bytes that write() will about write.
    std::uint64_t estimated_bytes() const;
    /// Times from the first core's start on; µs with six decimals, so exact.
    void write(std::ostream& out) const;

    static constexpr std::size_t kMostSlices = 8'000'000;  ///< about 900 MB of JSON
    static constexpr std::uint64_t kLargeBytes = 250'000'000;

private:
    struct Slice {
        std::uint32_t core = 0;  ///< card × cores + core
        std::uint16_t phase = 0;
        std::uint16_t call = 0;
        Picoseconds from = 0, to = 0;
    };
    struct State {
        std::uint16_t phase = 0;
        std::uint16_t call = 0;
        bool running = false;
        Picoseconds since = 0;
    };
    void end_slice(std::uint32_t core, Picoseconds at);

    std::uint32_t cores_per_card_;
    std::size_t most_;
    PhaseNames names_;
    std::vector<State> state_;
    std::vector<Slice> slices_;
    std::uint64_t dropped_ = 0;
    Picoseconds first_ = kNever;
};

}  // namespace podsim
