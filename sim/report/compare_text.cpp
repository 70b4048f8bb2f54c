// SPDX-License-Identifier: Apache-2.0
#include "sim/report/compare.hpp"

#include <fmt/format.h>

namespace podsim {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostDifferences = 20;
constexpr const char* kRow = "  {:<24} {:>14} {:>14} {:>14} {:>9}\n";

std::string figure(const Json& value) {
    return value.is_null()             ? "-"
           : value.is_number_integer() ? value.dump()
                                       : fmt::format("{:.3f}", value.get<double>());
}

std::string signed_figure(const Json& value) {
    return value.is_null()             ? "-"
           : value.is_number_integer() ? fmt::format("{:+}", value.get<std::int64_t>())
                                       : fmt::format("{:+.3f}", value.get<double>());
}

std::string line(const std::string& name, const Json& r, const std::string& unit) {
    const Json& change = r["change_pct"];
    return fmt::format(kRow, name, figure(r["a" + unit]), figure(r["b" + unit]), signed_figure(r["difference" + unit]),
                       change.is_null() ? "" : fmt::format("{:+.1f} %", change.get<double>()));
}

std::string heading(const char* title, const char* unit) {
    return "\n" + fmt::format(kRow, title, fmt::format("A{}", unit), fmt::format("B{}", unit),
                              fmt::format("B - A{}", unit), "");
}

std::string phase_lines(const Json& c) {
    std::string out = heading("phase, mean of a core", " [us]");
    for (const Json& group : c["phases"]) {
        const auto name = group["name"].get<std::string>();
        out += line(name, group, "_us");
        for (const Json& part : c["subphases"]) {
            const auto full = part["name"].get<std::string>();
            if (full.starts_with(name + ".")) {
                out += line("  " + full.substr(name.size() + 1), part, "_us");
            }
        }
    }
    return out;
}

/// The unit a row of mixed rows carries in its keys.
std::string unit_of(const Json& r) {
    for (const char* unit : {"_us", "_pct", "_bytes"}) {
        if (r.contains(std::string("a") + unit)) {
            return unit;
        }
    }
    return "";
}

std::string mixed_lines(const char* title, const Json& rows) {
    std::string out = heading(title, "");
    for (const Json& r : rows) {
        const std::string unit = unit_of(r);
        const std::string shown = unit == "_pct" ? " [%]" : unit == "_bytes" ? " [B]" : unit == "_us" ? " [us]" : "";
        out += line(r["name"].get<std::string>() + shown, r, unit);
    }
    return out;
}

std::string balance_lines(const Json& balance) {
    std::string out = "\n  work of a core (all but the group flags) [us]\n";
    for (const char* side : {"a", "b"}) {
        const Json& s = balance[side];
        const char* name = side[0] == 'a' ? "A" : "B";
        if (s.is_null()) {
            out += fmt::format("  {}  unknown: no cores.csv beside the result\n", name);
            continue;
        }
        out +=
            fmt::format("  {}  {:.3f} .. {:.3f}, mean {:.3f}, most/mean {}; busiest: card {} core {}\n", name,
                        s["min_us"].get<double>(), s["max_us"].get<double>(), s["mean_us"].get<double>(),
                        figure(s["max_over_mean"]), s["busiest"]["card"].get<int>(), s["busiest"]["core"].get<int>());
    }
    return out;
}

}  // namespace

std::string compare_text(const Json& c) {
    std::string out;
    for (const char* side : {"a", "b"}) {
        const Json& s = c[side];
        out += fmt::format("{}  {} on {} cards, batch {}: {}\n", side[0] == 'a' ? "A" : "B",
                           s["algorithm"].get<std::string>(), s["cards"].get<int>(), s["batch_size"].get<int>(),
                           s["source"].get<std::string>());
    }
    if (!c["same_workload"].get<bool>()) {
        out += "  the workloads differ: figures say little about anything else\n";
    }
    if (c["a"]["model_version"] != c["b"]["model_version"] || c["a"]["version"] != c["b"]["version"]) {
        out += "  made by different versions of podsim\n";
    }
    std::size_t shown = 0;
    for (const Json& d : c["config_differences"]) {
        if (++shown > kMostDifferences) {
            out += fmt::format("  … {} more differences (--json)\n", c["config_differences"].size() - kMostDifferences);
            break;
        }
        out += fmt::format("  {}: {} -> {}\n", d["pointer"].get<std::string>(), d["a"].dump(), d["b"].dump());
    }
    out += heading("total", " [us]");
    for (const Json& r : c["totals"]) {
        out += line(r["name"].get<std::string>(), r, "_us");
    }
    out += fmt::format("  A / B                    {:>14.3f}\n", c["speedup"].get<double>());
    out += phase_lines(c);
    out += heading("spread of a phase's end", " [us]");
    for (const Json& r : c["end_spread"]) {
        out += line(r["name"].get<std::string>(), r, "_us");
    }
    out += mixed_lines("overlap", c["overlap"]);
    out += mixed_lines("synchronisation", c["sync"]);
    out += balance_lines(c["load_balance"]);
    return out;
}

}  // namespace podsim
