// SPDX-License-Identifier: Apache-2.0
// podsim validate --components: the table, the document, tolerances, mistakes.
#include "tests/cli/cli_support.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

using namespace podsim::test;
using nlohmann::json;

namespace {

json shipped() { return json::parse(std::ifstream(repository("configs/validation/components.json"))); }

/// A file with one figure.
std::string file_with(const TempDir& dir, const json& figure, double tolerance = 10) {
    const json file{{"schema", "podsim.components/1"},
                    {"machine", "atlas_a3_pod"},
                    {"median_tolerance_pct", tolerance},
                    {"figures", {figure}}};
    return dir.write("figures.json", file.dump());
}

json sync_all_figure() {
    return {{"group", "g"},        {"name", "SyncAll"}, {"published", 924},    {"unit", "ns"},
            {"basis", "measured"}, {"source", "3 TGT"}, {"bench", "sync_all"}, {"cores", 40}};
}

ProgramResult validate(const std::string& file) {
    return podsim_program({"validate", "--components", "--published", file, "--json"});
}

void check_refused(const json& figure, const std::string& contains) {
    const TempDir dir;
    const std::string file = file_with(dir, figure);
    const ProgramResult result = validate(file);
    check_one_message(result, 2);
    CAPTURE(contains);
    CHECK(result.err.find("figures.json: /figures/0") != std::string::npos);
    CHECK(result.err.find(contains) != std::string::npos);
}

json with(json figure, const char* key, const json& value) {
    figure[key] = value;
    return figure;
}

json without(json figure, const char* key) {
    figure.erase(key);
    return figure;
}

}  // namespace

TEST_CASE("validate: the shipped components are within their tolerance, none is silently absent") {
    const ProgramResult result = podsim_program({"validate", "--components", "--json"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(result.err.empty());
    const json document = json::parse(result.out);
    CHECK(document["schema"] == "podsim.validate/1");
    CHECK(document["machine"] == "atlas_a3_pod");
    const json file = shipped();
    REQUIRE(document["rows"].size() == file["figures"].size());
    std::vector<double> errors;
    std::set<std::string> names;
    for (std::size_t i = 0; i < file["figures"].size(); ++i) {
        const json& row = document["rows"][i];
        const json& figure = file["figures"][i];
        CAPTURE(row);
        for (const char* key : {"name", "published", "unit", "simulated", "error_pct", "basis", "source", "range"}) {
            CHECK(row.contains(key));
        }
        CHECK(row["name"] == figure["name"]);
        CHECK(names.insert(row["name"]).second);
        CHECK(row["published"] == figure.value("published", json()));
        if (!figure.contains("bench")) {
            CHECK(row["simulated"].is_null());
            CHECK(row["error_pct"].is_null());
            CHECK_FALSE(row["reason"].get<std::string>().empty());
            continue;
        }
        REQUIRE(row["simulated"].is_number());
        if (!figure.contains("published")) {
            CHECK(row["error_pct"].is_null());
            continue;
        }
        const double simulated = row["simulated"], published = row["published"], error = row["error_pct"];
        CHECK(error == Approx(100 * (simulated / published - 1)).margin(0.06));
        if (row["basis"] == "measured") {
            errors.push_back(std::abs(error));
        }
    }
    CHECK(errors.size() >= 50);
    std::sort(errors.begin(), errors.end());
    const double median = (errors[(errors.size() - 1) / 2] + errors[errors.size() / 2]) / 2;
    CHECK(document["median_measured_error_pct"].get<double>() == Approx(median).margin(0.001));
    CHECK(median <= 10);
    CHECK(file["median_tolerance_pct"].get<double>() <= 10);
}

TEST_CASE("validate: a table for people, the same every time") {
    const ProgramResult first = podsim_program({"validate", "--components"});
    const ProgramResult second = podsim_program({"validate", "--components"});
    CHECK(first.exit_code == 0);
    CHECK(first.out == second.out);
    for (const char* text :
         {"published", "simulated", "error %", "basis", "source", "GM to UB, L2 hit, 192 KB", "soft sync 48:48",
          "incast in the node", "not measured", "median error", "formula only", "recalled"}) {
        CAPTURE(text);
        CHECK(first.out.find(text) != std::string::npos);
    }
}

TEST_CASE("validate: on another machine there are values, and nothing to compare with") {
    const ProgramResult result = podsim_program(
        {"validate", "--components", "--json", "--machine", repository("configs/machines/tiny_pod.json")});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const json document = json::parse(result.out);
    CHECK(document["machine"] == "tiny_pod");
    CHECK(document["median_measured_error_pct"].is_null());
    std::size_t simulated = 0;
    for (const json& row : document["rows"]) {
        CHECK(row["error_pct"].is_null());
        simulated += row["simulated"].is_number() ? 1 : 0;
    }
    CHECK(simulated > 50);  // what needs more cores or buffer than it has is null
    // The shipped machine, named, is the built-in one.
    const ProgramResult named =
        podsim_program({"validate", "--components", "--machine", repository("configs/machines/atlas_a3_pod.json")});
    CHECK(named.out == podsim_program({"validate", "--components"}).out);
}

TEST_CASE("validate: a median outside the file's tolerance is exit 6") {
    const TempDir dir;
    const ProgramResult result = validate(file_with(dir, with(sync_all_figure(), "published", 10), 10));
    CHECK(result.exit_code == 6);
    const json document = json::parse(result.out);
    CHECK(document["within_tolerance"] == false);
    CHECK(document["median_measured_error_pct"] > 10);
    CHECK(result.err.starts_with("podsim: the median error of measured components is "));
    CHECK(result.err.find('\n') == result.err.size() - 1);
    // Figures that nobody measured are shown and do not count.
    const json recalled = with(with(sync_all_figure(), "published", 10), "basis", "recalled");
    CHECK(validate(file_with(dir, recalled)).exit_code == 0);
}

TEST_CASE("validate: the machine file decides, not the program") {
    const TempDir dir;
    json machine = json::parse(std::ifstream(repository("configs/machines/atlas_a3_pod.json")));
    machine["sync"]["sync_all_base"]["value"] = 300;
    const std::string other = dir.write("machine.json", machine.dump());
    const std::string file = file_with(dir, sync_all_figure(), 100);
    const auto simulated = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments{"validate", "--components", "--json", "--published", file};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return json::parse(podsim_program(arguments).out)["rows"][0]["simulated"].get<double>();
    };
    CHECK(simulated({"--machine", other}) == Approx(simulated({}) - 300).margin(0.01));
}

TEST_CASE("validate: mistakes in a file of figures") {
    const json good = sync_all_figure();
    const TempDir dir;
    CHECK(validate(file_with(dir, good, 100)).exit_code == 0);
    check_refused(with(good, "bench", "sync_al"), "nearest valid name: sync_all");
    check_refused(without(good, "bench"), "either a microbenchmark or a reason");
    check_refused(with(good, "reason", "none"), "found both");
    check_refused(with(good, "unit", "GB/s"), "what sync_all measures in");
    check_refused(with(good, "unit", "furlong"), "/figures/0/unit");
    check_refused(without(good, "cores"), "a \"cores\" for sync_all");
    check_refused(with(good, "bytes", 64), "no \"bytes\" for sync_all");
    check_refused(with(good, "cores", 0), "/figures/0/cores");
    check_refused(without(good, "published"), "as the basis is \"measured\"");
    check_refused(with(good, "published", 0), "/figures/0/published");
    check_refused(with(good, "range", {1000, 2000}), "within the range");
    check_refused(with(good, "range", {2000, 1000}), "[least, most]");
    check_refused(with(good, "basis", "measurd"), "nearest valid name: measured");
    check_refused(with(good, "bnech", "x"), "nearest valid name: bench");
    check_refused(without(good, "source"), "the key is missing");

    json twice = shipped();
    twice["figures"][1]["name"] = twice["figures"][0]["name"];
    check_one_message(validate(dir.write("twice.json", twice.dump())), 2);
    for (const char* text : {"", "{", "[]", "{}", "not json", R"({"schema": "podsim.run/1"})"}) {
        check_one_message(validate(dir.write("x.json", text)), 2);
    }
    check_one_message(validate(dir.file("gone.json")), 3);
}

TEST_CASE("validate: mistakes on the command line") {
    const auto refused = [](const std::vector<std::string>& arguments, int code, const std::string& contains) {
        const ProgramResult result = podsim_program(arguments);
        check_one_message(result, code);
        CAPTURE(contains);
        CHECK(result.err.find(contains) != std::string::npos);
    };
    refused({"validate", "--component"}, 2, "nearest valid name: --components");
    refused({"validate", "--components", "x.json"}, 2, "no further argument");
    refused({"validate", "--components", "--machine"}, 2, "--machine with exactly one value");
    refused({"validate", "--components", "--machine", ""}, 2, "--machine with a file's name");
    refused({"validate", "--components", "--machine", "gone.json"}, 3, "gone.json: no such file");
    refused({"validate", "--components", "--machine", repository("configs/runs/ep8_smoke.json")}, 2,
            "expected \"podsim.machine/1\"");
    refused({"validat"}, 2, "nearest valid name: validate");
    const ProgramResult help = podsim_program({"validate", "--help"});
    CHECK(help.exit_code == 0);
    CHECK(help.out.find("--published") != std::string::npos);
}
