// SPDX-License-Identifier: Apache-2.0
#include "sim/report/components.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace podsim {

namespace {

constexpr const char* kRow = "  {:<56} {:>9} {:>9} {:<14} {:>8}  {:<12} {}\n";

std::string figure(const std::optional<double>& value) {
    if (!value) {
        return "-";
    }
    return *value < 100 ? fmt::format("{:.4g}", *value) : fmt::format("{:.0f}", *value);
}

std::string range_of(const ComponentFigure& f) {
    return f.range ? fmt::format(" [{:g} .. {:g}]", f.range->first, f.range->second) : "";
}

std::string clock_of(const ComponentFigure& f) {
    return f.clock_mhz == 0 ? "" : fmt::format(", both at {} MHz", f.clock_mhz);
}

std::string measured_lines(const ComponentTable& table) {
    std::string out;
    std::string group;
    for (const ComponentRow& row : table.rows) {
        const ComponentFigure& f = *row.figure;
        if (f.bench == nullptr) {
            continue;
        }
        if (f.group != group) {
            group = f.group;
            out += "\n" + fmt::format(kRow, group, "published", "simulated", "unit", "error %", "basis", "source");
        }
        const std::string error = row.error_pct    ? fmt::format("{:+.1f}", *row.error_pct)
                                  : !row.simulated ? "too small"
                                                   : "";
        out += fmt::format(kRow, "  " + f.name, figure(f.published), figure(row.simulated), f.unit, error, f.basis,
                           "§" + f.source + range_of(f) + clock_of(f));
    }
    return out;
}

std::string listed_lines(const ComponentTable& table) {
    std::string out = "\n  not measured\n";
    for (const ComponentRow& row : table.rows) {
        const ComponentFigure& f = *row.figure;
        if (f.bench == nullptr) {
            const std::string value = f.published ? fmt::format(" {:g} {}", *f.published, f.unit) : "";
            out += fmt::format("    {}:{}{} (§{}): {}\n", f.name, value, range_of(f), f.source, f.reason);
        }
    }
    return out;
}

}  // namespace

std::string components_text(const ComponentTable& table) {
    const auto measured = [](const ComponentRow& row) { return row.figure->bench != nullptr; };
    const auto count = std::count_if(table.rows.begin(), table.rows.end(), measured);
    std::string out = fmt::format("components of {}: {} figures measured, {} listed with a reason\n", table.machine,
                                  count, table.rows.size() - static_cast<std::size_t>(count));
    out += measured_lines(table);
    out += listed_lines(table);
    if (table.median_measured_error_pct) {
        out += fmt::format("\n  median error of what was measured: {:.1f} % (tolerance {:g} %)\n",
                           *table.median_measured_error_pct, table.tolerance_pct);
    } else {
        out += "\n  nothing to compare: the published figures are of another machine\n";
    }
    return out;
}

}  // namespace podsim
