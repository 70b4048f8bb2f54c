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

/// Nothing when there is no such file. Throws UserError when it is no cores.csv, IoError.
std::optional<CoreLoads> read_core_loads(const std::filesystem::path& path);

}  // namespace podsim
