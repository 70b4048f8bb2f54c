// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Units of machine parameters: what may be written, and its size in the unit the models use.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podsim {

/// What a parameter measures. Units convert freely inside a dimension, never across.
enum class Dimension {
    count,            ///< held as a number
    bytes,            ///< held as bytes
    bytes_per_cycle,  ///< held as bytes per core cycle
    time,             ///< held as picoseconds
    cycles,           ///< held as thousandths of a core cycle
    rate,             ///< held as bytes per microsecond (= MB/s)
    frequency,        ///< held as MHz
    flag,             ///< true or false, unit "bool"
    choice,           ///< one of named values, unit "enum"
};

/// Size of `unit` in the held unit of `dimension`; nothing when the unit does not measure it.
std::optional<double> unit_size(Dimension dimension, std::string_view unit);

/// All spellings of the units of a dimension.
std::vector<std::string> units_of(Dimension dimension);

/// Whether the held value must come out whole (a count, bytes, MHz) instead of being rounded (time, cycles, rate).
bool must_be_whole(Dimension dimension);

/// A number with a unit as people write it on a command line: "56GB/s", "1.2 us".
struct Quantity {
    double value;
    std::string unit;
};
std::optional<Quantity> parse_quantity(std::string_view text);

}  // namespace podsim
