// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One of the two runs that `podsim compare` looks at.
#include "sim/report/core_loads.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace podsim {

struct CompareSide {
    std::string source;              ///< as the user named it
    nlohmann::json result;           ///< podsim.result/1, status ok
    std::optional<CoreLoads> loads;  ///< nothing where there is no cores.csv beside the result
};

/// Pointers of the effective configs whose values differ. `workload`: those that say what is dispatched (/cards,
/// /workload, /calls, /seed), else the others, without what only describes.
std::vector<std::string> config_differences(const CompareSide& a, const CompareSide& b, bool workload);

/// Throws UserError naming the pointers when the two dispatch different things.
void require_same_workload(const CompareSide& a, const CompareSide& b);

/// Each of the two `sources` is a result folder, a result.json, or a config, which is run, in `work`/a and `work`/b.
/// Workloads that differ are refused, before anything is run, unless `different_workloads`. Throws PodsimError; a run
/// that ended as mismatch, deadlock or time-out has nothing to compare and throws with its code.
std::vector<CompareSide> load_compare_sides(const std::vector<std::string>& sources, const std::filesystem::path& work,
                                            bool different_workloads);

}  // namespace podsim
