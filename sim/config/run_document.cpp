// SPDX-License-Identifier: Apache-2.0
#include "sim/config/run_document.hpp"

#include "sim/config/json_text.hpp"
#include "sim/config/quantity.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <optional>

namespace podsim {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kSetLabel = "--set";
constexpr const char* kMachine = "/machine";
constexpr const char* kRoutingPath = "/workload/routing/path";

json* member(json& root, const std::string& pointer) {
    const json::json_pointer at(pointer);
    return root.contains(at) ? &root[at] : nullptr;
}

fs::path resolve(const std::string& name, const fs::path& folder) {
    const fs::path path(name);
    return (path.is_absolute() ? path : folder / path).lexically_normal();
}

fs::path current_folder() {
    std::error_code error;
    fs::path here = fs::current_path(error);
    if (error) {
        throw IoError("the current folder cannot be found: " + error.message());
    }
    return here;
}

/// Replaces a machine file's name by its contents.
void expand_machine(RunDocument& document, const fs::path& folder) {
    json* machine = member(document.root, kMachine);
    if (machine == nullptr || !machine->is_string()) {
        return;
    }
    const fs::path path = resolve(machine->get<std::string>(), folder);
    document.files.push_back(path.string());
    try {
        *machine = read_json_file(path);
    } catch (const IoError& error) {
        const ErrorDetail named = document.origins.at(kMachine, "", "");
        throw IoError(fmt::format("{}: {}: {}", named.file, named.pointer, error.what()));
    }
    document.origins.record(kMachine, path.string(), "");
}

/// Makes the name of a routing file independent of who reads it later: an effective config may move.
void resolve_routing(RunDocument& document, const fs::path& folder) {
    json* path = member(document.root, kRoutingPath);
    if (path != nullptr && path->is_string() && !path->get_ref<const std::string&>().empty()) {
        const fs::path resolved = resolve(path->get<std::string>(), folder);
        *path = (resolved.is_absolute() ? resolved : current_folder() / resolved).lexically_normal().string();
        document.files.push_back(path->get<std::string>());
    }
}

/// Complains about a value and the pointer it is for, in the words of who gave it.
class SetComplaint {
public:
    explicit SetComplaint(const SetBy& by) : by_(by) {}
    [[noreturn]] void refuse(const std::string& pointer, std::string expected, std::string found,
                             std::string hint = "") const {
        throw UserError({by_.file, by_.place.empty() ? pointer : by_.place, std::move(expected), std::move(found),
                         std::move(hint)});
    }

private:
    const SetBy& by_;
};

std::vector<std::string> tokens_of(const std::string& pointer, const SetComplaint& complaint) {
    if (!pointer.starts_with('/')) {
        complaint.refuse("", "/pointer=value, the pointer starting with /", in_words(pointer));
    }
    std::vector<std::string> tokens;
    for (std::size_t i = 0; i < pointer.size(); ++i) {
        const char c = pointer[i];
        if (c == '/') {
            tokens.emplace_back();
        } else if (c == '~') {
            const char code = i + 1 < pointer.size() ? pointer[++i] : '\0';
            if (code != '0' && code != '1') {
                complaint.refuse("", "~0 (for ~) or ~1 (for /) in a JSON pointer", in_words(pointer));
            }
            tokens.back() += code == '0' ? '~' : '/';
        } else {
            tokens.back() += c;
        }
    }
    if (tokens.size() > kMaxJsonDepth) {
        complaint.refuse("", fmt::format("a pointer of at most {} steps", kMaxJsonDepth),
                         std::to_string(tokens.size()));
    }
    return tokens;
}

/// Index in an array by its token; "-" appends an element.
std::size_t element(json& array, const std::string& token, const std::string& at, const SetComplaint& complaint) {
    if (token == "-") {
        array.push_back(nullptr);
        return array.size() - 1;
    }
    const bool digits = !token.empty() && token.size() < 10 &&
                        std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
                        (token.size() == 1 || token[0] != '0');
    if (!digits || std::stoul(token) >= array.size()) {
        complaint.refuse(at, fmt::format("an index below {}, or - to append", array.size()), in_words(token));
    }
    return std::stoul(token);
}

bool is_parameter(const json& value) { return value.is_object() && value.contains("value") && value.contains("unit"); }

/// `value` in the parameter's own unit: "448Gbps" is 56 where GB/s are held.
json in_unit_of(const json& parameter, const json& value, const std::string& pointer, const SetComplaint& complaint) {
    if (!value.is_string() || !parameter["value"].is_number() || !parameter["unit"].is_string()) {
        return value;
    }
    const auto quantity = parse_quantity(value.get_ref<const std::string&>());
    if (!quantity || quantity->unit.empty()) {
        return value;
    }
    const std::string& held = parameter["unit"].get_ref<const std::string&>();
    for (int d = 0; d <= static_cast<int>(Dimension::choice); ++d) {
        const auto dimension = static_cast<Dimension>(d);
        const auto from = unit_size(dimension, quantity->unit);
        const auto to = unit_size(dimension, held);
        if (from && to) {
            return parse_json(json(quantity->value * *from / *to).dump(), kSetLabel);
        }
    }
    complaint.refuse(pointer, fmt::format("a value in a unit that converts to {}", held), in_words(value));
}

}  // namespace

bool may_name_file(std::string_view pointer) { return pointer == kMachine || is_below(kRoutingPath, pointer); }

void apply_value(RunDocument& document, const std::string& pointer, json value, const SetBy& by) {
    const SetComplaint complaint(by);
    const std::vector<std::string> tokens = tokens_of(pointer, complaint);
    json* node = &document.root;
    std::string at;
    std::string made;  // the topmost object that did not exist
    const auto new_value = [&tokens](std::size_t i) {
        const bool last = i + 1 == tokens.size();
        return last ? json() : tokens[i + 1] == "-" ? json::array() : json::object();
    };
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (node->is_array()) {
            const std::size_t index = element(*node, tokens[i], at, complaint);
            node = &(*node)[index];
            at = join_pointer(at, std::to_string(index));
            if (tokens[i] == "-") {
                made = made.empty() ? at : made;
                *node = new_value(i);
            }
            continue;
        }
        if (node->is_object()) {
            if (!node->contains(tokens[i])) {
                if (made.empty()) {
                    made = join_pointer(at, tokens[i]);
                }
                (*node)[tokens[i]] = new_value(i);
            }
            node = &(*node)[tokens[i]];
        } else {
            complaint.refuse(at, fmt::format("an object or array, to hold {}", in_words(tokens[i])), in_words(*node));
        }
        at = join_pointer(at, tokens[i]);
    }
    const bool sets_parameter = is_below(at, kMachine) && is_parameter(*node) && !value.is_object();
    if (sets_parameter) {
        (*node)["value"] = in_unit_of(*node, value, at, complaint);
        made = join_pointer(at, "value");
    } else {
        *node = std::move(value);
    }
    const std::string written = made.empty() ? at : made;
    document.origins.record(written, by.file, by.place.empty() ? written : by.place);
    if (!by.place.empty() && at != written && is_below(at, written)) {
        document.origins.record(at, by.file, by.place);
    }
    const fs::path here = by.folder.empty() ? current_folder() : by.folder;
    if (at == kMachine) {
        expand_machine(document, here);
    }
    if (is_below(kRoutingPath, at)) {
        resolve_routing(document, here);
    }
}

void apply_set(RunDocument& document, const std::string& text) {
    const SetBy by_set{kSetLabel, "", {}};
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
        SetComplaint(by_set).refuse("", "/pointer=value", in_words(text), "there is no =");
    }
    try {
        static_cast<void>(json(text).dump());
    } catch (const json::exception&) {
        SetComplaint(by_set).refuse("", "UTF-8 text", "bytes that are none");
    }
    const std::string value_text = text.substr(equals + 1);
    json value = value_text;
    try {
        value = parse_json(value_text, kSetLabel);
    } catch (const UserError&) {  // not JSON: the text itself is the value
    }
    apply_value(document, text.substr(0, equals), std::move(value), by_set);
}

RunDocument read_run_document(const fs::path& path, const std::vector<std::string>& sets) {
    RunDocument document;
    document.root = read_json_file(path);
    document.origins.record("", path.string(), "");
    document.files.push_back(path.string());
    if (!document.root.is_object()) {
        throw UserError(document.origins.at("", "an object (podsim.run/1)", in_words(document.root)));
    }
    expand_machine(document, path.parent_path());
    resolve_routing(document, path.parent_path());
    for (const std::string& set : sets) {
        apply_set(document, set);
    }
    return document;
}

}  // namespace podsim
