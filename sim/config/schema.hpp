// SPDX-License-Identifier: Apache-2.0
#pragma once
/// JSON Schema validation against the embedded schemas of configs/schema/.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace podsim {

class Origins;

enum class SchemaName { run, machine, sweep, result, components, kernels };

/// The embedded file configs/schema/<name>.schema.json.
std::string_view schema_text(SchemaName name);

/// `document` stands at `pointer` of what `origins` describes. Throws UserError with one problem in one message:
/// a wrong `schema` before unknown keys before missing ones before wrong values.
void validate_against(SchemaName name, const nlohmann::json& document, const std::string& pointer,
                      const Origins& origins);

/// Adds what the schema states as `default` and the (valid) document leaves out.
void fill_defaults(SchemaName name, nlohmann::json& document);

}  // namespace podsim
