// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The one list of machine parameters: where each stands in a machine file, what it measures, and which member of
/// Machine it sets. Vector instructions (`/vector/instructions/<name>/{head,slope,tail}`) and topology edits come
/// beside it, since their number is the file's.
#include "models/pod/machine.hpp"
#include "sim/config/quantity.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace podsim {

/// Access to a parameter by its type. Picoseconds and MilliCycles are both int64.
using ParamAccess = std::variant<Param<std::uint32_t>& (*)(Machine&), Param<std::uint64_t>& (*)(Machine&),
                                 Param<std::int64_t>& (*)(Machine&), Param<bool>& (*)(Machine&),
                                 Param<PathChoice>& (*)(Machine&), Param<Mte3Event>& (*)(Machine&)>;

struct ParamRow {
    std::string_view pointer;
    Dimension dimension;
    double least;  ///< smallest sensible value, held unit
    double most;   ///< largest, held unit
    ParamAccess access;
};

std::span<const ParamRow> machine_parameters();

}  // namespace podsim
