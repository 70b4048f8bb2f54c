// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the listeners of a run found, as part of the result document and as files of --out.
#include "sim/run/simulation.hpp"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace podsim {

/// At most this many places are listed; `hazard_count` has the whole number.
inline constexpr std::size_t kMostHazards = 100;

/// Sets `hazards_checked`, `hazards` and, where checked, `hazard_count`.
void put_hazards(nlohmann::ordered_json& result, const Simulation& simulation);

/// What a timeline or stamps could not hold.
std::vector<std::string> observe_notes(const Simulation& simulation);

/// trace.json, hazards.json, stamps.txt: those that the config asked for. Throws IoError.
void write_observe_files(const Simulation& simulation, const nlohmann::ordered_json& result,
                         const std::filesystem::path& dir);

}  // namespace podsim
