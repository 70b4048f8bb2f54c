// SPDX-License-Identifier: Apache-2.0
// No parameter of the machine file is without effect: each moves a result or a component row, is refused beside the
// others, or is reported as unused.
#include "models/engine/error.hpp"
#include "sim/config/machine_loader.hpp"
#include "sim/config/machine_table.hpp"
#include "sim/config/origins.hpp"
#include "sim/report/components.hpp"
#include "sim/result/result_json.hpp"
#include "tests/kernel/kernel_support.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

using namespace podsim;
using nlohmann::json;

namespace {

/// Small, with all ways between cards, remote and local reads, several calls, stamps.
const Sets kSmall{"/cards=18",
                  "/workload/experts=36",
                  "/workload/batch_size=3",
                  "/workload/hidden=1024",
                  "/workload/top_k=4",
                  "/calls=2",
                  "/algorithm/aiv_cores=2",
                  "/observe/stamps=cost",
                  "/check/hazards=off",
                  "/machine/topology/packages_per_node=4"};
const std::vector<Sets> kScenarios{
    kSmall + Sets{"/algorithm/name=baseline"}, kSmall + Sets{"/algorithm/name=optimized"},
    // hypotheses that are off, and what only a fault or another order shows
    kSmall + Sets{"/algorithm/name=baseline", "/machine/hypotheses/translation_walk=500"},
    kSmall + Sets{"/algorithm/name=v2", "/workload/quant=none", "/machine/memory/l2_bytes=1",
                  "/machine/hccs/network_in_order=true"}};

struct Seen {
    std::string result;
    std::set<std::string> unused;
};

Seen seen_with(const Sets& sets) {
    const auto simulation = run_with(sets);
    json all = comparable(*simulation);
    Seen out;
    for (const auto& row : simulation->stamps()) {
        for (const std::int64_t stamp : row) {
            out.result += std::to_string(stamp) + " ";
        }
    }
    for (const auto& pointer : all["unused_machine_parameters"]) {
        out.unused.insert(pointer.get<std::string>());
    }
    for (const char* key : {"config", "unused_machine_parameters", "notes"}) {
        all.erase(key);
    }
    out.result += all.dump();
    return out;
}

std::string components_of(const json& machine) {
    json document = machine;
    Origins origins;
    origins.record("", "drawn", "");
    static const Components components = load_components(std::nullopt);
    return components_json(measure_components(components, load_machine(document, "", origins))).dump();
}

/// Other values, as far as they go: twice, half, more, less, and so little that any bound is felt.
std::vector<json> others(const json& value) {
    if (value.is_boolean()) {
        return {!value.get<bool>()};
    }
    if (value.is_string()) {
        return {"ack", "read", "by_pair", "by_address"};
    }
    const auto v = value.get<double>();
    if (value.is_number_integer()) {
        const auto n = value.get<std::int64_t>();
        return {2 * n, n / 2, n + 1, 1, v / 64};
    }
    return {2 * v, v / 2, v + 100};
}

}  // namespace

TEST_CASE("every machine parameter moves a result or a component row, or is reported unused", "[kernel]") {
    json machine = json::parse(std::ifstream(PODSIM_SOURCE_DIR "/configs/machines/atlas_a3_pod.json"));
    std::vector<Seen> before;
    std::set<std::string> unused;
    for (const Sets& sets : kScenarios) {
        before.push_back(seen_with(sets));
        if (before.size() == 1) {
            unused = before.back().unused;
        } else {
            std::set<std::string> both;
            for (const std::string& pointer : before.back().unused) {
                if (unused.contains(pointer)) {
                    both.insert(pointer);
                }
            }
            unused = both;
        }
    }
    const std::string components = components_of(machine);

    std::vector<std::string> pointers;
    for (const ParamRow& row : machine_parameters()) {
        pointers.emplace_back(row.pointer);
    }
    for (const auto& [name, instruction] : machine["vector"]["instructions"].items()) {
        if (!unused.contains("/vector/instructions/" + name)) {
            for (const char* part : {"head", "slope", "tail"}) {
                pointers.push_back("/vector/instructions/" + name + "/" + part);
            }
        }
    }
    std::size_t reported = 0;
    for (const std::string& pointer : pointers) {
        if (unused.contains(pointer)) {
            ++reported;
            continue;
        }
        const json::json_pointer at(pointer);
        REQUIRE(machine.contains(at));
        const json kept = machine[at];
        bool moved = false;
        for (const json& value : others(kept["value"])) {
            if (moved || value == kept["value"]) {
                continue;
            }
            json changed = kept;  // without its range: the question is what the model does
            changed["value"] = value;
            changed["kind"] = "derived";
            changed.erase("range");
            for (std::size_t s = 0; s < kScenarios.size() && !moved; ++s) {
                try {
                    moved = seen_with(kScenarios[s] + Sets{"/machine" + pointer + "=" + changed.dump()}).result !=
                            before[s].result;
                } catch (const UserError& error) {
                    // A value that something else of the config does not go with has an effect, too; one that is no
                    // value at all has none.
                    moved = error.detail().pointer.find(pointer) == std::string::npos;
                }
            }
            if (!moved && value.is_number()) {
                machine[at] = changed;
                try {
                    moved = components_of(machine) != components;
                } catch (const UserError&) {
                }
                machine[at] = kept;
            }
        }
        CAPTURE(pointer);
        CHECK(moved);
    }
    CHECK(reported < pointers.size() / 4);
}
