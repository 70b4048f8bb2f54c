// SPDX-License-Identifier: Apache-2.0
#pragma once
/// results.csv: a row per point, in point order, whatever order they ended in.
#include "sim/sweep/point_run.hpp"
#include "sim/sweep/sweep_plan.hpp"

#include <string>
#include <vector>

namespace podsim {

/// Columns that the table always has besides the axes': an axis cannot take their names.
std::vector<std::string> reserved_columns();

/// RFC 4180, UTF-8, lines end with \n. Columns: point, the axes', reserved_columns(), further phase groups and
/// sub-phases of any point by name, and at the end those of the host, named host_.
std::string results_csv(const SweepPlan& plan, const std::vector<PointOutcome>& outcomes);

/// Whether `path` is a file with the header of such a table, of this version or another.
bool is_results_csv(const std::filesystem::path& path);

/// What results_csv needs of a result; the rest of it may go.
nlohmann::json table_part(const nlohmann::json& result);

}  // namespace podsim
