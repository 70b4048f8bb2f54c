// SPDX-License-Identifier: Apache-2.0
#include "sim/config/machine_loader.hpp"

#include "models/engine/error.hpp"
#include "sim/config/builtin.hpp"
#include "sim/config/json_text.hpp"
#include "sim/config/machine_table.hpp"
#include "sim/config/nearest.hpp"
#include "sim/config/origins.hpp"
#include "sim/config/schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace podsim {

namespace {

using nlohmann::json;

constexpr std::uint32_t kMostCards = 16'384;

/// One parameter object with the place it came from; every complaint about it is made here.
class Reader {
public:
    Reader(const json& parameter, std::string pointer, const Origins& origins)
        : parameter_(parameter), pointer_(std::move(pointer)), origins_(origins) {}

    /// The value in the held unit of `dimension`, within [least, most].
    double number(Dimension dimension, double least, double most) const {
        const double size = unit(dimension);
        const json& value = parameter_["value"];
        if (!value.is_number()) {
            complain("value", fmt::format("a number ({})", parameter_["unit"].get<std::string>()), in_words(value));
        }
        check_range(value.get<double>());
        double held = value.get<double>() * size;
        if (must_be_whole(dimension)) {
            const double whole = std::round(held);
            if (std::abs(held - whole) > 1e-6 * std::max(1.0, whole)) {
                const bool count = dimension == Dimension::count;
                complain("value", count ? "a whole number" : "a whole number of " + units_of(dimension).front(),
                         in_unit(value.get<double>()));
            }
            held = whole;
        }
        if (!(held >= least)) {
            complain(
                "value",
                least > 0 ? fmt::format("more than 0, at least {}", in_unit(least / size)) : std::string("0 or more"),
                value.dump());
        }
        if (!(held <= most)) {
            complain("value", fmt::format("at most {}", in_unit(most / size)), value.dump());
        }
        return held;
    }

    bool flag() const {
        unit(Dimension::flag);
        if (!parameter_["value"].is_boolean()) {
            complain("value", "true or false", in_words(parameter_["value"]));
        }
        refuse_range("there is nothing between true and false");
        return parameter_["value"].get<bool>();
    }

    std::size_t choice(const std::vector<std::string>& names) const {
        unit(Dimension::choice);
        const json& value = parameter_["value"];
        if (value.is_string()) {
            const auto at = std::find(names.begin(), names.end(), value.get<std::string>());
            if (at != names.end()) {
                refuse_range("there is nothing between names");
                return static_cast<std::size_t>(at - names.begin());
            }
        }
        complain("value", fmt::format("one of {}", fmt::join(names, ", ")), in_words(value),
                 value.is_string() ? name_hint(value.get<std::string>(), names) : "");
    }

private:
    /// Of a parameter that is no number: nothing can draw it or fit it.
    void refuse_range(const char* why) const {
        if (parameter_.contains("range")) {
            complain("range", fmt::format("none: {}", why), in_words(parameter_["range"]));
        }
        if (parameter_["kind"] == "calibrated") {
            complain("kind", "published or derived: only numbers are fitted", "\"calibrated\"");
        }
    }
    [[noreturn]] void complain(const char* key, std::string expected, std::string found, std::string hint = "") const {
        throw UserError(
            origins_.at(join_pointer(pointer_, key), std::move(expected), std::move(found), std::move(hint)));
    }
    std::string in_unit(double value) const {
        const auto unit = parameter_["unit"].get<std::string>();
        return unit == "count" ? fmt::format("{:g}", value) : fmt::format("{:g} {}", value, unit);
    }
    double unit(Dimension dimension) const {
        const auto name = parameter_["unit"].get<std::string>();
        const auto size = unit_size(dimension, name);
        if (!size) {
            const auto valid = units_of(dimension);
            const std::string near = valid.size() > 1 ? nearest_name(name, valid) : "";
            complain("unit", fmt::format("one of {}", fmt::join(valid, ", ")), fmt::format("\"{}\"", name),
                     near.empty() ? "" : "nearest valid name: " + near);
        }
        return *size;
    }
    void check_range(double value) const {
        const auto range = parameter_.find("range");
        const bool calibrated = parameter_["kind"] == "calibrated";
        if (range == parameter_.end()) {
            if (calibrated) {
                complain("range", "a range, as the kind is \"calibrated\"", "nothing");
            }
            return;
        }
        const double least = (*range)[0].get<double>();
        const double most = (*range)[1].get<double>();
        if (!(least <= most)) {
            complain("range", "[least, most]", range->dump());
        }
        if (!(value >= least && value <= most)) {
            complain("value", fmt::format("a value within the parameter's range {}", range->dump()),
                     fmt::format("{}", value), "to go beyond, set the range too: it stands beside the value");
        }
    }

    const json& parameter_;
    std::string pointer_;
    const Origins& origins_;
};

void set_parameter(Machine& machine, const ParamRow& row, const Reader& reader) {
    std::visit(
        [&](auto access) {
            auto& param = access(machine);
            using Value = std::decay_t<decltype(param.peek())>;
            if constexpr (std::is_same_v<Value, bool>) {
                param.set(reader.flag());
            } else if constexpr (std::is_same_v<Value, PathChoice>) {
                param.set(reader.choice({"by_pair", "by_address"}) == 0 ? PathChoice::by_pair : PathChoice::by_address);
            } else if constexpr (std::is_same_v<Value, Mte3Event>) {
                param.set(reader.choice({"ack", "read"}) == 0 ? Mte3Event::at_acknowledge : Mte3Event::at_read);
            } else {
                const double held = reader.number(row.dimension, row.least, row.most);
                param.set(static_cast<Value>(std::llround(held)));
            }
        },
        row.access);
}

void read_instructions(Machine& machine, const json& instructions, const std::string& pointer, const Origins& origins) {
    constexpr double kMostCycles = 1e9;
    for (const auto& [name, body] : instructions.items()) {
        const std::string here = join_pointer(pointer, name);
        VectorInstruction instruction;
        instruction.name = name;
        instruction.types = body["types"].get<std::vector<std::string>>();
        const auto cycles = [&](const char* key) {
            const Reader reader(body[key], join_pointer(here, key), origins);
            return Param<MilliCycles>(std::llround(reader.number(Dimension::cycles, 0, kMostCycles)));
        };
        instruction.head = cycles("head");
        instruction.slope = cycles("slope");
        instruction.tail = cycles("tail");
        machine.core.vector.instructions.push_back(std::move(instruction));
    }
}

void read_edits(Machine& machine, const json& edits) {
    for (const json& body : edits) {
        TopologyEdit edit;
        const std::string& kind = body["kind"].get_ref<const std::string&>();
        edit.kind = kind == "remove" ? TopologyEdit::Kind::remove
                    : kind == "add"  ? TopologyEdit::Kind::add
                                     : TopologyEdit::Kind::slow;
        edit.from = body["from"].get<std::string>();
        edit.to = body["to"].get<std::string>();
        edit.plane = body["plane"].get<std::int32_t>();
        edit.rate_scale = body["rate_scale"].get<double>();
        edit.extra_latency = std::llround(body["extra_latency_ns"].get<double>() * 1e3);
        machine.fabric.topology.edits.push_back(std::move(edit));
    }
}

/// Whether each number is right has been checked; here, whether they fit together.
void check_machine(const Machine& machine, const std::string& pointer, const Origins& origins) {
    const auto complain = [&](const char* where, std::string expected, std::string found) {
        throw UserError(origins.at(pointer + where, std::move(expected), std::move(found)));
    };
    const TopologyParams& topology = machine.fabric.topology;
    if (topology.cards() > kMostCards) {
        complain("/topology", fmt::format("at most {} cards (nodes x packages x dies)", kMostCards),
                 std::to_string(topology.cards()));
    }
    if (topology.nodes.peek() > 1 && topology.l2_switches_per_plane.peek() == 0) {
        complain("/topology/l2_switches_per_plane/value",
                 fmt::format("1 or more, to connect {} nodes", topology.nodes.peek()), "0");
    }
    if (machine.fabric.noc_first_packet_order.peek() && !machine.fabric.network_in_order.peek()) {
        complain("/hccs/noc_first_packet_order/value", "false, or /hccs/network_in_order true as well", "true");
    }
    const auto multiple = [&](const char* where, std::uint32_t value, std::uint32_t of) {
        if (value % of != 0) {
            complain(where, fmt::format("a multiple of {} B", of), fmt::format("{} B", value));
        }
    };
    multiple("/hccs/plane_hash_bytes/value", machine.fabric.plane_hash_bytes.peek(), kBlockBytes);
    multiple("/core/ub_bytes/value", machine.core.ub_bytes.peek(), kUbGranule);
    multiple("/vector/repeat_bytes/value", machine.core.vector.repeat_bytes.peek(), kUbGranule);
    const std::uint32_t line = machine.core.scalar.cache_line.peek();
    if (kBlockBytes % line != 0) {
        complain("/scalar/cache_line/value", fmt::format("a power of two, at most {} B", kBlockBytes),
                 fmt::format("{} B", line));
    }
    multiple("/scalar/cache_bytes/value", machine.core.scalar.cache_bytes.peek(), line);
}

}  // namespace

Machine load_machine(json& machine, const std::string& pointer, const Origins& origins) {
    validate_against(SchemaName::machine, machine, pointer, origins);
    fill_defaults(SchemaName::machine, machine);
    Machine out;
    out.name = machine["name"].get<std::string>();
    for (const ParamRow& row : machine_parameters()) {
        const json& parameter = machine.at(json::json_pointer(std::string(row.pointer)));
        set_parameter(out, row, Reader(parameter, pointer + std::string(row.pointer), origins));
    }
    read_instructions(out, machine["vector"]["instructions"], pointer + "/vector/instructions", origins);
    read_edits(out, machine["topology"]["edits"]);
    check_machine(out, pointer, origins);
    return out;
}

Machine load_machine_file(const std::filesystem::path& path) {
    json machine = read_json_file(path);
    Origins origins;
    origins.record("", path.string(), "");
    return load_machine(machine, "", origins);
}

Machine load_builtin_machine() {
    const std::string name(name_of(Builtin::machine));
    json machine = parse_json(builtin_text(Builtin::machine), name);
    Origins origins;
    origins.record("", name, "");
    return load_machine(machine, "", origins);
}

std::vector<std::string> unused_parameters(const Machine& machine) {
    std::vector<std::string> unused;
    for (const ParamRow& row : machine_parameters()) {
        // The table's access is not const, since loading sets through it; asking whether a value was used changes
        // nothing.
        auto& readable = const_cast<Machine&>(machine);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
        if (!std::visit([&](auto access) { return access(readable).used(); }, row.access)) {
            unused.emplace_back(row.pointer);
        }
    }
    for (const VectorInstruction& instruction : machine.core.vector.instructions) {
        if (!instruction.head.used() && !instruction.slope.used() && !instruction.tail.used()) {
            unused.push_back("/vector/instructions/" + instruction.name);
        }
    }
    return unused;
}

}  // namespace podsim
