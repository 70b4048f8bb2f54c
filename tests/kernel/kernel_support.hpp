// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A whole run in this process, from the smoke config with some values set, and what every run must keep.
#include "sim/run/simulation.hpp"

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace podsim {

using Sets = std::vector<std::string>;
Sets operator+(Sets a, const Sets& b);

extern const std::string kSmoke;  ///< configs/runs/ep8_smoke.json
extern const std::string kTiny;   ///< a set: the fictitious machine

/// The smoke config with `sets`, run to its end. One simulation lives at a time.
std::unique_ptr<Simulation> run_with(const Sets& sets, const std::vector<ObserverIf*>& extra = {});

/// The result without what may differ: the host's figures, and the echo of engine modes.
nlohmann::ordered_json comparable(const Simulation& simulation);
nlohmann::ordered_json result_with(const Sets& sets);

struct Sizes {
    std::uint32_t cards, experts_per_card, batch, top_k, hidden, cores;
};
Sets sized(const Sizes& sizes);

/// Every byte right, exactly `rows` rows, no hazard, and all of the below.
void delivers(const Sets& sets, std::uint64_t rows);

/// Groups and idle sum to the total, sub-phases to their group, each core's phases to its duration.
void keeps_its_sums(const Simulation& simulation);
/// No run is quicker than its bounds; no port carries more than its rate, or is busy longer than the run.
void keeps_its_bounds(const Simulation& simulation);

}  // namespace podsim
