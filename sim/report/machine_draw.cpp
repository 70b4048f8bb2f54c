// SPDX-License-Identifier: Apache-2.0
#include "sim/report/machine_draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>

namespace podsim {

namespace {

using nlohmann::json;

/// Their ranges are bins of the device, or what one may try, not what is not known.
constexpr std::array<std::string_view, 4> kChosen{"/core/clock", "/core/aiv_per_card", "/core/event_ids",
                                                  "/hccs/extra_reorder"};

/// A hypothesis that is switched off stays so: its range is what it would be if it were on.
bool off(const json& node, const std::string& pointer) {
    return pointer.starts_with("/hypotheses/") && node["value"] == 0;
}

bool drawn(const json& node, const std::string& pointer) {
    return node.contains("value") && node["value"].is_number() && node.contains("range") && node["range"].is_array() &&
           !pointer.starts_with("/launch/") && !off(node, pointer) &&
           std::find(kChosen.begin(), kChosen.end(), pointer) == kChosen.end();
}

/// Uniform in [0, 1). The library's distributions differ from one implementation to another.
double share(std::mt19937_64& random) { return static_cast<double>(random() >> 11U) * 0x1p-53; }

void draw(json& node, const std::string& pointer, std::mt19937_64& random) {
    if (!node.is_object()) {
        return;
    }
    if (!drawn(node, pointer)) {
        for (auto& [key, below] : node.items()) {
            draw(below, fmt::format("{}/{}", pointer, key), random);
        }
        return;
    }
    const double least = node["range"][0].get<double>();
    const double most = node["range"][1].get<double>();
    const double at = share(random);
    if (node.value("unit", "") == "count") {
        node["value"] = std::llround(least + at * (most - least));
    } else if (node.value("unit", "") == "B" && node["value"].is_number_integer()) {
        node["value"] = node["range"][at < 0.5 ? 0 : 1];  // sizes are powers of two: one end or the other
    } else {
        const double value = std::round((least + at * (most - least)) * 1000) / 1000;  // as people would write it
        node["value"] = std::clamp(value, least, most);
    }
}

}  // namespace

json drawn_machine(json machine, std::uint64_t number) {
    std::mt19937_64 random(number);
    draw(machine, "", random);
    return machine;
}

}  // namespace podsim
