// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The short table that `podsim run` prints for people.
#include "sim/run/simulation.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace podsim {

std::string summary_of(const Simulation& simulation, const nlohmann::ordered_json& result);

}  // namespace podsim
