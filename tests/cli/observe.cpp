// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/cli_support.hpp"

#include <filesystem>

using namespace podsim::test;
using nlohmann::json;

TEST_CASE("observe: a file that was asked for needs --out") {
    for (const char* set : {"/observe/timeline=phases", "/observe/stamps=ideal"}) {
        const ProgramResult result = podsim_program({"run", smoke(), "--set", set});
        check_one_message(result, 2);
        CHECK(result.err.find(std::string(set).substr(0, std::string(set).find('='))) != std::string::npos);
        CHECK(result.err.find("--out") != std::string::npos);
    }
    CHECK(podsim_program({"run", smoke(), "--set", "/observe/stamps=cost"}).exit_code == 0);
}

TEST_CASE("observe: trace, hazards and stamps are written when asked for, only then") {
    const TempDir dir;
    const std::string all = dir.file("all"), none = dir.file("none");
    REQUIRE(podsim_program(
                {"run", smoke(), "--out", all, "--set", "/observe/timeline=phases", "--set", "/observe/stamps=ideal"})
                .exit_code == 0);
    REQUIRE(podsim_program({"run", smoke(), "--out", none, "--set", "/check/hazards=off"}).exit_code == 0);
    for (const char* file : {"trace.json", "hazards.json", "stamps.txt"}) {
        CAPTURE(file);
        CHECK(std::filesystem::file_size(all + "/" + file) > 0);
        CHECK_FALSE(std::filesystem::exists(none + "/" + file));
    }
}

TEST_CASE("observe: a stuck run keeps its exit code and has a timeline up to where it came") {
    const TempDir dir;
    const ProgramResult result = podsim_program({"run", smoke(), "--out", dir.path(), "--set", "/limits/timeout_us=5",
                                                 "--set", "/observe/timeline=phases", "--set", "/observe/stamps=cost"});
    CHECK(result.exit_code == 5);
    CHECK(std::filesystem::file_size(dir.file("trace.json")) > 10'000);
    CHECK(std::filesystem::exists(dir.file("stamps.txt")));
}
