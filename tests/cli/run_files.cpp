// SPDX-License-Identifier: Apache-2.0
/// What a run leaves in --out, with its documented columns, also when it fails.
#include "sim/config/origins.hpp"
#include "sim/config/schema.hpp"
#include "tests/cli/cli_support.hpp"
#include "tests/support/csv_table.hpp"

#include <filesystem>

using namespace podsim::test;
using nlohmann::json;

TEST_CASE("run files: documented columns, and figures that agree with the result") {
    const TempDir dir;
    const ProgramResult run = podsim_program({"run", smoke(), "--json", "--out", dir.path(), "--set", "/calls=2"});
    REQUIRE(run.exit_code == 0);
    const json result = json::parse(run.out);
    CHECK(dir.read("result.json") == run.out);
    CHECK(json::parse(dir.read("config.json")) == result["config"]);

    const CsvTable cores = csv_table(dir.read("cores.csv"));
    CHECK(cores.rows.size() == 2 * 8 * 48);
    const std::vector<std::string> first(cores.columns.begin(), cores.columns.begin() + 6);
    CHECK(first == std::vector<std::string>{"call", "card", "core", "role", "start_us", "end_us"});
    std::vector<std::string> phases;
    for (const auto& [name, mean] : result["subphases_us"].items()) {
        phases.push_back(name + "_us");
        CHECK(cores.sum(name + "_us") / (8 * 48) == Approx(mean.get<double>()).margin(1e-5));
    }
    CHECK(std::vector<std::string>(cores.columns.begin() + 6, cores.columns.end()) == phases);
    for (const auto& row : cores.rows) {
        double sum = 0;
        for (const std::string& phase : phases) {
            sum += std::stod(row.at(phase));
        }
        REQUIRE(sum == Approx(std::stod(row.at("end_us")) - std::stod(row.at("start_us"))).margin(1e-5));
    }

    const CsvTable cards = csv_table(dir.read("cards.csv"));
    CHECK(cards.columns ==
          std::vector<std::string>{"call", "card", "start_us", "end_us", "duration_us", "rows_received", "rows_sent"});
    CHECK(cards.rows.size() == 2 * 8);
    CHECK(cards.sum("rows_received") == result["functional"]["rows"].get<double>());
    CHECK(cards.sum("rows_sent") == result["functional"]["rows"].get<double>());

    const CsvTable planes = csv_table(dir.read("planes.csv"));
    CHECK(planes.columns == std::vector<std::string>{"card", "plane", "out_blocks", "out_bytes", "out_wire_bytes",
                                                     "out_busy_us", "in_blocks", "in_bytes", "in_wire_bytes",
                                                     "in_busy_us"});
    CHECK(planes.rows.size() == 8 * 7);
    double bytes = 0;
    for (const json& plane : result["fabric"]["plane_bytes"]) {
        bytes += plane.get<double>();
    }
    CHECK(planes.sum("out_bytes") == bytes);
    CHECK(planes.sum("in_bytes") == bytes);
    CHECK(planes.sum("out_wire_bytes") == result["fabric"]["wire_bytes"].get<double>());
}

TEST_CASE("run files: a run that fails leaves what it knows") {
    struct Failure {
        std::vector<std::string> sets;
        int code;
        const char* status;
        const char* failure;
    };
    const std::vector<Failure> all{
        {{"/limits/timeout_us=5"}, 5, "timeout", "timeout"},
        {{"/algorithm/options/sync_mode=token_flag", "/algorithm/options/token_barrier=false",
          "/machine/hccs/extra_reorder=2000"},
         4,
         "mismatch",
         "wrong_output"},
        {{"/algorithm/options/rows_barrier=false"}, 4, "mismatch", "early_flag"},
        {{"/machine/core/event_ids/range=[1,8]", "/machine/core/event_ids=1"}, 4, "mismatch", "broken_rule"}};
    for (const Failure& failure : all) {
        const TempDir dir;
        std::vector<std::string> arguments{"run", smoke(), "--json", "--out", dir.path()};
        for (const std::string& set : failure.sets) {
            arguments.insert(arguments.end(), {"--set", set});
        }
        CAPTURE(failure.sets);
        const ProgramResult run = podsim_program(arguments);
        CHECK(run.exit_code == failure.code);
        REQUIRE(json::accept(run.out));
        CHECK(json::parse(run.out)["status"] == failure.status);
        CHECK(json::parse(run.out)["failure"] == failure.failure);
        podsim::Origins origins;
        CHECK_NOTHROW(podsim::validate_against(podsim::SchemaName::result, json::parse(run.out), "", origins));
        CHECK_FALSE(json::parse(run.out)["diagnosis"].empty());
        CHECK(dir.read("result.json") == run.out);
        for (const char* file : {"config.json", "cores.csv", "cards.csv", "planes.csv"}) {
            CHECK(std::filesystem::file_size(dir.file(file)) > 0);
        }
        // Without --json people see the same on standard output.
        arguments.erase(arguments.begin() + 2);
        const ProgramResult people = podsim_program(arguments);
        CHECK(people.exit_code == failure.code);
        CHECK_FALSE(people.out.empty());
        CHECK(people.out.find(json::parse(run.out)["diagnosis"][0].get<std::string>().substr(0, 20)) !=
              std::string::npos);
        // Neither a broken rule nor an early flag is a comparison of bytes: "0 wrong: mismatch" would say two things.
        CHECK(people.out.find(" 0 wrong: mismatch") == std::string::npos);
    }
}

TEST_CASE("run files: a folder that cannot be written is told before the run, which would fail otherwise") {
    const TempDir dir;
    const std::string file = dir.write("file", "x");
    const ProgramResult run =
        podsim_program({"run", smoke(), "--json", "--set", "/limits/timeout_us=5", "--out", file + "/below"});
    check_one_message(run, 3);
}

TEST_CASE("run files: what an earlier run has left is replaced, none of it stays") {
    const TempDir dir;
    REQUIRE(podsim_program({"run", smoke(), "--out", dir.path(), "--set", "/observe/timeline=phases", "--set",
                            "/observe/stamps=ideal"})
                .exit_code == 0);
    REQUIRE(std::filesystem::exists(dir.file("trace.json")));
    REQUIRE(std::filesystem::exists(dir.file("stamps.txt")));
    const std::string first = dir.read("result.json");
    REQUIRE(podsim_program({"run", smoke(), "--out", dir.path(), "--set", "/seed=2"}).exit_code == 0);
    CHECK_FALSE(std::filesystem::exists(dir.file("trace.json")));
    CHECK_FALSE(std::filesystem::exists(dir.file("stamps.txt")));
    CHECK(dir.read("result.json") != first);
    // Its own config, run where it lies, changes nothing in it.
    const std::string config = dir.read("config.json");
    REQUIRE(podsim_program({"run", dir.file("config.json"), "--out", dir.path()}).exit_code == 0);
    CHECK(dir.read("config.json") == config);
}
