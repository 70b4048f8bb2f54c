// SPDX-License-Identifier: Apache-2.0
/// Hazards, timeline and stamps of whole Dispatches.
#include "sim/result/metrics.hpp"
#include "sim/result/observe_json.hpp"
#include "sim/result/result_json.hpp"
#include "tests/kernel/kernel_support.hpp"
#include "tests/support/temp_dir.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace podsim;
using nlohmann::json;

namespace {

std::string slurp(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("the shipped baseline has no hazards, whatever its options", "[kernel][observe]") {
    const std::string o = "/algorithm/options/";
    for (const char* quant : {"int8_dynamic", "none"}) {
        for (const char* mode : {"status", "token_flag"}) {
            for (const char* sums : {"replicated", "matrix"}) {
                for (const char* reset : {"epoch", "clear"}) {
                    const auto result =
                        result_with({std::string("/workload/quant=") + quant, o + "sync_mode=" + mode,
                                     o + "cumsum=" + sums, o + "flag_reset=" + reset, "/calls=3", "/check/hazards=on"});
                    CAPTURE(quant, mode, sums, reset, result["hazards"].dump(2));
                    CHECK(result["status"] == "ok");
                    CHECK(result["hazards_checked"] == true);
                    CHECK(result["hazards"].empty());
                    CHECK(result["hazard_count"]["accesses"] > 10'000);
                }
            }
        }
    }
}

TEST_CASE("hazards off says so, and changes nothing else", "[kernel][observe]") {
    auto on = result_with({"/check/hazards=on"});
    auto off = result_with({"/check/hazards=off"});
    CHECK(off["hazards_checked"] == false);
    CHECK(off["hazards"].empty());
    on.erase("hazard_count");
    for (auto* r : {&on, &off}) {
        r->erase("hazards_checked");
        r->erase("config");
    }
    CHECK(on.dump() == off.dump());
}

TEST_CASE("timeline: tracks without overlaps that end at total_us", "[kernel][observe]") {
    const auto simulation = run_with({"/observe/timeline=phases", "/calls=2", "/workload/routing/kind=uniform"});
    const test::TempDir dir;
    write_observe_files(*simulation, result_json(*simulation), dir.path());
    const json trace = json::parse(slurp(dir.file("trace.json")));
    std::map<std::pair<int, int>, double> ends;
    std::map<std::string, double> phase_us;
    double end = 0;
    for (const json& event : trace.at("traceEvents")) {
        if (event.at("ph") != "X") {
            CHECK(event.at("ph") == "M");
            continue;
        }
        const double from = event.at("ts").get<double>();
        const double duration = event.at("dur").get<double>();
        CHECK(duration > 0);
        double& before = ends[{event.at("pid").get<int>(), event.at("tid").get<int>()}];
        CHECK(from >= before - 1e-9);
        before = from + duration;
        end = std::max(end, before);
        phase_us[event.at("name").get<std::string>()] += duration;
    }
    CHECK(ends.size() == 8 * 48);
    const Metrics m = metrics_of(*simulation, {0, 1});
    CHECK(end == Approx(m.total_us).margin(1e-6));
    for (const auto& [name, mean] : m.subphases_us) {
        CHECK(phase_us[name] / (8 * 48) == Approx(mean).margin(1e-6));
    }
}

TEST_CASE("stamps: ideal ones cost nothing, those that cost slow the run down and leave it right",
          "[kernel][observe]") {
    struct Run {
        explicit Run(const Sets& sets) {
            const auto s = run_with(sets);
            REQUIRE(s->status() == RunStatus::ok);
            total_us = metrics_of(*s, {0, 0}).total_us;
            stamps = s->stamps();
            has_group = result_json(*s)["phases_us"].contains("stamps");
            for (std::uint32_t i = 0; i < 8 * 48; ++i) {
                const CoreCall& c = s->phases().core_call(0, {CardId{i / 48}, CoreId{i % 48}});
                started.push_back(c.started * 50 / 1'000'000);
                ended.push_back(c.ended * 50 / 1'000'000);
            }
        }
        double total_us = 0;
        StampRows stamps;
        bool has_group = false;
        std::vector<std::int64_t> started, ended;  // ticks
    };
    const Run plain({}), ideal({"/observe/stamps=ideal"}), cost({"/observe/stamps=cost"});
    CHECK(ideal.total_us == plain.total_us);
    CHECK(cost.total_us > plain.total_us);
    CHECK(plain.stamps.empty());
    CHECK_FALSE(ideal.has_group);
    CHECK(cost.has_group);
    REQUIRE(ideal.stamps.size() == 8 * 48);
    REQUIRE(cost.stamps.size() == 8 * 48);
    for (std::size_t i = 0; i < 8 * 48; ++i) {
        const auto& a = ideal.stamps[i];
        const auto& b = cost.stamps[i];
        CHECK(a.size() == b.size());  // the same boundaries
        CHECK(std::is_sorted(a.begin(), a.end()));
        CHECK(std::is_sorted(b.begin(), b.end()));
        CHECK(a.front() == ideal.started[i]);
        CHECK(a.back() == ideal.ended[i]);
        CHECK(b.front() >= cost.started[i]);
        CHECK(b.back() <= cost.ended[i]);
    }
}

TEST_CASE("stamps.txt: a row per core, all as wide as the widest", "[kernel][observe]") {
    const auto simulation = run_with({"/observe/stamps=cost", "/calls=2", "/algorithm/aiv_cores=5"});
    REQUIRE(simulation->status() == RunStatus::ok);
    const test::TempDir dir;
    write_observe_files(*simulation, result_json(*simulation), dir.path());
    std::istringstream text(slurp(dir.file("stamps.txt")));
    std::size_t rows = 0, columns = 0;
    for (std::string line; std::getline(text, line); ++rows) {
        const auto tabs = static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t'));
        columns = rows == 0 ? tabs : columns;
        CHECK(tabs == columns);
        CHECK(line.find_first_not_of("0123456789\t") == std::string::npos);
    }
    CHECK(rows == 8 * 5);
}

TEST_CASE("observing changes no result in any engine mode", "[kernel][observe]") {
    const Sets base{"/observe/stamps=cost", "/calls=2"};
    const auto with = [&base](const char* set) {
        Sets sets = base;
        sets.emplace_back(set);
        return result_with(sets).dump();
    };
    const std::string plain = result_with(base).dump();
    CHECK(with("/engine/wake=systemc") == plain);
    CHECK(with("/engine/polling=explicit") == plain);
    CHECK(with("/engine/payload=copying") == plain);
}
