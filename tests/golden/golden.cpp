// SPDX-License-Identifier: Apache-2.0
/// Results stay the same bytes until somebody means to change them (README.md here).
#include "sim/result/result_json.hpp"
#include "sim/run/simulation.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace podsim;
using nlohmann::json;

namespace {

const std::string kRepository = PODSIM_SOURCE_DIR;

std::string result_of(const std::vector<std::string>& sets) {
    Simulation simulation(load_run_config(kRepository + "/configs/runs/ep8_smoke.json", sets));
    simulation.run();
    nlohmann::ordered_json result = result_json(simulation);
    for (const char* key : {"host", "config", "unused_machine_parameters", "version"}) {
        result.erase(key);
    }
    return result.dump(2) + "\n";
}

/// Pointers whose values differ, golden value first; a few of them.
std::string difference(const std::string& golden, const std::string& found) {
    const json before = json::parse(golden, nullptr, false);
    const json after = json::parse(found);
    if (before.is_discarded()) {
        return "the golden file is no JSON";
    }
    std::string out;
    std::size_t count = 0;
    for (const json& step : json::diff(before, after)) {
        if (++count <= 20) {
            const json::json_pointer at(step["path"].get<std::string>());
            out += fmt::format("{}: {} -> {}\n", at.to_string(), before.contains(at) ? before[at].dump() : "nothing",
                               after.contains(at) ? after[at].dump() : "nothing");
        }
    }
    return fmt::format("{} values differ\n{}", count, out);
}

void stays(const std::string& name, const std::vector<std::string>& sets) {
    const std::string path = kRepository + "/tests/golden/" + name + ".json";
    const std::string found = result_of(sets);
    if (std::getenv("PODSIM_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << found;
        WARN("wrote " << path);
    }
    std::ifstream file(path, std::ios::binary);
    std::ostringstream golden;
    golden << file.rdbuf();
    INFO(difference(golden.str(), found) << "meant? tools/update-golden");
    CHECK((golden.str() == found));
}

}  // namespace

TEST_CASE("golden: the smoke config") { stays("ep8_smoke", {}); }

TEST_CASE("golden: token flags, matrix sums and cleared flags on the fictitious machine") {
    stays("tiny_token_flags",
          {"/machine=" + kRepository + "/configs/machines/tiny_pod.json", "/cards=6", "/workload/experts=12",
           "/workload/batch_size=5", "/workload/hidden=544", "/workload/quant=none", "/calls=3",
           "/algorithm/aiv_cores=7", "/algorithm/options/sync_mode=token_flag", "/algorithm/options/cumsum=matrix",
           "/algorithm/options/flag_reset=clear"});
}

TEST_CASE("golden: two nodes, a hot expert, shared experts, uneven cards and start times") {
    stays("two_nodes_hot",
          {"/cards=18", "/workload/experts=32", "/workload/shared_experts=1", "/workload/shared_expert_cards=2",
           "/workload/batch_size=4", "/workload/hidden=1056", "/workload/routing/kind=hot", "/algorithm/aiv_cores=12",
           "/algorithm/options/status_stride_bytes=32", "/machine/launch/card_start_skew=3us",
           "/workload/routing/tokens_per_card=[4,3,2,1,0,4,4,4,4,4,4,4,4,4,4,4,4,1]", "/seed=7"});
}
