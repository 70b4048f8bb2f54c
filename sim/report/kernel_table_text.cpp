// SPDX-License-Identifier: Apache-2.0
#include "sim/report/kernel_table.hpp"

#include <fmt/format.h>

#include <cmath>

namespace podsim {

namespace {

using nlohmann::ordered_json;

double rounded(double value) { return std::round(value * 1000) / 1000; }

ordered_json or_null(const std::optional<double>& value) {
    return value ? ordered_json(rounded(*value)) : ordered_json();
}

std::string tolerance_of(const KernelRow& row) {
    const auto& tolerance = row.figure->tolerance_us;
    if (!tolerance) {
        return "";
    }
    return fmt::format("{:.1f} .. {:.1f}{}", tolerance->first, tolerance->second, row.within() ? "" : "  MISS");
}

std::string seeds_of(const KernelRow& row) {
    return row.least_us == row.most_us ? "" : fmt::format("{:.1f} .. {:.1f}", row.least_us, row.most_us);
}

}  // namespace

ordered_json kernels_json(const KernelTable& table) {
    ordered_json out;
    out["schema"] = "podsim.validate_kernels/1";
    out["machine"] = table.machine;
    out["rows"] = ordered_json::array();
    for (const KernelRow& row : table.rows) {
        const KernelFigure& figure = *row.figure;
        ordered_json one;
        one["name"] = figure.name;
        one["published_us"] = figure.published_us;
        one["simulated_us"] = rounded(row.simulated_us);
        one["error_pct"] = table.comparable ? ordered_json(rounded(row.error_pct())) : ordered_json();
        one["role"] = figure.role;
        one["basis"] = figure.basis;
        one["band_us"] =
            row.band_us
                ? ordered_json({rounded((*row.band_us)[0]), rounded((*row.band_us)[1]), rounded((*row.band_us)[2])})
                : ordered_json();
        one["seeds_us"] = {rounded(row.least_us), rounded(row.most_us)};
        one["tolerance_us"] =
            figure.tolerance_us
                ? ordered_json({rounded(figure.tolerance_us->first), rounded(figure.tolerance_us->second)})
                : ordered_json();
        one["within_tolerance"] = figure.tolerance_us && table.comparable ? ordered_json(row.within()) : ordered_json();
        one["variants_us"] = ordered_json::object();
        for (const auto& [number, value] : row.variants) {
            one["variants_us"][table.figures->variants[number].name] = rounded(value);
        }
        if (!figure.note.empty()) {
            one["note"] = figure.note;
        }
        out["rows"].push_back(std::move(one));
    }
    out["variants"] = ordered_json::array();
    for (const KernelVariant& variant : table.figures->variants) {
        out["variants"].push_back({{"name", variant.name}, {"note", variant.note}, {"set", variant.set}});
    }
    out["samples"] = table.samples;
    out["samples_failed"] = table.samples_failed;
    out["worst_predicted_pct"] = or_null(table.worst_predicted_pct);
    out["within_tolerance"] = table.comparable ? ordered_json(table.within_tolerance()) : ordered_json();
    return out;
}

std::string kernels_text(const KernelTable& table) {
    constexpr const char* kRow = "  {:<48} {:>9} {:>9} {:>8} {:<9} {:<22} {:<15} {:<21} {}\n";
    std::string out = fmt::format("whole kernels on {}, µs\n\n", table.machine);
    out += fmt::format(kRow, "", "published", "simulated", "error %", "role", "tolerance", "over seeds",
                       "p10 .. p50 .. p90", "basis");
    for (const KernelRow& row : table.rows) {
        const KernelFigure& figure = *row.figure;
        out += fmt::format(
            kRow, figure.name, fmt::format("{:g}", figure.published_us), fmt::format("{:.3g}", row.simulated_us),
            table.comparable ? fmt::format("{:+.1f}", row.error_pct()) : "", figure.role,
            table.comparable ? tolerance_of(row) : "", seeds_of(row),
            row.band_us
                ? fmt::format("{:.1f} .. {:.1f} .. {:.1f}", (*row.band_us)[0], (*row.band_us)[1], (*row.band_us)[2])
                : "",
            figure.basis);
    }
    for (const KernelRow& row : table.rows) {
        if (!row.figure->note.empty()) {
            out += fmt::format("  {}: {}\n", row.figure->name, row.figure->note);
        }
    }
    if (!table.rows.empty() && !table.rows.front().variants.empty()) {
        out += "\n  with something else assumed, first seed\n";
        for (const auto& [number, unused] : table.rows.front().variants) {
            const KernelVariant& variant = table.figures->variants[number];
            out += fmt::format("    {}{}\n", variant.name, variant.note.empty() ? "" : ": " + variant.note);
            for (const KernelRow& row : table.rows) {
                const double value = row.variants.at(number);
                out += fmt::format("      {:<46} {:>8.3g}  ({:.3g} as above)\n", row.figure->name, value,
                                   row.first_seed_us.value_or(0));
            }
        }
    }
    if (table.samples_failed > 0) {
        out += fmt::format("\n  {} of {} drawn machines could not be run\n", table.samples_failed, table.samples);
    }
    if (!table.comparable) {
        out += "\n  nothing to compare: the published figures are of another machine\n";
    } else if (table.worst_predicted_pct) {
        out += fmt::format("\n  worst prediction: {:+.1f} %\n", *table.worst_predicted_pct);
    }
    return out;
}

}  // namespace podsim
