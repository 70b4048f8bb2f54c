// SPDX-License-Identifier: Apache-2.0
#include "sim/config/json_text.hpp"
#include "sim/config/machine_loader.hpp"
#include "sim/config/machine_table.hpp"
#include "sim/config/origins.hpp"
#include "sim/config/schema.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/config_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

using namespace podsim;
using namespace podsim::test;
using nlohmann::json;

namespace {

json atlas() { return read_json_file(repository("configs/machines/atlas_a3_pod.json")); }

Machine load(json machine) {
    Origins origins;
    origins.record("", "m.json", "");
    return load_machine(machine, "", origins);
}

ErrorDetail refused_machine(const std::string& pointer, const json& value) {
    json machine = atlas();
    machine[json::json_pointer(pointer)] = value;
    return user_error([&] { load(machine); });
}

/// Calls `visit` with every parameter object and its pointer.
template <class Visit>
void each_parameter(const json& value, const std::string& pointer, const Visit& visit) {
    if (value.is_object() && value.contains("value")) {
        visit(value, pointer);
    } else if (value.is_object()) {
        for (const auto& [key, child] : value.items()) {
            each_parameter(child, join_pointer(pointer, key), visit);
        }
    }
}

const VectorInstruction& instruction(const Machine& machine, const std::string& name) {
    const auto& all = machine.core.vector.instructions;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& i) { return i.name == name; });
    REQUIRE(found != all.end());
    return *found;
}

}  // namespace

TEST_CASE("config machine: the A3 pod is the published one", "[config]") {
    const Machine m = load_machine_file(repository("configs/machines/atlas_a3_pod.json"));
    CHECK(m.fabric.topology.cards() == 768);
    CHECK(m.fabric.topology.cards_per_node() == 16);
    CHECK(m.fabric.topology.planes.peek() == 7);
    CHECK(m.fabric.link_rate.peek() == 28'000);  // 224 Gbps
    CHECK(m.core.aiv_per_card.peek() == 48);
    CHECK(m.core.ub_bytes.peek() == 196'352);
    CHECK(m.core.clock_mhz.peek() == 1850);
    CHECK(m.core.mte.mte2_issue.peek() == 20'600);
    CHECK(m.core.scalar.ub_load.peek() == 8'000);
    CHECK(m.memory.l2_bytes.peek() == 192ULL * 1024 * 1024);
    CHECK(m.memory.hbm_bandwidth.peek() == 1'456'000);
    CHECK(m.core.mte.mte3_event.peek() == Mte3Event::at_acknowledge);
    CHECK(instruction(m, "Add").tail.peek() == 14'000);
    // One hop and two, as hardware.md reconciles them, from the parameters alone (a 512 B read; ps).
    const auto service = service_time(512, m.fabric.port_read_rate.peek());
    const auto request = service_time(40, m.fabric.link_rate.peek());
    const auto wire = service_time(540, m.fabric.link_rate.peek());
    const Picoseconds ends = 2 * m.memory.noc_latency.peek() + m.memory.l2_read_latency.peek();
    const Picoseconds one_hop = m.memory.l2_read_latency.peek() + 2 * request + 2 * service +
                                4 * m.fabric.port_latency.peek() + 2 * m.fabric.switch_latency.peek();
    // What is measured contains the loop that measures, some 20 ns.
    constexpr double kLoop = 0.020;
    CHECK(to_us(one_hop) + kLoop == Approx(0.929).epsilon(0.01));
    const Picoseconds two_tiers =
        one_hop + 4 * m.fabric.switch_latency.peek() + 4 * m.fabric.span_latency.peek() + 2 * request + 2 * wire;
    CHECK(to_us(two_tiers) > 2.1);
    CHECK(to_us(two_tiers) < 2.5);
    // 195 cycles from GM to UB on an L2 hit; SyncAll of 48 cores amid the 1-2 us of the A3.
    CHECK(to_us(ends) + kLoop == Approx(195 / 1850.0).epsilon(0.03));
    CHECK(m.sync.sync_all_base.peek() + 48 * m.sync.sync_all_per_core.peek() == 1'500'000);
}

TEST_CASE("config machine: every number of every shipped machine has source, kind and a place in its range",
          "[config]") {
    for (const auto& entry : std::filesystem::directory_iterator(repository("configs/machines"))) {
        const json machine = read_json_file(entry.path());
        int calibrated = 0;
        each_parameter(machine, "", [&](const json& parameter, const std::string& pointer) {
            INFO(entry.path() << " " << pointer);
            CHECK(parameter["source"].get<std::string>().size() >= 10);
            if (parameter["kind"] == "calibrated") {
                ++calibrated;
                CHECK(parameter["value"] > parameter["range"][0]);  // a fit that ends at its bound is none
                CHECK(parameter["value"] < parameter["range"][1]);
            }
        });
        CHECK(calibrated <= 8);
        CHECK_NOTHROW(load_machine_file(entry.path()));
    }
}

TEST_CASE("config machine: the fictitious machine shares no number that could be hard-wired", "[config]") {
    const json real = atlas();
    const json tiny = read_json_file(repository("configs/machines/tiny_pod.json"));
    std::set<std::string> same;
    each_parameter(real, "", [&](const json& parameter, const std::string& pointer) {
        const json& other = tiny[json::json_pointer(pointer)];
        CHECK(other["source"].get<std::string>().find("fictitious") != std::string::npos);
        if (parameter["value"] == other["value"] && parameter["value"].is_number() && parameter["value"] != 0) {
            same.insert(pointer);
        }
    });
    // What the architecture fixes: dies in a package, the instruction set's repeat, the ids kernels are written for.
    CHECK(same == std::set<std::string>{"/core/event_ids", "/topology/dies_per_package", "/vector/repeat_bytes"});
}

TEST_CASE("config machine: the table, the schema, the file and the structs name the same parameters", "[config]") {
    std::set<std::string> in_table;
    for (const ParamRow& row : machine_parameters()) {
        CHECK(in_table.insert(std::string(row.pointer)).second);
    }
    std::set<std::string> in_file;
    each_parameter(atlas(), "", [&](const json&, const std::string& pointer) {
        if (!pointer.starts_with("/vector/instructions/")) {
            in_file.insert(pointer);
        }
    });
    CHECK(in_file == in_table);
    const json schema = json::parse(schema_text(SchemaName::machine));
    std::set<std::string> in_schema;
    for (const auto& [group, body] : schema["properties"].items()) {
        if (!body.contains("properties")) {
            continue;
        }
        for (const auto& [key, parameter] : body["properties"].items()) {
            if (parameter.contains("$ref")) {
                in_schema.insert(fmt::format("/{}/{}", group, key));
            }
        }
    }
    CHECK(in_schema == in_table);
    // A Param added to a struct and forgotten in the table would keep its zero: count them in the headers.
    std::size_t members = 0;
    for (const char* header :
         {"aicore/core_params.hpp", "fabric/fabric_params.hpp", "memory/memory_params.hpp", "sync/sync_params.hpp"}) {
        std::ifstream in(repository("models/") + header);
        std::stringstream text;
        text << in.rdbuf();
        const std::string all = text.str();
        const std::regex member("\n    Param<[^>]+> [a-z_0-9]+;");
        members += static_cast<std::size_t>(std::distance(std::sregex_iterator(all.begin(), all.end(), member), {}));
    }
    CHECK(members == in_table.size() + 3);  // head, slope and tail of an instruction
}

TEST_CASE("config machine: values in any unit of their dimension", "[config]") {
    const auto with = [](const std::string& pointer, const json& value, const char* unit) {
        json machine = atlas();
        json& parameter = machine[json::json_pointer(pointer)];
        parameter["value"] = value;
        parameter["unit"] = unit;
        parameter.erase("range");
        return load(machine);
    };
    CHECK(with("/hccs/link_rate", 448, "Gbps").fabric.link_rate.peek() == 56'000);
    CHECK(with("/hccs/link_rate", 56'000, "MB/s").fabric.link_rate.peek() == 56'000);
    CHECK(with("/hccs/link_rate", 1, "GiB/s").fabric.link_rate.peek() == 1074);
    CHECK(with("/core/clock", 1.65, "GHz").core.clock_mhz.peek() == 1650);
    CHECK(with("/core/ub_bytes", 192, "KiB").core.ub_bytes.peek() == 196'608);
    CHECK(with("/memory/l2_bytes", 0.192, "GB").memory.l2_bytes.peek() == 192'000'000);
    CHECK(with("/hccs/switch_latency", 0.2, "us").fabric.switch_latency.peek() == 200'000);
    CHECK(with("/hccs/switch_latency", 150'500, "ps").fabric.switch_latency.peek() == 150'500);
    CHECK(with("/hccs/switch_latency", 0.0005, "ms").fabric.switch_latency.peek() == 500'000);
    CHECK(with("/scalar/alu", 1.5, "cycles").core.scalar.alu.peek() == 1500);
}

TEST_CASE("config machine: each wrong value has its message", "[config]") {
    struct Wrong {
        const char* at;
        json value;
        const char* pointer;  // "" = as at
        const char* expected;
    };
    const std::vector<Wrong> all{
        {"/mte/queue_depth/unit", "ns", "", "one of count"},
        {"/hccs/link_rate/unit", "GBps", "", "one of MB/s, GB/s, TB/s, Gbps, GiB/s"},
        {"/hccs/link_rate/value", 0, "", "more than 0"},
        {"/hccs/link_rate/value", -1, "", "more than 0"},
        {"/hccs/link_rate/value", "fast", "", "a number (GB/s)"},
        {"/hccs/link_rate/value", true, "", "a number (GB/s)"},
        {"/hccs/link_rate/value", json::array(), "", "a number"},
        {"/hccs/link_rate/value", 1e12, "", "at most"},
        {"/topology/nodes/value", 1.5, "", "a whole number"},
        {"/topology/nodes/value", 0, "", "more than 0"},
        {"/topology/dies_per_package/value", 3, "", "at most 2"},
        {"/mte/queue_depth/value", 65, "", "within the parameter's range [16,64]"},
        {"/mte/queue_depth/range", json{64, 16}, "", "[least, most]"},
        {"/mte/queue_depth/range", json{1}, "", "an array of exactly 2"},
        {"/mte/queue_depth/range", json{"a", "b"}, "/mte/queue_depth/range/0", "a number"},
        {"/core/clock/kind", "guess", "", "one of \"published\", \"derived\", \"calibrated\""},
        {"/core/clock/source", "", "", "a non-empty string"},
        {"/core/counter/kind", "calibrated", "/core/counter/range", "a range"},
        {"/mte/mte3_event/value", "acknowledge", "", "one of ack, read"},
        {"/mte/mte3_event/value", 1, "", "one of ack, read"},
        {"/hccs/network_in_order/value", 1, "", "true or false"},
        {"/hccs/network_in_order/range", json{0, 1}, "", "nothing between true and false"},
        {"/hccs/network_in_order/kind", "calibrated", "", "only numbers are fitted"},
        {"/hccs/path_choice/range", json{0, 1}, "", "nothing between names"},
        {"/mte/mte3_event/kind", "calibrated", "", "only numbers are fitted"},
        {"/hypotheses/instruction_miss", json{{"value", 2}, {"unit", "ms"}, {"source", "x"}, {"kind", "derived"}},
         "/hypotheses/instruction_miss/value", "at most"},
        {"/hccs/noc_first_packet_order/value", true, "", "network_in_order true as well"},
        {"/hccs/plane_hash_bytes/value", 700, "", "a multiple of 512 B"},
        {"/core/ub_bytes/value", 196'353, "", "a multiple of 32 B"},
        {"/scalar/cache_line/value", 48, "", "a power of two"},
        {"/topology/l2_switches_per_plane/value", 0, "", "1 or more"},
        {"/topology/nodes/value", 1025, "", "at most 1024"},
        {"/topology/edits", json{{{"kind", "cut"}}}, "/topology/edits/0/kind", "one of \"remove\", \"add\", \"slow\""},
        {"/topology/edits", json{{{"kind", "slow"}, {"rate_scale", 0}}}, "/topology/edits/0/rate_scale",
         "from 0.001 to 1000"},
        {"/topology/edits", json{{{"kind", "slow"}, {"rate_scale", 0.0001}}}, "/topology/edits/0/rate_scale",
         "from 0.001"},
        {"/vector/instructions/Add/types", json{"float32"}, "/vector/instructions/Add/types/0", "\"float\""},
        {"/vector/instructions/Add/types", json::array(), "", "an array of 1 elements or more"},
        {"/vector/instructions/Add/slope/value", -1, "", "0 or more"},
        {"/vector/instructions/Add/slope/unit", "ns", "", "one of cycles"},
        {"/schema", "podsim.machine/2", "", "\"podsim.machine/1\""},
        {"/name", "", "", "a non-empty string"},
        {"/mte", 3, "", "an object"},
    };
    for (const Wrong& wrong : all) {
        INFO(wrong.at << " = " << wrong.value.dump());
        const ErrorDetail detail = refused_machine(wrong.at, wrong.value);
        CHECK(detail.file == "m.json");
        CHECK(detail.pointer == (*wrong.pointer == '\0' ? wrong.at : wrong.pointer));
        INFO(detail.expected);
        CHECK(detail.expected.find(wrong.expected) != std::string::npos);
        CHECK_FALSE(detail.found.empty());
    }
    CHECK(refused_machine("/hccs/link_rate/unit", "GBps").hint == "nearest valid name: Gbps");
    CHECK(refused_machine("/mte/mte3_event/value", "akc").hint == "nearest valid name: ack");
}

TEST_CASE("config machine: missing and renamed parameters are told with the nearest name", "[config]") {
    for (const ParamRow& row : machine_parameters()) {
        const std::string pointer(row.pointer);
        const std::string group = pointer.substr(0, pointer.rfind('/'));
        const std::string key = pointer.substr(pointer.rfind('/') + 1);
        INFO(pointer);
        json machine = atlas();
        json& members = machine[json::json_pointer(group)];
        const json parameter = members[key];
        members.erase(key);
        CHECK(user_error([&] { load(machine); }).pointer == pointer);
        members[key + "x"] = parameter;
        const ErrorDetail renamed = user_error([&] { load(machine); });
        CHECK(renamed.pointer == pointer + "x");
        CHECK(renamed.hint == "nearest valid name: " + key);
    }
}

TEST_CASE("config machine: edits arrive in inner units", "[config]") {
    json machine = atlas();
    machine["topology"]["edits"] = {{{"kind", "remove"}, {"from", "card0"}, {"to", "l1.n0.p3"}, {"plane", 3}},
                                    {{"kind", "slow"}, {"plane", 2}, {"rate_scale", 0.5}, {"extra_latency_ns", 1.5}}};
    const Machine loaded = load(machine);
    const auto& edits = loaded.fabric.topology.edits;
    REQUIRE(edits.size() == 2);
    CHECK(edits[0] == TopologyEdit{TopologyEdit::Kind::remove, "card0", "l1.n0.p3", 3, 1.0, 0});
    CHECK(edits[1] == TopologyEdit{TopologyEdit::Kind::slow, "", "", 2, 0.5, 1500});
}

TEST_CASE("config machine: what no model read is reported, instructions as a whole", "[config]") {
    const Machine m = load(atlas());
    const std::size_t all = machine_parameters().size() + m.core.vector.instructions.size();
    CHECK(unused_parameters(m).size() == all);
    static_cast<void>(m.memory.noc_latency.get());
    static_cast<void>(instruction(m, "Mul").slope.get());
    const auto unused = unused_parameters(m);
    CHECK(unused.size() == all - 2);
    CHECK(std::count(unused.begin(), unused.end(), "/memory/noc_latency") == 0);
    CHECK(std::count(unused.begin(), unused.end(), "/vector/instructions/Mul") == 0);
    CHECK(std::count(unused.begin(), unused.end(), "/vector/instructions/Add") == 1);
}
