// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a schema asks for, in words, and what is wrong with one value. Validation itself is valijson's (schema.cpp);
/// this only explains, at the place valijson found.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace podsim {

/// `node` or, if it is a reference into `root`, what it refers to.
const nlohmann::json& resolved(const nlohmann::json& root, const nlohmann::json& node);

/// Subschema that governs the member `key` of an object or the elements of an array; nullptr when none does.
const nlohmann::json* subschema(const nlohmann::json& root, const nlohmann::json& node, const std::string& key);

/// "an integer from 1 to 512", "one of \"on\", \"off\"", …
std::string describe(const nlohmann::json& root, const nlohmann::json& node);

struct Problem {
    int rank;             ///< lower is told first
    std::string pointer;  ///< below the document
    std::string expected, found, hint;
    std::string known_at = "";  ///< below the document: where an unknown key would be known
};

/// What is wrong with `value` itself at `pointer`, not with what it contains.
std::vector<Problem> explain(const nlohmann::json& root, const nlohmann::json& node, const nlohmann::json& value,
                             const std::string& pointer);

}  // namespace podsim
