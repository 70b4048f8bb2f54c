// SPDX-License-Identifier: Apache-2.0
/// Every config that is shipped runs, small here; the real routing trace too, where it is at hand.
#include "tests/cli/cli_support.hpp"

#include <filesystem>
#include <set>

using namespace podsim::test;
using nlohmann::json;

namespace {

/// As the public patch writes them: a meta line, then a token a line.
std::string olmoe_like(int tokens) {
    std::string text = R"({"type": "meta", "model_id": "made up", "top_k": 8, "num_experts": 64})"
                       "\n";
    for (int t = 0; t < tokens; ++t) {
        json route = {{"type", "route"}, {"layer", 0}, {"token_idx", t}};
        for (int k = 0; k < 8; ++k) {
            route["topk_ids"].push_back((7 * t + 9 * k) % 64);
        }
        text += route.dump() + "\n";
    }
    return text;
}

json run_of(const std::vector<std::string>& arguments) {
    const ProgramResult run = podsim_program(arguments, {.timeout = std::chrono::seconds(240)});
    CAPTURE(run.err);
    REQUIRE(run.exit_code == 0);
    CHECK(run.err.empty());
    REQUIRE(json::accept(run.out));
    return json::parse(run.out);
}

}  // namespace

TEST_CASE("shipped configs: each runs, with fewer cards and one token a card") {
    const TempDir dir;
    const std::string trace = dir.write("routes.jsonl", olmoe_like(8));
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(repository("configs/runs"))) {
        const std::string path = entry.path().string();
        names.insert(entry.path().filename().string());
        CAPTURE(path);
        std::vector<std::string> arguments{
            "run", path, "--json", "--set", "/cards=8", "--set", "/workload/batch_size=1"};
        if (path.find("32s") != std::string::npos) {
            arguments.insert(arguments.end(), {"--set", "/workload/shared_expert_cards=4"});
        }
        if (path.find("trace") != std::string::npos) {
            arguments.insert(arguments.end(), {"--set", "/workload/routing/path=" + trace});
        }
        const json result = run_of(arguments);
        CHECK(result["functional"]["ok"] == true);
        const json& workload = result["config"]["workload"];
        const int copies = workload["top_k"].get<int>() + workload["shared_experts"].get<int>();
        CHECK(result["functional"]["rows"] == 8 * copies);
        CHECK(result["hazards"].empty());
        // Its own config is the whole story.
        const std::string again = dir.write("again.json", result["config"].dump());
        json second = run_of({"run", again, "--json"});
        json first = result;
        first.erase("host");
        second.erase("host");
        CHECK(first == second);
    }
    for (const char* name : {"ep64_bs32_baseline.json", "ep288_bs8_baseline.json", "ep288_bs128_baseline.json",
                             "ep64_olmoe_trace.json", "ep8_smoke.json"}) {
        CHECK(names.contains(name));
    }
}

TEST_CASE("shipped configs: the trace config says what it lacks") {
    const ProgramResult run = podsim_program({"run", repository("configs/runs/ep64_olmoe_trace.json")});
    check_one_message(run, 2);
    CHECK(run.err.find("/workload/routing") != std::string::npos);
}

TEST_CASE("shipped configs: the OLMoE trace on 64 cards, where it is at hand") {
    const std::string trace = repository("../shared/traces/olmoe_layer0_routes.jsonl");
    if (!std::filesystem::exists(trace)) {
        WARN("no " << trace);
        return;
    }
    const json result = run_of({"run", repository("configs/runs/ep64_olmoe_trace.json"), "--json", "--set",
                                "/workload/routing/path=" + trace});
    CHECK(result["status"] == "ok");
    CHECK(result["functional"]["ok"] == true);
    CHECK(result["functional"]["rows"] == 64 * 32 * 8);
    CHECK_FALSE(result["notes"].empty());  // 6,519 tokens, 2,048 dealt
}
