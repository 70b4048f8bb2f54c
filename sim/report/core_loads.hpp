// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How evenly a run's work lies on its cores, from cores.csv.
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

namespace podsim {

/// Time outside the phase group `flags`, which is nearly all waiting; µs, all calls of the run.
struct CoreLoads {
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> work_us;  ///< by (card, core)

    /// Mean over cards, by core.
    std::map<std::uint32_t, double> by_core() const;
};

/// What cores.csv has a row for: every core of every card in every call; and what result.json says of them all.
struct CoreRows {
    std::uint32_t calls = 0, cards = 0, cores = 0;
    double mean_work_us = 0;  ///< time outside `flags`, all calls
};

/// Nothing when there is no such file. Throws UserError with the line when it is not the whole cores.csv of that run,
/// IoError.
std::optional<CoreLoads> read_core_loads(const std::filesystem::path& path, const CoreRows& rows);

}  // namespace podsim
