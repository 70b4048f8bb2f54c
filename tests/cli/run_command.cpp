// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/cli_support.hpp"

#include <algorithm>
#include <filesystem>

using namespace podsim::test;
using nlohmann::json;

namespace {

json without_host(const std::string& text) {
    json result = json::parse(text);
    result.erase("host");
    return result;
}

}  // namespace

TEST_CASE("run: one JSON document on standard output, nothing on standard error") {
    const ProgramResult result = podsim_program({"run", smoke(), "--json"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(result.err.empty());
    const json document = json::parse(result.out);
    CHECK(document["schema"] == "podsim.result/1");
    CHECK(document["status"] == "ok");
    CHECK(document["functional"]["ok"] == true);
    CHECK(document["functional"]["rows"] == 8 * 8 * 4);
}

TEST_CASE("run: the number of AIV cores bounds a run, so it is no unused parameter") {
    const json result = json::parse(podsim_program({"run", smoke(), "--json"}).out);
    const json& unused = result["unused_machine_parameters"];
    CHECK_FALSE(unused.empty());
    CHECK(std::find(unused.begin(), unused.end(), "/core/aiv_per_card") == unused.end());
}

TEST_CASE("run: the same bytes twice, and from the config it wrote") {
    const TempDir dir;
    const std::string out = dir.file("new/folder");
    const ProgramResult first = podsim_program({"run", smoke(), "--json", "--out", out});
    REQUIRE(first.exit_code == 0);
    for (const char* file : {"result.json", "config.json", "cores.csv", "cards.csv", "planes.csv"}) {
        CAPTURE(file);
        CHECK(std::filesystem::file_size(out + "/" + file) > 0);
    }
    CHECK_FALSE(std::filesystem::exists(out + "/.podsim-write-test"));
    CHECK(without_host(podsim_program({"run", smoke(), "--json"}).out) == without_host(first.out));
    CHECK(without_host(podsim_program({"run", out + "/config.json", "--json"}).out) == without_host(first.out));
}

TEST_CASE("run: for people a table with units, no JSON") {
    const ProgramResult result = podsim_program({"run", smoke()});
    CHECK(result.exit_code == 0);
    CHECK(result.out.find("us") != std::string::npos);
    CHECK(result.out.find("podsim.result/1") == std::string::npos);
}

TEST_CASE("run: a wrong kernel is exit 4 and still one JSON document") {
    const ProgramResult result =
        podsim_program({"run", smoke(), "--json", "--set", "/algorithm/options/sync_mode=token_flag", "--set",
                        "/algorithm/options/token_barrier=false", "--set", "/machine/hccs/extra_reorder=20us"});
    CHECK(result.exit_code == 4);
    const json document = json::parse(result.out);
    CHECK(document["status"] == "mismatch");
    CHECK(document["functional"]["ok"] == false);
    CHECK(result.err.find("podsim: ") == 0);
}

TEST_CASE("run: output that is right by luck is exit 4, and says so") {
    const std::vector<std::vector<std::string>> kLucky{
        {"/algorithm/options/rows_barrier=false"},
        {"/algorithm/options/sync_mode=token_flag", "/algorithm/options/token_barrier=false"}};
    for (const auto& sets : kLucky) {
        std::vector<std::string> arguments{"run", smoke(), "--json"};
        for (const std::string& set : sets) {
            arguments.insert(arguments.end(), {"--set", set});
        }
        CAPTURE(sets);
        const ProgramResult result = podsim_program(arguments);
        CHECK(result.exit_code == 4);
        const json document = json::parse(result.out);
        CHECK(document["status"] == "mismatch");
        CHECK(document["failure"] == "early_flag");
        CHECK(document["functional"]["ok"] == false);
        CHECK(document["functional"]["mismatches"] == 0);
        CHECK(document["functional"]["early_flags"].get<int>() > 0);
        CHECK(result.err.find("reading right is luck") != std::string::npos);
        CHECK(result.err.find("podsim: ") == 0);
    }
    // What is right by its flags has nothing to say of them.
    CHECK_FALSE(json::parse(podsim_program({"run", smoke(), "--json"}).out)["functional"].contains("early_flags"));
}

TEST_CASE("run: a time-out is exit 5, named waiters, still one JSON document") {
    const ProgramResult result = podsim_program({"run", smoke(), "--json", "--set", "/limits/timeout_us=5"});
    CHECK(result.exit_code == 5);
    CHECK(json::parse(result.out)["status"] == "timeout");
    CHECK(result.err.find("/limits/timeout_us") != std::string::npos);
    CHECK(result.err.find("waits for") != std::string::npos);
}

TEST_CASE("run: standard output that cannot be written is exit 3") {
    for (const char* command : {"run", "check", "--help", "--version"}) {
        CAPTURE(command);
        const std::string line =
            std::string(PODSIM_PROGRAM) + " " + command + (command[0] == '-' ? "" : " " + smoke()) + " > /dev/full";
        CHECK(run_program({"/bin/sh", "-c", line}).exit_code == 3);
    }
}

TEST_CASE("run: --help and --version") {
    const ProgramResult help = podsim_program({"--help"});
    CHECK(help.exit_code == 0);
    CHECK(help.out.find("run") != std::string::npos);
    CHECK(help.out.find("check") != std::string::npos);
    const ProgramResult version = podsim_program({"--version"});
    CHECK(version.exit_code == 0);
    CHECK(version.out.starts_with("podsim "));
    for (const char* command : {"run", "check"}) {
        const ProgramResult of_command = podsim_program({command, "--help"});
        CHECK(of_command.exit_code == 0);
        CHECK(of_command.out.find("--set") != std::string::npos);
    }
}

TEST_CASE("run: SystemC says nothing, whatever the environment") {
    ProgramOptions options;
    options.environment = {"SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=0"};
    const ProgramResult result = podsim_program({"run", smoke(), "--json"}, options);
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
    CHECK(json::accept(result.out));
}
