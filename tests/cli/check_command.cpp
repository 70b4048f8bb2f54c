// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/cli_support.hpp"

#include <algorithm>
#include <filesystem>

using namespace podsim::test;
using nlohmann::json;

namespace {

/// A routing file for 64 cards, batch 32, 64 experts, top-8.
std::string trace(const TempDir& dir) {
    std::string text;
    for (int token = 0; token < 64 * 32 + 5; ++token) {
        std::string ids;
        for (int k = 0; k < 8; ++k) {
            ids += (k == 0 ? "" : ",") + std::to_string((token + 7 * k) % 64);
        }
        text += "{\"type\": \"route\", \"token_idx\": " + std::to_string(token) + ", \"layer\": 0, \"topk_ids\": [" +
                ids + "]}\n";
    }
    return dir.write("trace.jsonl", text);
}

}  // namespace

TEST_CASE("check: every shipped run config is fine") {
    const TempDir dir;
    int seen = 0;
    for (const auto& entry : std::filesystem::directory_iterator(repository("configs/runs"))) {
        CAPTURE(entry.path());
        std::vector<std::string> arguments{"check", entry.path().string(), "--json"};
        if (entry.path().filename().string().starts_with("ep64_olmoe_trace")) {
            arguments.insert(arguments.end(), {"--set", "/workload/routing/path=" + trace(dir)});
        }
        const ProgramResult result = podsim_program(arguments);
        CAPTURE(result.err);
        CHECK(result.exit_code == 0);
        CHECK(result.err.empty());
        const json report = json::parse(result.out);
        CHECK(report["status"] == "ok");
        for (const json& note : report["notes"]) {
            CHECK(note.get<std::string>().find("no effect") == std::string::npos);
        }
        ++seen;
    }
    CHECK(seen >= 5);
}

TEST_CASE("check: what the 64-card baseline expects") {
    const ProgramResult result = podsim_program({"check", repository("configs/runs/ep64_bs32_baseline.json"), "--json",
                                                 "--set", "/workload/routing/kind=balanced"});
    REQUIRE(result.exit_code == 0);
    const json report = json::parse(result.out);
    CHECK(report["schema"] == "podsim.check/1");
    CHECK(report["rows"]["total"] == 64 * 32 * 8);
    CHECK(report["rows"]["card_min"] == 256);
    CHECK(report["rows"]["card_max"] == 256);
    CHECK(report["blocks_per_row"] == 15);  // 7212 B in 512 B blocks
    CHECK(report["blocks"] == 64 * 32 * 8 * 15);
    // 2 x (4 experts x 32 x 64 slots of 14848 B + 8 x 32 combine rows of 14336 B), and in HCCL's MB of 2^20 + 1
    const std::uint64_t window = 2ULL * (4 * 32 * 64 * 14848 + 8 * 32 * 14336);
    CHECK(report["window_bytes"] == window);
    CHECK(report["window_mb"].get<double>() == Approx(static_cast<double>(window) / 1e6).epsilon(1e-5));
    CHECK(report["needed_hccl_buffsize_mb"] == (window >> 20) + 1);
    CHECK(report["hccl_buffsize_mb"] == (window >> 20) + 1);
    CHECK(report["config"]["algorithm"]["aiv_cores"] == 48);
    CHECK(report["config"]["machine"]["topology"]["nodes"]["value"] == 48);
}

TEST_CASE("check: a row takes the blocks of its layout") {
    // The article's 7 KB row: two blocks a plane plain, three with flags; production: 7232 B in pieces of 480.
    const std::pair<const char*, unsigned> kLayouts[] = {{"striped_504", 21}, {"packed_480", 16}};
    for (const auto& [layout, blocks] : kLayouts) {
        const ProgramResult result =
            podsim_program({"check", repository("configs/runs/ep64_bs32_optimized.json"), "--json", "--set",
                            std::string("/algorithm/options/block_layout=") + layout});
        REQUIRE(result.exit_code == 0);
        CHECK(json::parse(result.out)["blocks_per_row"] == blocks);
    }
}

TEST_CASE("check: leftovers and notes of a routing file are told") {
    const TempDir dir;
    const ProgramResult result = podsim_program(
        {"check", repository("configs/runs/ep64_olmoe_trace.json"), "--set", "/workload/routing/path=" + trace(dir)});
    CHECK(result.exit_code == 0);
    CHECK(result.out.find("leftover tokens  5 ") != std::string::npos);
}

TEST_CASE("check: the printed effective config is itself a config that gives the same") {
    const TempDir dir;
    const ProgramResult first = podsim_program({"check", smoke(), "--json", "--set", "/machine/hccs/link_rate=30"});
    REQUIRE(first.exit_code == 0);
    const json report = json::parse(first.out);
    const ProgramResult second = podsim_program({"check", dir.write("again.json", report["config"].dump()), "--json"});
    REQUIRE(second.exit_code == 0);
    CHECK(json::parse(second.out) == report);
    // Also as people see it: the text starts with the config.
    const ProgramResult text = podsim_program({"check", smoke()});
    const json printed = json::parse(text.out.substr(0, text.out.find("\n\n")));
    CHECK(printed["cards"] == 8);
    CHECK(printed["machine"]["hccs"]["link_rate"]["value"] == 28);
    for (const char* line : {"window", "HCCL_BUFFSIZE", "expected rows    256 ", "expected blocks"}) {
        CHECK(text.out.find(line) != std::string::npos);
    }
}

TEST_CASE("check: a window that is too small is refused as hardware does") {
    const ProgramResult result = podsim_program(
        {"check", repository("configs/runs/ep64_bs32_baseline.json"), "--set", "/limits/hccl_buffsize_mb=200"});
    check_one_message(result, 2);
    CHECK(result.err.find("at least 240 MB") != std::string::npos);
    CHECK(result.err.find("HCCL_BUFFSIZE is too SMALL") != std::string::npos);
}

TEST_CASE("check: buffers that do not fit into the Unified Buffer are refused, with what would help") {
    const std::string tiny = "/machine=" + repository("configs/machines/tiny_pod.json");
    const struct {
        std::vector<std::string> sets;
        const char* need;
        std::vector<std::string> remedies;
    } kCases[] = {
        {{"/workload/hidden=8192", "/workload/batch_size=64", "/algorithm/aiv_cores=4"}, "", {"/workload/hidden="}},
        {{"/algorithm/name=optimized", "/workload/hidden=7168"}, "", {"/algorithm/options/", "/workload/hidden="}},
    };
    for (const auto& [sets, need, remedies] : kCases) {
        const auto arguments = [&](const char* command) {
            std::vector<std::string> out{command, smoke(), "--json", "--set", tiny};
            for (const std::string& set : sets) {
                out.insert(out.end(), {"--set", set});
            }
            return out;
        };
        CAPTURE(sets);
        const ProgramResult check = podsim_program(arguments("check"));
        check_one_message(check, 2);
        CAPTURE(check.err);
        CHECK(check.err.find("/algorithm/options: expected buffers of kernel ") != std::string::npos);
        CHECK(check.err.find("in the 98304 B of Unified Buffer") != std::string::npos);
        CHECK(check.err.find(" B needed by card 0 core ") != std::string::npos);
        // A run is refused alike, before it begins, and each remedy is one.
        const ProgramResult run = podsim_program(arguments("run"));
        check_one_message(run, 2);
        CHECK(run.err == check.err);
        const std::size_t list = check.err.find("it fits with ");
        REQUIRE(list != std::string::npos);
        std::string rest = check.err.substr(list + 13);
        rest = rest.substr(0, rest.rfind(')'));
        std::vector<std::string> offered;
        for (std::size_t at = 0; at != std::string::npos;) {
            const std::size_t end = rest.find(", or ", at);
            offered.push_back(rest.substr(at, end == std::string::npos ? end : end - at));
            at = end == std::string::npos ? end : end + 5;
        }
        for (const std::string& remedy : remedies) {
            CHECK(std::any_of(offered.begin(), offered.end(), [&](const auto& o) { return o.starts_with(remedy); }));
        }
        for (const std::string& remedy : offered) {
            CAPTURE(remedy);
            auto better = arguments("run");
            better.insert(better.end(), {"--set", remedy});
            CHECK(podsim_program(better).exit_code == 0);
            better.front() = "check";
            CHECK(podsim_program(better).exit_code == 0);
        }
    }
    // Stamps that cost take their part of the buffer.
    const auto stamped = [&](const char* stamps) {
        return podsim_program({"check", smoke(), "--set", "/machine/core/ub_bytes=65536", "--set",
                               "/workload/hidden=4608", "--set", std::string("/observe/stamps=") + stamps});
    };
    CHECK(stamped("off").exit_code == 0);
    CHECK(stamped("cost").exit_code == 2);
    CHECK(stamped("cost").err.find("in the 57344 B of Unified Buffer") != std::string::npos);
}

TEST_CASE("check: a setting that changes nothing is a note") {
    const ProgramResult text = podsim_program({"check", smoke(), "--set", "/algorithm/options/flag_pack=vector"});
    CHECK(text.exit_code == 0);
    CHECK(text.out.find("note             /algorithm/options/flag_pack has no effect unless sync_mode is block_flag") !=
          std::string::npos);
    // The same for a run, on standard error where standard output is a document.
    const ProgramResult run =
        podsim_program({"run", smoke(), "--json", "--set", "/algorithm/options/flag_pack=vector"});
    CHECK(run.exit_code == 0);
    CHECK(run.err == "podsim: note: /algorithm/options/flag_pack has no effect unless sync_mode is block_flag\n");
    CHECK(json::parse(run.out)["notes"].dump().find("flag_pack has no effect") != std::string::npos);
    // Edits, too: value by value, so that a sweep may begin at the unchanged rate.
    const auto notes = [](const std::string& edit) {
        return podsim_program({"check", smoke(), "--set", "/machine/topology/edits=[" + edit + "]"}).out;
    };
    const std::string here = "note             /machine/topology/edits/0";
    const std::string slow = R"({"kind":"slow","plane":2,)", remove = R"({"kind":"remove","plane":2,)";
    const std::string nothing = here + " has no effect unless rate_scale is not 1 or extra_latency_ns not 0\n";
    CHECK(notes(slow + R"("rate_scale":1})").find(nothing) != std::string::npos);
    CHECK(notes(slow + R"("rate_scale":0.5})").find(here) == std::string::npos);
    CHECK(notes(slow + R"("extra_latency_ns":1})").find(here) == std::string::npos);
    CHECK(notes(remove + R"("rate_scale":1})").find(here) == std::string::npos);
    CHECK(notes(remove + R"("rate_scale":0.5})").find(here + "/rate_scale has no effect unless kind is slow or add") !=
          std::string::npos);
    CHECK(notes(remove + R"("extra_latency_ns":5})")
              .find(here + "/extra_latency_ns has no effect unless kind is slow or add") != std::string::npos);
}

TEST_CASE("check: files resolve against the config's folder, wherever one stands") {
    const TempDir elsewhere;
    ProgramOptions options;
    options.working_dir = elsewhere.path();
    CHECK(podsim_program({"check", smoke()}, options).exit_code == 0);
    const TempDir dir;
    dir.write("mine.json", dir.path().empty() ? "" : "{}");
    options.working_dir = dir.path();
    check_one_message(podsim_program({"check", smoke(), "--set", "/machine=mine.json"}, options), 2);
}
