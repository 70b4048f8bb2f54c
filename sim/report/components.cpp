// SPDX-License-Identifier: Apache-2.0
#include "sim/report/components.hpp"

#include "sim/config/builtin.hpp"
#include "sim/config/json_text.hpp"
#include "sim/config/nearest.hpp"
#include "sim/config/origins.hpp"
#include "sim/config/schema.hpp"
#include "sim/run/bench_runner.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace podsim {

namespace {

using nlohmann::json;

/// What the schema cannot say about a figure.
class FigureReader {
public:
    FigureReader(const json& figure, std::string pointer, const Origins& origins)
        : figure_(figure), pointer_(std::move(pointer)), origins_(origins) {}

    ComponentFigure read() const {
        ComponentFigure out;
        out.group = text("group");
        out.name = text("name");
        out.unit = text("unit");
        out.basis = text("basis");
        out.source = text("source");
        out.reason = text("reason");
        out.note = text("note");
        out.clock_mhz = figure_.value("clock_mhz", 0U);
        read_values(out);
        if (figure_.contains("bench") == figure_.contains("reason")) {
            refuse("bench", "either a microbenchmark or a reason why there is none",
                   figure_.contains("bench") ? "both" : "neither");
        }
        if (figure_.contains("bench")) {
            read_bench(out);
        }
        return out;
    }

    [[noreturn]] void refuse(const char* key, std::string expected, std::string found, std::string hint = "") const {
        throw UserError(
            origins_.at(join_pointer(pointer_, key), std::move(expected), std::move(found), std::move(hint)));
    }

private:
    std::string text(const char* key) const { return figure_.value(key, std::string()); }

    void read_values(ComponentFigure& out) const {
        if (figure_.contains("published")) {
            out.published = figure_["published"].get<double>();
        }
        if (!figure_.contains("range")) {
            return;
        }
        out.range = {figure_["range"][0].get<double>(), figure_["range"][1].get<double>()};
        if (out.range->first > out.range->second) {
            refuse("range", "[least, most]", figure_["range"].dump());
        }
        if (out.published && (*out.published < out.range->first || *out.published > out.range->second)) {
            refuse("published", fmt::format("a value within the range {}", figure_["range"].dump()),
                   figure_["published"].dump());
        }
    }

    void read_bench(ComponentFigure& out) const {
        const std::string name = text("bench");
        out.bench = find_microbench(name);
        if (out.bench == nullptr) {
            std::vector<std::string> names;
            for (const Microbench& bench : microbenches()) {
                names.emplace_back(bench.name);
            }
            refuse("bench", "a microbenchmark", in_words(figure_["bench"]), name_hint(name, names));
        }
        if (out.unit != out.bench->unit) {
            refuse("unit", fmt::format("\"{}\", what {} measures in", out.bench->unit, name),
                   in_words(figure_["unit"]));
        }
        if (!out.published && out.basis == "measured") {
            refuse("published", "a number, as the basis is \"measured\"", "nothing");
        }
        argument("bytes", out.bench->takes_bytes);
        argument("cores", out.bench->takes_cores);
        argument("reach", out.bench->takes_reach);
        out.arguments.bytes = figure_.value("bytes", 0U);
        out.arguments.cores = figure_.value("cores", 0U);
        const std::string reach = text("reach");
        out.arguments.reach = reach == "pod" ? Reach::pod : reach == "node" ? Reach::node : Reach::package;
    }

    void argument(const char* key, bool taken) const {
        if (figure_.contains(key) != taken) {
            const std::string expected = fmt::format("{} \"{}\" for {}", taken ? "a" : "no", key, text("bench"));
            refuse(key, expected, taken ? "nothing: the key is missing" : in_words(figure_[key]));
        }
    }

    const json& figure_;
    std::string pointer_;
    const Origins& origins_;
};

/// A median of nothing is nothing; of an even number it lies between the two in the middle.
std::optional<double> median(std::vector<double> values) {
    if (values.empty()) {
        return std::nullopt;
    }
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// One runner for every clock that figures ask for.
class Runners {
public:
    explicit Runners(const Machine& machine) : machine_(machine) {}
    BenchRunner& at(std::uint32_t clock_mhz) {
        const auto found = runners_.find(clock_mhz);
        if (found != runners_.end()) {
            return found->second;
        }
        Machine machine = machine_;
        if (clock_mhz != 0) {
            machine.core.clock_mhz.set(clock_mhz);
        }
        return runners_.emplace(clock_mhz, std::move(machine)).first->second;
    }

private:
    const Machine& machine_;
    std::map<std::uint32_t, BenchRunner> runners_;
};

/// Digits that the last bits of a double do not reach.
double rounded(double value) { return std::round(value * 1000) / 1000; }

nlohmann::ordered_json or_null(const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(rounded(*value)) : nlohmann::ordered_json();
}

}  // namespace

Components load_components(const std::optional<std::filesystem::path>& path) {
    const std::string name = path ? path->string() : std::string(name_of(Builtin::components));
    const json root = path ? read_json_file(*path) : parse_json(builtin_text(Builtin::components), name);
    Origins origins;
    origins.record("", name, "");
    validate_against(SchemaName::components, root, "", origins);
    Components out;
    out.machine = root["machine"].get<std::string>();
    out.median_tolerance_pct = root["median_tolerance_pct"].get<double>();
    std::set<std::string> names;
    for (std::size_t i = 0; i < root["figures"].size(); ++i) {
        const FigureReader reader(root["figures"][i], fmt::format("/figures/{}", i), origins);
        ComponentFigure figure = reader.read();
        if (!names.insert(figure.name).second) {
            reader.refuse("name", "a name that no other figure has", in_words(root["figures"][i]["name"]));
        }
        out.figures.push_back(std::move(figure));
    }
    return out;
}

ComponentTable measure_components(const Components& components, const Machine& machine,
                                  const std::function<void(std::size_t done)>& progress) {
    ComponentTable table;
    table.machine = machine.name;
    table.tolerance_pct = components.median_tolerance_pct;
    const bool comparable = machine.name == components.machine;
    Runners runners(machine);
    std::vector<double> errors;
    for (const ComponentFigure& figure : components.figures) {
        ComponentRow row;
        row.figure = &figure;
        if (figure.bench != nullptr) {
            row.simulated = figure.bench->measure(runners.at(comparable ? figure.clock_mhz : 0), figure.arguments);
        }
        if (comparable && row.simulated && figure.published) {
            row.error_pct = 100 * (*row.simulated / *figure.published - 1);
            if (figure.basis == "measured") {
                errors.push_back(std::abs(*row.error_pct));
            }
        }
        table.rows.push_back(row);
        if (progress) {
            progress(table.rows.size());
        }
    }
    table.median_measured_error_pct = median(std::move(errors));
    return table;
}

nlohmann::ordered_json components_json(const ComponentTable& table) {
    nlohmann::ordered_json out;
    out["schema"] = "podsim.validate/1";
    out["machine"] = table.machine;
    out["rows"] = nlohmann::ordered_json::array();
    for (const ComponentRow& row : table.rows) {
        const ComponentFigure& figure = *row.figure;
        nlohmann::ordered_json one;
        one["group"] = figure.group;
        one["name"] = figure.name;
        one["published"] = figure.published ? nlohmann::ordered_json(*figure.published) : nlohmann::ordered_json();
        one["unit"] = figure.unit;
        one["simulated"] = or_null(row.simulated);
        one["error_pct"] = or_null(row.error_pct);
        one["basis"] = figure.basis;
        one["source"] = figure.source;
        one["range"] = figure.range ? nlohmann::ordered_json({figure.range->first, figure.range->second})
                                    : nlohmann::ordered_json();
        if (figure.clock_mhz != 0) {
            one["clock_mhz"] = figure.clock_mhz;
        }
        if (!figure.reason.empty()) {
            one["reason"] = figure.reason;
        }
        if (!figure.note.empty()) {
            one["note"] = figure.note;
        }
        out["rows"].push_back(std::move(one));
    }
    out["median_measured_error_pct"] = or_null(table.median_measured_error_pct);
    out["median_tolerance_pct"] = table.tolerance_pct;
    out["within_tolerance"] = table.within_tolerance();
    return out;
}

}  // namespace podsim
