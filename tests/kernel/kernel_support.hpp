// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A whole run in this process, from the smoke config with some values set.
#include "sim/result/result_json.hpp"
#include "sim/run/simulation.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace podsim {

using Sets = std::vector<std::string>;

inline const std::string kSmoke = std::string(PODSIM_SOURCE_DIR) + "/configs/runs/ep8_smoke.json";
inline const std::string kTiny = std::string("/machine=") + PODSIM_SOURCE_DIR + "/configs/machines/tiny_pod.json";

inline std::unique_ptr<Simulation> run_with(const Sets& sets, const std::vector<ObserverIf*>& extra = {}) {
    auto simulation = std::make_unique<Simulation>(load_run_config(kSmoke, sets), extra);
    simulation->run();
    return simulation;
}

/// The result without what may differ: the host's figures, and the echo of engine modes.
inline nlohmann::ordered_json comparable(const Simulation& simulation) {
    nlohmann::ordered_json result = result_json(simulation);
    result.erase("host");
    result["config"].erase("engine");
    return result;
}

inline nlohmann::ordered_json result_with(const Sets& sets) { return comparable(*run_with(sets)); }

}  // namespace podsim
