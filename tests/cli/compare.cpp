// SPDX-License-Identifier: Apache-2.0
/// podsim compare: figures of two results beside each other, whatever A and B are given as.
#include "tests/cli/compare_support.hpp"
#include "tests/support/csv_table.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

using namespace podsim::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

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
    // A folder that it would run in, and that is somebody's.
    fs::create_directories(pair.dir.file("out/a"));
    pair.dir.write("out/a/thesis.txt", "all my work");
    check_one_message(podsim_program({"compare", pair.a + "/config.json", pair.b, "--out", pair.dir.file("out")}), 2);
    CHECK(pair.dir.read("out/a/thesis.txt") == "all my work");
    fs::copy(pair.a, pair.dir.file("bad"));
    pair.dir.write("bad/cores.csv", "a,b\n1,2\n");
    check_one_message(podsim_program({"compare", pair.a, pair.dir.file("bad")}), 2);
}

namespace {

/// Every place of a result down to `depth`, but not what config inlines.
void places_of(const json& node, const std::string& at, int depth, std::vector<std::string>& out) {
    for (const auto& [key, child] : node.items()) {
        const std::string place = (json::json_pointer(at) / key).to_string();
        out.push_back(place);
        if (child.is_object() && depth > 1 && place != "/config" && place != "/memory") {
            places_of(child, place, depth - 1, out);
        }
    }
}

}  // namespace

TEST_CASE("compare: a value of the wrong type in result.json is one message with its place") {
    const Pair pair;
    const json good = pair.result("b");
    fs::create_directory(pair.dir.file("bad"));
    const auto damaged = [&](const json& result) {
        pair.dir.write("bad/result.json", result.dump());
        return compare_here(pair.a, pair.dir.file("bad"));
    };
    REQUIRE(damaged(good).exit_code == 0);
    const struct {
        const char* place;
        json value;
        const char* told;
    } kWrong[] = {
        {"/total_us", "25", "result.json: /total_us: expected a number above 0, at most 1e+15"},
        {"/total_us", 0, "/total_us: expected a number above 0"},
        {"/phases_us", {1, 2}, "result.json: /phases_us: expected an object, found an array"},
        {"/phases_us/transfer", nullptr, "/phases_us/transfer: expected a number"},
        {"/subphases_us/flags.poll", -1, "/subphases_us/flags.poll: expected a number"},
        {"/phase_ends_us/init", 3, "/phase_ends_us/init: expected an object"},
        {"/sync/sync_all_wait_us", "x", "/sync/sync_all_wait_us: expected a number from 0 to 1e+15 or null"},
        {"/overlap/tail_us", true, "/overlap/tail_us: expected a number"},
        {"/status", "fine", "/status: expected one of"},
        {"/cards", 8.5, "/cards: expected an integer"},
        {"/diagnosis", {1}, "/diagnosis/0: expected a string"},
        {"/config", "x", "/config: expected an object"},
        {"/config/cards", "8", "/config/cards: expected an integer"},
        {"/config/algorithm/aiv_cores", "all", "/config/algorithm/aiv_cores: expected an integer"},
        {"/seed", -1, "/seed: expected an integer"},
        {"/schema", 5, "/schema: expected \"podsim.result/1\", found 5"},
    };
    for (const auto& [place, value, told] : kWrong) {
        json bad = good;
        bad[json::json_pointer(place)] = value;
        const ProgramResult run = damaged(bad);
        CAPTURE(place, run.err);
        check_one_message(run, 2);
        CHECK(run.err.find(told) != std::string::npos);
    }
    // No place may be taken for what it is not, and none may end the program in another way.
    std::vector<std::string> places;
    places_of(good, "", 3, places);
    CHECK(places.size() > 150);
    for (const std::string& place : places) {
        const json& right = good[json::json_pointer(place)];
        for (const json& wrong : {json("text"), json(true), json(nullptr), json::array(), json::object(), json(-1)}) {
            if (wrong.type() == right.type() || (place == "/sync/sync_all_wait_us" && wrong.is_null())) {
                continue;
            }
            json bad = good;
            bad[json::json_pointer(place)] = wrong;
            const ProgramResult run = damaged(bad);
            CAPTURE(place, wrong.dump(), run.err);
            CHECK(run.exit_code == 2);
            CHECK(run.err.find("result.json: " + place + ": expected") != std::string::npos);
        }
    }
    for (const char* key : {"status", "total_us", "phases_us", "subphases_us", "overlap", "sync", "config", "seed"}) {
        json bad = good;
        bad.erase(key);
        const ProgramResult run = damaged(bad);
        CAPTURE(key);
        check_one_message(run, 2);
        CHECK(run.err.find(std::string("/") + key + ": expected") != std::string::npos);
    }
}

TEST_CASE("compare: phases that do not make up the total are refused with the sum") {
    const Pair pair;
    const json whole = json::parse(pair.dir.read("a/result.json"));
    fs::copy(pair.a, pair.dir.file("changed"));
    const auto refused = [&](const json& result, const std::string& place) {
        pair.dir.write("changed/result.json", result.dump());
        const ProgramResult answer = compare_here(pair.dir.file("changed"), pair.b);
        INFO(answer.err);
        check_one_message(answer, 2);
        CHECK(answer.err.find("changed/result.json: " + place + ": ") != std::string::npos);
    };
    for (const char* group : {"init", "transfer", "flags", "address", "reorder", "idle"}) {
        json changed = whole;
        changed["phases_us"].erase(group);
        refused(changed, "/phases_us");
    }
    json changed = whole;
    changed["total_us"] = whole["total_us"].get<double>() + 0.01;
    refused(changed, "/phases_us");
    changed = whole;
    changed["subphases_us"] = json::object();
    refused(changed, "/subphases_us");
    pair.dir.write("changed/result.json", whole.dump());
    CHECK(compare_here(pair.dir.file("changed"), pair.b).exit_code == 0);
}

TEST_CASE("compare: --out replaces an earlier comparison and nothing else") {
    const Pair pair;
    const auto compared = [&] { return podsim_program({"compare", pair.a, pair.b, "--out", pair.dir.file("out")}); };
    REQUIRE(compared().exit_code == 0);
    const std::string first = pair.dir.read("out/compare.json");
    CHECK(compared().exit_code == 0);
    CHECK(pair.dir.read("out/compare.json") == first);
    for (const char* other : {"precious", "{}", R"({"schema": 3})", R"({"schema": "podsim.result/1"})", "[]"}) {
        pair.dir.write("out/compare.json", other);
        const ProgramResult refused = compared();
        check_one_message(refused, 2);
        CHECK(refused.err.find("out/compare.json: expected nothing, or what podsim compare") != std::string::npos);
        CHECK(pair.dir.read("out/compare.json") == other);
    }
}
