// SPDX-License-Identifier: Apache-2.0
/// podsim compare: figures of two results beside each other, whatever A and B are given as.
#include "tests/cli/cli_support.hpp"
#include "tests/support/csv_table.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

using namespace podsim::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> run_of(const std::string& out, const std::vector<std::string>& sets) {
    std::vector<std::string> arguments{"run", smoke(), "--json", "--out", out, "--set", "/algorithm/aiv_cores=6"};
    for (const std::string& set : sets) {
        arguments.insert(arguments.end(), {"--set", set});
    }
    return arguments;
}

/// Result folders of the same workload with replicated and with matrix sums.
struct Pair {
    Pair() {
        REQUIRE(podsim_program(run_of(a, {})).exit_code == 0);
        REQUIRE(podsim_program(run_of(b, {"/algorithm/options/cumsum=matrix"})).exit_code == 0);
    }
    json result(const char* side) const { return json::parse(dir.read(std::string(side) + "/result.json")); }

    TempDir dir;
    std::string a = dir.file("a"), b = dir.file("b");
};

const json& named(const json& rows, const std::string& name) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const json& row) { return row["name"] == name; });
    REQUIRE(found != rows.end());
    return *found;
}

void check_sorted(const json& rows) {
    for (std::size_t i = 1; i < rows.size(); ++i) {
        CHECK(std::abs(rows[i - 1]["difference_us"].get<double>()) >= std::abs(rows[i]["difference_us"].get<double>()));
    }
}

/// Work by (card, core), from the table as users read it.
std::map<std::pair<std::string, std::string>, double> work(const std::string& cores_csv) {
    std::map<std::pair<std::string, std::string>, double> out;
    for (const auto& row : csv_table(cores_csv).rows) {
        for (const auto& [column, value] : row) {
            if (column.find('.') != std::string::npos && !column.starts_with("flags.")) {
                out[{row.at("card"), row.at("core")}] += std::stod(value);
            }
        }
    }
    return out;
}

}  // namespace

TEST_CASE("compare: every figure is the difference of what the two results say") {
    const Pair pair;
    const ProgramResult run = podsim_program({"compare", pair.a, pair.b, "--json"});
    CAPTURE(run.err);
    REQUIRE(run.exit_code == 0);
    CHECK(run.err.empty());
    const json c = json::parse(run.out);
    const json a = pair.result("a"), b = pair.result("b");
    CHECK(c["schema"] == "podsim.compare/1");
    CHECK(c["same_workload"] == true);
    CHECK(c["a"]["source"] == pair.a);
    CHECK(c["config_differences"] ==
          json::array({{{"pointer", "/algorithm/options/cumsum"}, {"a", "replicated"}, {"b", "matrix"}}}));
    CHECK(c["speedup"].get<double>() == Approx(a["total_us"].get<double>() / b["total_us"].get<double>()).margin(1e-6));
    const auto check_row = [](const json& row, const json& of_a, const json& of_b, const std::string& unit) {
        CAPTURE(row.dump());
        CHECK(row["a" + unit] == of_a);
        CHECK(row["b" + unit] == of_b);
        CHECK(row["difference" + unit].get<double>() == Approx(of_b.get<double>() - of_a.get<double>()).margin(2e-6));
    };
    check_row(named(c["totals"], "total"), a["total_us"], b["total_us"], "_us");
    check_row(named(c["totals"], "card_p99"), a["card_us"]["p99"], b["card_us"]["p99"], "_us");
    CHECK(c["phases"].size() == a["phases_us"].size());
    for (const json& row : c["phases"]) {
        const std::string name = row["name"];
        check_row(row, a["phases_us"][name], b["phases_us"][name], "_us");
    }
    for (const json& row : c["subphases"]) {
        const std::string name = row["name"];
        check_row(row, a["subphases_us"].value(name, json(0.0)), b["subphases_us"].value(name, json(0.0)), "_us");
    }
    check_sorted(c["phases"]);
    check_sorted(c["subphases"]);
    for (const json& row : c["end_spread"]) {
        const std::string name = row["name"];
        if (a["phase_ends_us"].contains(name) && b["phase_ends_us"].contains(name)) {
            check_row(row, a["phase_ends_us"][name]["spread"], b["phase_ends_us"][name]["spread"], "_us");
        }
    }
    check_row(named(c["overlap"], "tail"), a["overlap"]["tail_us"], b["overlap"]["tail_us"], "_us");
    check_row(named(c["sync"], "polls"), a["sync"]["polls"], b["sync"]["polls"], "");
    for (const char* side : {"a", "b"}) {
        const auto loads = work(pair.dir.read(std::string(side) + "/cores.csv"));
        double sum = 0, most = 0;
        for (const auto& [who, time] : loads) {
            sum += time;
            most = std::max(most, time);
        }
        const json& balance = c["load_balance"][side];
        CHECK(balance["mean_us"].get<double>() == Approx(sum / 48).margin(1e-5));  // 8 cards of 6 cores
        CHECK(balance["max_us"].get<double>() == Approx(most).margin(1e-5));
        CHECK(balance["max_over_mean"].get<double>() == Approx(most * 48 / sum).margin(1e-5));
        const std::pair busiest{std::to_string(balance["busiest"]["card"].get<int>()),
                                std::to_string(balance["busiest"]["core"].get<int>())};
        CHECK(loads.at(busiest) == Approx(most).margin(1e-5));
    }
    CHECK(c["load_balance"]["cores"].size() == 6);
}

TEST_CASE("compare: ends of phases lie within the run, groups end with their last part") {
    const Pair pair;
    const json result = pair.result("a");
    const double total = result["total_us"];
    double last = 0;
    for (const auto& [name, at] : result["phase_ends_us"].items()) {
        CAPTURE(name, at.dump());
        CHECK(at["first"] <= at["mean"]);
        CHECK(at["mean"] <= at["last"]);
        CHECK(at["last"].get<double>() <= total + 1e-6);
        CHECK(at["spread"].get<double>() == Approx(at["last"].get<double>() - at["first"].get<double>()).margin(2e-6));
        last = std::max(last, at["last"].get<double>());
        if (name.find('.') == std::string::npos) {
            double part_last = 0;
            for (const auto& [part, end] : result["phase_ends_us"].items()) {
                part_last = part.starts_with(name + ".") ? std::max(part_last, end["last"].get<double>()) : part_last;
            }
            CHECK(at["last"].get<double>() == part_last);
        }
    }
    CHECK(last == Approx(total).margin(1e-6));
}

TEST_CASE("compare: a folder, its result.json and its config are the same thing") {
    const Pair pair;
    const std::string config = pair.a + "/config.json";
    const auto figures = [&](const std::string& a) {
        const ProgramResult run = podsim_program({"compare", a, pair.b, "--json"});
        CAPTURE(run.err);
        REQUIRE(run.exit_code == 0);
        json c = json::parse(run.out);
        c["a"].erase("source");
        return c;
    };
    const json folder = figures(pair.a);
    CHECK(figures(config) == folder);
    CHECK(figures(pair.a + "/result.json") == folder);

    const std::string out = pair.dir.file("compared");
    const ProgramResult run = podsim_program({"compare", config, pair.b, "--out", out});
    REQUIRE(run.exit_code == 0);
    CHECK(fs::exists(out + "/a/cores.csv"));
    CHECK_FALSE(fs::exists(out + "/b"));
    CHECK(json::parse(pair.dir.read("compared/compare.json"))["phases"] == folder["phases"]);
    for (const char* text : {"transfer", "B - A [us]", "/algorithm/options/cumsum: \"replicated\" -> \"matrix\"",
                             "most/mean", "tail [us]"}) {
        CAPTURE(text);
        CHECK(run.out.find(text) != std::string::npos);
    }
    // Without cores.csv the rest is still there.
    fs::create_directory(pair.dir.file("lone"));
    fs::copy(pair.a + "/result.json", pair.dir.file("lone/result.json"));
    CHECK(json::parse(podsim_program({"compare", pair.dir.file("lone"), pair.b, "--json"}).out)["load_balance"]["a"]
              .is_null());
}

TEST_CASE("compare: different workloads are refused by name, before anything is run, unless told") {
    const Pair pair;
    const std::string other = pair.dir.file("other");
    REQUIRE(podsim_program(run_of(other, {"/workload/batch_size=4", "/seed=2"})).exit_code == 0);
    for (const std::string& b : {other, other + "/config.json"}) {
        const ProgramResult run = podsim_program({"compare", pair.a, b});
        check_one_message(run, 2);
        CHECK(run.err.find("/seed, /workload/batch_size") != std::string::npos);
        CHECK(run.err.find("--different-workloads") != std::string::npos);
    }
    const ProgramResult told = podsim_program({"compare", pair.a, other, "--different-workloads", "--json"});
    REQUIRE(told.exit_code == 0);
    CHECK(json::parse(told.out)["same_workload"] == false);
    CHECK(json::parse(told.out)["config_differences"].size() == 2);
}

TEST_CASE("compare: runs that failed have no times, and say so with their own exit code") {
    const Pair pair;
    const std::string late = pair.dir.file("late");
    REQUIRE(podsim_program(run_of(late, {"/limits/timeout_us=5"})).exit_code == 5);
    for (const std::string& b : {late, late + "/config.json"}) {
        const ProgramResult run = podsim_program({"compare", pair.a, b});
        check_one_message(run, 5);
        CHECK(run.err.find("timeout") != std::string::npos);
    }
}

TEST_CASE("compare: mistakes") {
    const Pair pair;
    check_one_message(podsim_program({"compare"}), 2);
    check_one_message(podsim_program({"compare", pair.a}), 2);
    check_one_message(podsim_program({"compare", pair.a, pair.b, pair.b}), 2);
    check_one_message(podsim_program({"compare", pair.a, ""}), 2);
    check_one_message(podsim_program({"compare", pair.a, pair.b, "--set", "/seed=1"}), 2);
    check_one_message(podsim_program({"compare", pair.a, pair.dir.path()}), 2);
    check_one_message(podsim_program({"compare", pair.a, pair.dir.file("gone")}), 3);
    check_one_message(podsim_program({"compare", pair.a, pair.dir.write("x.json", "{}")}), 2);
    check_one_message(podsim_program({"compare", pair.a, pair.dir.write("y.json", R"({"schema":"podsim.result/1"})")}),
                      2);
    check_one_message(podsim_program({"compare", pair.a, pair.b, "--out", pair.dir.file("x.json")}), 3);
    fs::copy(pair.a, pair.dir.file("bad"));
    pair.dir.write("bad/cores.csv", "a,b\n1,2\n");
    check_one_message(podsim_program({"compare", pair.a, pair.dir.file("bad")}), 2);
}
