// SPDX-License-Identifier: Apache-2.0
/// Whether two runs dispatch the same thing, and in what else their configs differ.
#include "models/engine/error.hpp"
#include "sim/report/compare_side.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

namespace podsim {

namespace {

using nlohmann::json;

bool is_workload(const std::string& pointer) {
    const auto below = [&](std::string_view prefix) {
        return pointer == prefix || pointer.starts_with(std::string(prefix) + "/");
    };
    return below("/cards") || below("/workload") || below("/calls") || below("/seed");
}

/// Names, reasons and ranges beside numbers: no part of what is simulated.
bool only_describes(const std::string& pointer) {
    constexpr std::array kWords{"/source", "/note", "/kind", "/types_source", "/description"};
    return pointer == "/description" || pointer == "/schema" || pointer.find("/range/") != std::string::npos ||
           pointer.ends_with("/range") || std::any_of(kWords.begin(), kWords.end(), [&](const char* end) {
               return pointer.starts_with("/machine/") && pointer.ends_with(end);
           });
}

}  // namespace

std::vector<std::string> config_differences(const CompareSide& a, const CompareSide& b, bool workload) {
    const json x = a.result["config"].flatten(), y = b.result["config"].flatten();
    std::set<std::string> pointers;
    for (const json* side : {&x, &y}) {
        for (const auto& [pointer, value] : side->items()) {
            pointers.insert(pointer);
        }
    }
    std::vector<std::string> out;
    for (const std::string& pointer : pointers) {
        const bool wanted = is_workload(pointer) == workload && (workload || !only_describes(pointer));
        if (wanted && x.value(pointer, json()) != y.value(pointer, json())) {
            out.push_back(pointer);
        }
    }
    return out;
}

void require_same_workload(const CompareSide& a, const CompareSide& b) {
    const auto differ = config_differences(a, b, true);
    if (differ.empty()) {
        return;
    }
    std::vector<std::string> of_a, of_b;
    const auto value = [](const CompareSide& side, const std::string& pointer) {
        return side.result["config"].flatten().value(pointer, json()).dump();
    };
    for (const std::string& pointer : differ) {
        of_a.push_back(value(a, pointer));
        of_b.push_back(value(b, pointer));
    }
    throw UserError({fmt::format("{} and {}", a.source, b.source), fmt::format("{}", fmt::join(differ, ", ")),
                     "the same workload", fmt::format("{} and {}", fmt::join(of_a, ", "), fmt::join(of_b, ", ")),
                     "--different-workloads compares them nevertheless"});
}

}  // namespace podsim
