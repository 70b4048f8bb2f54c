// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The header of a .npy file; internal to algorithms/routing.
///
/// Read here rather than by xtensor's xnpy (0.24), which refuses version 3 and swapped keys, knows no byte order
/// but its own and takes a cut-off file for a whole one.
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podsim {

struct NpyHeader {
    std::string type;  ///< numpy's descr, as "<i4"; "" where it is not a plain string (structured types)
    bool fortran_order = false;
    std::vector<std::uint64_t> shape;
};

/// Reads magic, version (1, 2 or 3) and header; the stream stands at the data afterwards. On failure returns
/// nothing and says in `problem` what was found.
std::optional<NpyHeader> read_npy_header(std::istream& stream, std::string& problem);

/// The dictionary alone, keys in any order. Nothing when it is not one that numpy writes.
std::optional<NpyHeader> parse_npy_dictionary(std::string_view text);

}  // namespace podsim
