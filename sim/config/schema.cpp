// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema.hpp"

#include "models/engine/error.hpp"
#include "sim/config/json_text.hpp"
#include "sim/config/origins.hpp"
#include "sim/config/schema_words.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace podsim {

namespace {

using nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

/// valijson tells a place as "<root>", "[key]", "[0]", …
std::vector<Problem> problems_at(const json& root, const json& document, const std::vector<std::string>& context) {
    const json* node = &root;
    const json* value = &document;
    std::string pointer;
    for (std::size_t i = 1; i < context.size(); ++i) {
        const std::string key = context[i].substr(1, context[i].size() - 2);
        node = subschema(root, *node, key);
        if (node == nullptr) {
            return {};
        }
        if (value->is_object() && value->contains(key)) {
            value = &(*value)[key];
        } else if (value->is_array() && !key.empty() && std::all_of(key.begin(), key.end(), ::isdigit) &&
                   key.size() < 10 && std::stoul(key) < value->size()) {
            value = &(*value)[std::stoul(key)];
        } else {
            return {};
        }
        pointer = join_pointer(pointer, key);
    }
    return explain(root, *node, *value, pointer);
}

void fill(const json& root, const json& node, json& value) {
    const json& here = resolved(root, node);
    if (value.is_array() && here.contains("items")) {
        for (json& element : value) {
            fill(root, here["items"], element);
        }
    }
    if (!value.is_object()) {
        return;
    }
    const json none = json::object();
    const json& properties = here.contains("properties") ? here["properties"] : none;
    for (const auto& [key, child] : properties.items()) {
        const json& member = resolved(root, child);
        if (!value.contains(key) && member.contains("default")) {
            value[key] = member["default"];
        }
    }
    for (auto& [key, child] : value.items()) {
        if (const json* member = subschema(root, here, key)) {
            fill(root, *member, child);
        }
    }
}

}  // namespace

void validate_against(SchemaName name, const json& document, const std::string& pointer, const Origins& origins) {
    const json root = json::parse(schema_text(name));
    valijson::Schema compiled;
    valijson::SchemaParser().populateSchema(Adapter(root), compiled);
    valijson::ValidationResults results;
    if (valijson::Validator().validate(compiled, Adapter(document), &results)) {
        return;
    }
    std::optional<Problem> first;
    for (const auto& error : results) {
        for (Problem& problem : problems_at(root, document, error.context)) {
            if (!first || problem.rank < first->rank) {
                first = std::move(problem);
            }
        }
    }
    if (!first) {  // a keyword schema_words.cpp has no words for
        throw InternalError(fmt::format("a schema violation could not be explained: {}",
                                        results.numErrors() == 0 ? "no place" : results.begin()->description));
    }
    const std::string hint = first->known_at.empty()
                                 ? first->hint
                                 : fmt::format("a key of that name is known at {}{}", pointer, first->known_at);
    throw UserError(origins.at(pointer + first->pointer, first->expected, first->found, hint));
}

void fill_defaults(SchemaName name, json& document) {
    const json root = json::parse(schema_text(name));
    fill(root, root, document);
}

}  // namespace podsim
