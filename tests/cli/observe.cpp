// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/cli_support.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

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

TEST_CASE("observe: the trace of 64 cards at batch 32 is a Chrome trace of less than 30 MB, a track per AIV") {
    const std::string name = GENERATE("baseline", "optimized");
    CAPTURE(name);
    const TempDir dir;
    const ProgramResult run = podsim_program({"run", repository("configs/runs/ep64_bs32_baseline.json"), "--json",
                                              "--out", dir.path(), "--set", "/observe/timeline=phases", "--set",
                                              "/check/hazards=off", "--set", "/algorithm/name=" + name});
    REQUIRE(run.exit_code == 0);
    CHECK(std::filesystem::file_size(dir.file("trace.json")) < 30'000'000);
    const json trace = json::parse(dir.read("trace.json"));
    const double total = json::parse(run.out)["total_us"];
    CHECK(trace["displayTimeUnit"] == "ns");
    std::map<std::pair<int, int>, double> ends;
    std::map<std::pair<int, int>, std::string> names;
    double end = 0;
    bool right = true;
    for (const json& event : trace["traceEvents"]) {
        const std::pair track{event.at("pid").get<int>(), event.value("tid", -1)};
        if (event["ph"] == "M") {
            if (event["name"] == "thread_name") {
                names[track] = event.at("args").at("name");
            }
            continue;
        }
        // Complete events only, with numbers for times, each after the one before on its track.
        right = right && event["ph"] == "X" && event["ts"].is_number() && event["dur"].is_number() &&
                event["name"].is_string() && event["dur"] > 0 && event["ts"].get<double>() >= ends[track] - 1e-9;
        ends[track] = event["ts"].get<double>() + event["dur"].get<double>();
        end = std::max(end, ends[track]);
    }
    CHECK(right);
    CHECK(ends.size() == 64 * 48);
    CHECK(names.size() == 64 * 48);
    CHECK(names[{63, 47}] == "AIV 47");
    CHECK(end == Approx(total).margin(1e-6));
}
