// SPDX-License-Identifier: Apache-2.0
/// Every key of an effective run config: renamed, it is refused with its own name as the nearest; given a value of
/// another type, it is refused at its place.
#include "sim/config/json_text.hpp"
#include "sim/config/schema.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/config_support.hpp"

#include <fmt/format.h>

using namespace podsim;
using namespace podsim::test;
using nlohmann::json;

namespace {

/// Effective config without the machine, whose keys config_machine.cpp walks.
json effective_but_machine() {
    json config = effective_json(
        load_small({"/workload/routing/kind=file", "/workload/routing/path=/t.jsonl", "/workload/routing/layer=0",
                    "/workload/routing/tokens_per_card=[1,1,1,1,1,1,1,1]", "/description=x"}));
    config["machine"] = repository("configs/machines/atlas_a3_pod.json");
    return config;
}

std::vector<std::string> all_keys(const json& value, const std::string& pointer = "") {
    std::vector<std::string> keys;
    if (value.is_object()) {
        for (const auto& [key, child] : value.items()) {
            keys.push_back(join_pointer(pointer, key));
            const auto below = all_keys(child, keys.back());
            keys.insert(keys.end(), below.begin(), below.end());
        }
    }
    return keys;
}

ErrorDetail refused_document(const json& config) {
    const TempDir dir;
    const std::string path = dir.write("run.json", config.dump());
    ErrorDetail detail = user_error([&] { load_run_config(path); });
    CHECK(detail.file == path);
    CHECK_FALSE(detail.expected.empty());
    CHECK_FALSE(detail.found.empty());
    return detail;
}

json renamed(json config, const std::string& pointer, const std::string& to) {
    const std::size_t slash = pointer.rfind('/');
    json& members = config[json::json_pointer(pointer.substr(0, slash))];
    const std::string key = pointer.substr(slash + 1);
    const json value = members[key];
    members.erase(key);
    members[to] = value;
    return config;
}

}  // namespace

TEST_CASE("config mutations: a renamed key is refused and its name suggested", "[config]") {
    const json config = effective_but_machine();
    const auto keys = all_keys(config);
    CHECK(keys.size() > 35);
    for (const std::string& pointer : keys) {
        const std::string key = pointer.substr(pointer.rfind('/') + 1);
        const std::string parent = pointer.substr(0, pointer.rfind('/'));
        std::string swapped = key;
        std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
        std::string upper = key;
        upper[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(upper[0])));
        for (const std::string& wrong : {key + "s_", key.substr(0, key.size() - 1), swapped, upper, "x" + key}) {
            if (wrong == key || wrong == "expert") {
                continue;
            }
            INFO(pointer << " -> " << wrong);
            const ErrorDetail detail = refused_document(renamed(config, pointer, wrong));
            CHECK(detail.pointer == fmt::format("{}/{}", parent, wrong));
            CHECK(detail.hint == "nearest valid name: " + key);
        }
    }
}

TEST_CASE("config mutations: a value of another type is refused at its place", "[config]") {
    const json config = effective_but_machine();
    for (const std::string& pointer : all_keys(config)) {
        const json::json_pointer at(pointer);
        for (const json& wrong :
             {json(nullptr), json(true), json(-1.5), json("§"), json::array({json::object()}), json{{"§", 1}}}) {
            const json& right = config[at];
            const bool boolean_fits = wrong.is_boolean() && right.is_boolean();
            const bool text_fits = wrong.is_string() && (pointer == "/description" || pointer == "/machine" ||
                                                         pointer == "/workload/routing/path");
            if (boolean_fits || text_fits) {
                continue;
            }
            INFO(pointer << " = " << wrong.dump());
            json mutated = config;
            mutated[at] = wrong;
            const ErrorDetail detail = refused_document(mutated);
            INFO(detail.pointer);
            CHECK(detail.pointer.starts_with(pointer));
        }
    }
}

TEST_CASE("config mutations: a key taken away has a default or is asked for", "[config]") {
    const json config = effective_but_machine();
    std::vector<std::string> required;
    for (const std::string& pointer : all_keys(config)) {
        const std::size_t slash = pointer.rfind('/');
        json mutated = config;
        mutated[json::json_pointer(pointer.substr(0, slash))].erase(pointer.substr(slash + 1));
        const TempDir dir;
        try {
            load_run_config(dir.write("run.json", mutated.dump()));
        } catch (const UserError& error) {
            required.push_back(pointer);
        }
    }
    // The routing keys only because this config reads a file: without kind, the path would be unused.
    CHECK(required == std::vector<std::string>{"/algorithm", "/algorithm/name", "/cards", "/machine", "/workload",
                                               "/workload/batch_size", "/workload/experts", "/workload/routing/kind",
                                               "/workload/routing/path"});
}
