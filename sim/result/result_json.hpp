// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The result document, schema "podsim.result/1" (docs/user-guide.md).
#include "sim/run/simulation.hpp"

#include <nlohmann/json_fwd.hpp>

namespace podsim {

inline constexpr const char* kResultSchema = "podsim.result/1";

/// Result of a simulation that has run; with a status other than ok, what is known is in it.
nlohmann::ordered_json result_json(const Simulation& simulation);

}  // namespace podsim
