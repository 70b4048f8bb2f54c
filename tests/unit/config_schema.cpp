// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema.hpp"

#include "sim/config/builtin.hpp"
#include "sim/config/json_text.hpp"
#include "sim/config/origins.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/config_support.hpp"

#include <fmt/format.h>

using namespace podsim;
using namespace podsim::test;
using nlohmann::json;

namespace {

/// Another implementation's opinion (Debian's python3-jsonschema).
constexpr const char* kJudge = R"(
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
for name in sys.argv[2:]:
    jsonschema.Draft7Validator(schema).validate(json.load(open(name)))
)";

int judge(const std::vector<std::string>& files) {
    std::vector<std::string> arguments{"/usr/bin/python3", "-c", kJudge};
    arguments.insert(arguments.end(), files.begin(), files.end());
    const ProgramResult result = run_program(arguments);
    INFO(result.err);
    return result.exit_code;
}

json sweep() {
    return json::parse(R"({"schema": "podsim.sweep/1", "base": "run.json", "seeds": [1, 2], "axes": [
        {"name": "bs", "pointer": "/workload/batch_size", "values": [8, 16]},
        {"zip": [{"name": "cards", "pointer": "/cards", "values": [8, 16]},
                 {"name": "experts", "pointer": "/workload/experts", "values": [8, 16]}]},
        {"name": "kernel", "variants": [{"name": "a", "set": {"/algorithm/name": "baseline"}}]}]})");
}

}  // namespace

TEST_CASE("config schema: the embedded schemas are the files", "[config]") {
    CHECK(schema_text(SchemaName::run) == read_text_file(repository("configs/schema/run.schema.json")));
    CHECK(schema_text(SchemaName::machine) == read_text_file(repository("configs/schema/machine.schema.json")));
    CHECK(schema_text(SchemaName::sweep) == read_text_file(repository("configs/schema/sweep.schema.json")));
    CHECK(schema_text(SchemaName::result) == read_text_file(repository("configs/schema/result.schema.json")));
    CHECK(schema_text(SchemaName::components) == read_text_file(repository("configs/schema/components.schema.json")));
    CHECK(builtin_text(Builtin::components) == read_text_file(repository("configs/validation/components.json")));
    CHECK(builtin_text(Builtin::machine) == read_text_file(repository("configs/machines/atlas_a3_pod.json")));
}

TEST_CASE("config schema: another validator agrees about schemas and shipped files", "[config]") {
    const TempDir dir;
    std::vector<std::string> runs{repository("configs/schema/run.schema.json")};
    for (const char* name :
         {"ep8_smoke", "ep64_bs32_baseline", "ep64_olmoe_trace", "ep288_bs8_baseline", "ep288_bs128_baseline"}) {
        runs.push_back(repository(std::string("configs/runs/") + name + ".json"));
    }
    runs.push_back(dir.write("effective.json", effective_json(load_small()).dump()));
    CHECK(judge(runs) == 0);
    CHECK(judge({repository("configs/schema/machine.schema.json"), repository("configs/machines/atlas_a3_pod.json"),
                 repository("configs/machines/tiny_pod.json")}) == 0);
    CHECK(judge({repository("configs/schema/components.schema.json"),
                 repository("configs/validation/components.json")}) == 0);
    CHECK(judge({repository("configs/schema/sweep.schema.json"), dir.write("sweep.json", sweep().dump())}) == 0);
    CHECK(judge({repository("configs/schema/run.schema.json"), dir.write("bad.json", "{\"cards\": 0}")}) != 0);
}

TEST_CASE("config schema: sweeps are checked like runs", "[config]") {
    Origins origins;
    origins.record("", "s.json", "");
    const auto validate = [&](const json& document) { validate_against(SchemaName::sweep, document, "", origins); };
    CHECK_NOTHROW(validate(sweep()));
    json wrong = sweep();
    wrong["axes"][0]["pionter"] = "/cards";
    ErrorDetail detail = user_error([&] { validate(wrong); });
    CHECK(detail.pointer == "/axes/0/pionter");
    CHECK(detail.hint.find("pointer") != std::string::npos);
    wrong = sweep();
    wrong["axes"][1]["zip"][0].erase("values");
    CHECK(user_error([&] { validate(wrong); }).pointer == "/axes/1/zip/0/values");
    wrong = sweep();
    wrong["axes"] = json::array();
    CHECK(user_error([&] { validate(wrong); }).pointer == "/axes");
}

TEST_CASE("config schema: every key of the run schema says what it does", "[config]") {
    const std::function<void(const json&, const std::string&)> walk = [&](const json& node, const std::string& at) {
        if (node.contains("properties")) {
            CHECK(node["additionalProperties"] == false);
            for (const auto& [key, child] : node["properties"].items()) {
                INFO(at << "/" << key);
                CHECK((child.contains("description") || child.contains("properties") || key == "schema"));
                walk(child, fmt::format("{}/{}", at, key));
            }
        }
    };
    walk(json::parse(schema_text(SchemaName::run)), "");
}
