// SPDX-License-Identifier: Apache-2.0
#include "sim/report/machine_draw.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

namespace podsim {

namespace {

using nlohmann::json;

bool has_range(const json& node) {
    return node.contains("value") && node["value"].is_number() && node.contains("range") && node["range"].is_array();
}

void draw(json& node, std::mt19937_64& random) {
    if (!node.is_structured()) {
        return;
    }
    if (!node.is_object() || !has_range(node)) {
        for (json& below : node) {
            draw(below, random);
        }
        return;
    }
    // The library's distributions differ from one implementation to another.
    const double share = static_cast<double>(random() >> 11U) * 0x1p-53;
    const double least = node["range"][0].get<double>();
    const double value = least + share * (node["range"][1].get<double>() - least);
    if (node["value"].is_number_integer() && node.value("unit", "") == "count") {
        node["value"] = std::llround(value);
    } else {
        node["value"] = std::round(value * 1000) / 1000;  // as people would write it
    }
}

}  // namespace

json drawn_machine(json machine, std::uint64_t number) {
    std::mt19937_64 random(number);
    draw(machine, random);
    return machine;
}

}  // namespace podsim
