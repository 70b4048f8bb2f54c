// SPDX-License-Identifier: Apache-2.0
#include "sim/config/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace podsim {

namespace {

struct UnitRow {
    Dimension dimension;
    std::string_view name;
    double size;
};

constexpr std::array kUnits{
    UnitRow{Dimension::count, "count", 1},
    UnitRow{Dimension::bytes, "B", 1},
    UnitRow{Dimension::bytes, "bytes", 1},
    UnitRow{Dimension::bytes, "KB", 1e3},
    UnitRow{Dimension::bytes, "KiB", 1024},
    UnitRow{Dimension::bytes, "MB", 1e6},
    UnitRow{Dimension::bytes, "MiB", 1048576},
    UnitRow{Dimension::bytes, "GB", 1e9},
    UnitRow{Dimension::bytes, "GiB", 1073741824},
    UnitRow{Dimension::bytes_per_cycle, "B/cycle", 1},
    UnitRow{Dimension::time, "ps", 1},
    UnitRow{Dimension::time, "ns", 1e3},
    UnitRow{Dimension::time, "us", 1e6},
    UnitRow{Dimension::time, "µs", 1e6},
    UnitRow{Dimension::time, "ms", 1e9},
    UnitRow{Dimension::cycles, "cycles", 1000},
    UnitRow{Dimension::rate, "MB/s", 1},
    UnitRow{Dimension::rate, "GB/s", 1e3},
    UnitRow{Dimension::rate, "TB/s", 1e6},
    UnitRow{Dimension::rate, "Gbps", 125},
    UnitRow{Dimension::rate, "GiB/s", 1073.741824},
    UnitRow{Dimension::frequency, "MHz", 1},
    UnitRow{Dimension::frequency, "GHz", 1e3},
    UnitRow{Dimension::flag, "bool", 1},
    UnitRow{Dimension::choice, "enum", 1},
};

}  // namespace

std::optional<double> unit_size(Dimension dimension, std::string_view unit) {
    for (const UnitRow& row : kUnits) {
        if (row.dimension == dimension && row.name == unit) {
            return row.size;
        }
    }
    return std::nullopt;
}

std::vector<std::string> units_of(Dimension dimension) {
    std::vector<std::string> names;
    for (const UnitRow& row : kUnits) {
        if (row.dimension == dimension) {
            names.emplace_back(row.name);
        }
    }
    return names;
}

bool must_be_whole(Dimension dimension) {
    return dimension == Dimension::count || dimension == Dimension::bytes || dimension == Dimension::bytes_per_cycle ||
           dimension == Dimension::frequency;
}

std::optional<Quantity> parse_quantity(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || !std::isfinite(value)) {
        return std::nullopt;
    }
    std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    while (unit.starts_with(' ')) {
        unit.remove_prefix(1);
    }
    return Quantity{value, std::string(unit)};
}

}  // namespace podsim
