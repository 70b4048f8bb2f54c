// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A run config as one JSON document: references expanded, then --set applied left to right.
#include "sim/config/origins.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace podsim {

struct RunDocument {
    nlohmann::json root;
    Origins origins;
    std::vector<std::string> files;  ///< every file read for it or named in it, whatever was set over it later
};

/// `sets` are "/pointer=value" texts. Files named in the config resolve against its folder, files named by a set
/// against the current one; `/machine` is replaced by the file's contents, `/workload/routing/path` made absolute.
/// Nothing is validated but syntax. Throws UserError, IoError.
RunDocument read_run_document(const std::filesystem::path& path, const std::vector<std::string>& sets);

/// One "/pointer=value" on a document. Relative file names in it resolve against the current folder.
void apply_set(RunDocument& document, const std::string& text);

/// Whether a value set at `pointer` may name a file.
bool may_name_file(std::string_view pointer);

/// Who gives a value: what messages about it name, and the folder that relative file names in it start from.
struct SetBy {
    std::string file;              ///< or --set
    std::string place;             ///< where the value stands in that file; "" = at the pointer that is set
    std::filesystem::path folder;  ///< "" = the current one
};

/// The same with the value as JSON already (sweeps).
void apply_value(RunDocument& document, const std::string& pointer, nlohmann::json value, const SetBy& by);

}  // namespace podsim
