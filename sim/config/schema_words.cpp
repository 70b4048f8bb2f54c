// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema_words.hpp"

#include "sim/config/json_text.hpp"
#include "sim/config/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

namespace podsim {

namespace {

using nlohmann::json;

enum Rank : int { rank_schema, rank_unknown, rank_missing, rank_wrong };

bool has_type(const json& value, const std::string& type) {
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
           (type == "integer" && value.is_number_integer()) || (type == "number" && value.is_number()) ||
           (type == "null" && value.is_null());
}

std::vector<std::string> types_of(const json& node) {
    const auto type = node.find("type");
    if (type == node.end()) {
        return {};
    }
    return type->is_array() ? type->get<std::vector<std::string>>()
                            : std::vector<std::string>{type->get<std::string>()};
}

std::string bounds(const json& node) {
    const bool least = node.contains("minimum");
    const bool most = node.contains("maximum");
    std::string above = node.contains("exclusiveMinimum") ? " above " + node["exclusiveMinimum"].dump() : "";
    if (least && most) {
        return fmt::format(" from {} to {}", node["minimum"].dump(), node["maximum"].dump());
    }
    if (least) {
        return fmt::format(", at least {}", node["minimum"].dump());
    }
    if (most) {
        return fmt::format("{}, at most {}", above, node["maximum"].dump());
    }
    return above;
}

std::string describe_type(const json& root, const json& node, const std::string& type) {
    if (type == "integer" || type == "number") {
        return (type == "integer" ? "an integer" : "a number") + bounds(node);
    }
    if (type == "boolean") {
        return "true or false";
    }
    if (type == "string") {
        return node.contains("minLength") ? "a non-empty string" : "a string";
    }
    if (type == "object") {
        return "an object";
    }
    if (type == "null") {
        return "null";
    }
    std::string text = "an array";
    if (node.contains("minItems") && node.contains("maxItems") && node["minItems"] == node["maxItems"]) {
        text += " of exactly " + node["minItems"].dump();
    } else if (node.contains("maxItems")) {
        text += fmt::format(" of {} to {} elements", node.value("minItems", 0), node["maxItems"].dump());
    } else if (node.contains("minItems")) {
        text += fmt::format(" of {} elements or more", node["minItems"].dump());
    }
    return node.contains("items") ? fmt::format("{} (each {})", text, describe(root, node["items"])) : text;
}

/// Every place of the schema where a key of that name is legal, as pointers.
void places_of(const json& root, const json& node, const std::string& key, const std::string& at,
               std::vector<std::string>& found) {
    const json& here = resolved(root, node);
    const auto properties = here.find("properties");
    if (properties == here.end()) {
        return;
    }
    for (const auto& [name, child] : properties->items()) {
        if (name == key) {
            found.push_back(join_pointer(at, name));
        }
        places_of(root, child, key, join_pointer(at, name), found);
    }
}

Problem unknown_key(const json& root, const json& node, const std::string& key, const std::string& pointer) {
    std::vector<std::string> names;
    for (const auto& [name, child] : node["properties"].items()) {
        names.push_back(name);
    }
    std::vector<std::string> elsewhere;
    places_of(root, root, key, "", elsewhere);
    return {rank_unknown,          join_pointer(pointer, key),
            "a known key",         fmt::format("the unknown key {}", in_words(key)),
            name_hint(key, names), elsewhere.empty() ? "" : elsewhere.front()};
}

bool number_fits(const json& node, const json& value) {
    const double number = value.get<double>();
    return number >= node.value("minimum", number) && number <= node.value("maximum", number) &&
           (!node.contains("exclusiveMinimum") || number > node["exclusiveMinimum"].get<double>());
}

bool size_fits(const json& node, const json& value) {
    if (value.is_string()) {
        return value.get_ref<const std::string&>().size() >= node.value("minLength", std::size_t{0});
    }
    if (value.is_array()) {
        return value.size() >= node.value("minItems", std::size_t{0}) &&
               value.size() <= node.value("maxItems", value.size());
    }
    return true;
}

/// Nearest choice for a string that is none of an enum's.
std::string choice_hint(const json& node, const json& value) {
    if (!node.contains("enum") || !value.is_string()) {
        return "";
    }
    std::vector<std::string> names;
    for (const json& choice : node["enum"]) {
        if (choice.is_string()) {
            names.push_back(choice.get<std::string>());
        }
    }
    const std::string near = nearest_name(value.get_ref<const std::string&>(), names);
    return near.empty() ? "" : "nearest valid name: " + near;
}

bool is_right(const json& node, const json& value) {
    if (node.contains("anyOf")) {
        return std::any_of(node["anyOf"].begin(), node["anyOf"].end(),
                           [&](const json& one) { return is_right(one, value); });
    }
    if (node.contains("const")) {
        return value == node["const"];
    }
    if (node.contains("enum")) {
        return std::find(node["enum"].begin(), node["enum"].end(), value) != node["enum"].end();
    }
    const auto types = types_of(node);
    const bool type_fits = types.empty() || std::any_of(types.begin(), types.end(),
                                                        [&](const auto& type) { return has_type(value, type); });
    return type_fits && (!value.is_number() || number_fits(node, value)) && size_fits(node, value);
}

}  // namespace

const json& resolved(const json& root, const json& node) {
    const auto reference = node.find("$ref");
    if (reference == node.end()) {
        return node;
    }
    return root.at(json::json_pointer(reference->get_ref<const std::string&>().substr(1)));
}

const json* subschema(const json& root, const json& node, const std::string& key) {
    const json& here = resolved(root, node);
    if (const auto properties = here.find("properties"); properties != here.end() && properties->contains(key)) {
        return &resolved(root, (*properties)[key]);
    }
    if (const auto other = here.find("additionalProperties"); other != here.end() && other->is_object()) {
        return &resolved(root, *other);
    }
    if (const auto items = here.find("items"); items != here.end()) {
        return &resolved(root, *items);
    }
    return nullptr;
}

std::string describe(const json& root, const json& node) {
    const json& here = resolved(root, node);
    if (here.contains("const")) {
        return here["const"].dump();
    }
    std::vector<std::string> parts;
    if (here.contains("enum")) {
        for (const json& choice : here["enum"]) {
            parts.push_back(choice.dump());
        }
        return fmt::format("one of {}", fmt::join(parts, ", "));
    }
    if (here.contains("anyOf")) {
        for (const json& one : here["anyOf"]) {
            parts.push_back(describe(root, one));
        }
    } else {
        for (const std::string& type : types_of(here)) {
            parts.push_back(describe_type(root, here, type));
        }
    }
    return fmt::format("{}", fmt::join(parts, " or "));
}

std::vector<Problem> explain(const json& root, const json& node, const json& value, const std::string& pointer) {
    if (!is_right(node, value)) {
        const bool is_schema_key = pointer == "/schema";
        return {{is_schema_key ? rank_schema : rank_wrong, pointer, describe(root, node), in_words(value),
                 choice_hint(node, value)}};
    }
    std::vector<Problem> problems;
    if (!value.is_object()) {
        return problems;
    }
    if (node.value("additionalProperties", json(true)) == json(false)) {
        for (const auto& [key, child] : value.items()) {
            if (!node["properties"].contains(key)) {
                problems.push_back(unknown_key(root, node, key, pointer));
            }
        }
    }
    for (const json& key : node.value("required", json::array())) {
        if (!value.contains(key.get_ref<const std::string&>())) {
            const std::string& name = key.get_ref<const std::string&>();
            problems.push_back({rank_missing, join_pointer(pointer, name), describe(root, node["properties"][name]),
                                "nothing: the key is missing", ""});
        }
    }
    return problems;
}

}  // namespace podsim
