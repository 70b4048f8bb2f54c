// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Figures of a run (or of some of its calls), from what the recorders saw. Times in µs.
/// Definitions: docs/user-guide.md, "What the result means".
#include "sim/run/simulation.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace podsim {

/// Phase groups in the article's order; `idle` is what is left of the total.
inline constexpr std::array<const char*, 5> kPhaseGroups{"init", "transfer", "flags", "address", "reorder"};

struct CardFigures {
    double min = 0, mean = 0, p50 = 0, p99 = 0, max = 0;
};

/// When cores last leave a phase, from the first core's start on.
struct PhaseEnds {
    double first = 0, mean = 0, last = 0;
    double spread() const { return last - first; }
};

struct Bounds {
    double wire = 0, incast = 0, hbm = 0, aiv_issue = 0, latency = 0;
};

struct CallRange {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};

struct Metrics {
    double total_us = 0;    ///< first core start on any card to last core end
    double skew_us = 0;     ///< first card's start to last card's start
    double service_us = 0;  ///< last card's start to the end
    CardFigures card_us;
    CoreRef slowest;
    std::map<std::string, double> phases_us;         ///< groups and idle: mean over all cores; sums to total_us
    std::map<std::string, double> phases_max_us;     ///< the largest of any core
    std::map<std::string, double> subphases_us;      ///< by full name, mean over all cores
    std::map<std::string, PhaseEnds> phase_ends_us;  ///< groups and sub-phases, in the last call; cores that had it
    double tail_us = 0;
    double post_us = 0;
    double post_hidden_pct = 0;
};

/// Of calls [range.first, range.last]; all of them have ended on all cards.
Metrics metrics_of(const Simulation& simulation, CallRange range);

/// Least times any schedule needs on this machine for the run's rows.
Bounds bounds_of(const Simulation& simulation);

/// Calls that every card has ended.
std::uint32_t complete_calls(const Simulation& simulation);

}  // namespace podsim
