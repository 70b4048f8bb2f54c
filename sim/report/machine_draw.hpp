// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Machines like a given one whose parameters lie anywhere in their ranges.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace podsim {

/// The machine document with every parameter whose range says what is not known drawn uniformly from it: counts as
/// whole numbers, sizes as one end or the other. Left alone: hypotheses that are off, start skews, bins of the device
/// (clock, cores, event ids), extra reordering. The same for the same number and document, anywhere.
nlohmann::json drawn_machine(nlohmann::json machine, std::uint64_t number);

}  // namespace podsim
