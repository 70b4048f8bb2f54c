// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Machines like a given one whose parameters lie anywhere in their ranges.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace podsim {

/// The machine document with every parameter that has a range drawn uniformly from it, counts as whole numbers. The
/// same for the same number and document, anywhere.
nlohmann::json drawn_machine(nlohmann::json machine, std::uint64_t number);

}  // namespace podsim
