// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Two runs beside each other: document "podsim.compare/1" and its table.
#include "sim/report/compare_side.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace podsim {

inline constexpr const char* kCompareSchema = "podsim.compare/1";

/// Differences are B minus A; lists are sorted by size of the difference.
nlohmann::ordered_json compare_json(const CompareSide& a, const CompareSide& b);

/// For people, from what compare_json made.
std::string compare_text(const nlohmann::ordered_json& compared);

}  // namespace podsim
