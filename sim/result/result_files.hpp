// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Files of `--out DIR`: result.json, config.json, cores.csv, cards.csv, planes.csv, and what the config asks
/// for of trace.json, hazards.json, stamps.txt (docs/user-guide.md explains every column).
#include "sim/run/simulation.hpp"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace podsim {

/// Throws IoError naming the file that cannot be written.
void write_result_files(const Simulation& simulation, const nlohmann::ordered_json& result,
                        const std::filesystem::path& dir);

}  // namespace podsim
