// SPDX-License-Identifier: Apache-2.0
// Whatever instruction a machine lacks, kernels stay right, by scalar loops; a machine that declares no cost of them
// refuses just the kernels that would need one.
#include "tests/kernel/kernel_support.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

using namespace podsim;
using nlohmann::json;

TEST_CASE("a kernel is right on a machine that lacks any one instruction", "[kernel]") {
    const std::string kernel = GENERATE(as<std::string>{}, "baseline", "v2", "fullmesh_gen_a", "optimized");
    const std::string quant = GENERATE(as<std::string>{}, "int8_dynamic", "none");
    const Sets sets{"/cards=4",          "/workload/experts=8",       "/workload/batch_size=4",
                    "/workload/top_k=2", "/workload/hidden=1024",     "/algorithm/aiv_cores=4",
                    "/calls=2",          "/algorithm/name=" + kernel, "/workload/quant=" + quant};
    const auto unused = [](const nlohmann::ordered_json& result, const std::string& pointer) {
        const auto& all = result["unused_machine_parameters"];
        return std::find(all.begin(), all.end(), pointer) != all.end();
    };
    const auto whole = result_with(sets);
    const json machine = json::parse(std::ifstream(PODSIM_SOURCE_DIR "/configs/machines/atlas_a3_pod.json"));
    const Sets no_loop{R"(/machine/vector/scalar_path={"value":0,"unit":"cycles","source":"test","kind":"derived"})"};
    std::size_t used = 0;
    for (const auto& [name, row] : machine["vector"]["instructions"].items()) {
        CAPTURE(kernel, quant, name);
        const std::string pointer = "/vector/instructions/" + name;
        // No instruction exists for this type.
        const Sets lacking = sets + Sets{"/machine" + pointer + R"(/types=["uint64_t"])"};
        delivers(lacking, 4 * 4 * 2 * 2);
        const auto without = result_with(lacking);
        if (unused(whole, pointer)) {
            CHECK(without["total_us"] == whole["total_us"]);
            CHECK(result_with(lacking + no_loop)["total_us"] == whole["total_us"]);
            continue;
        }
        ++used;
        CHECK(!unused(without, "/vector/scalar_path"));
        CHECK(result_with(lacking + no_loop)["failure"] == "broken_rule");
    }
    CHECK(used >= 4);
}
