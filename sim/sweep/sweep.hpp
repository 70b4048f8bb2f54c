// SPDX-License-Identifier: Apache-2.0
#pragma once
/// `podsim sweep`: the points of a sweep file, each a process of this program, into one table.
#include <cstddef>
#include <filesystem>
#include <iosfwd>

namespace podsim {

struct SweepRequest {
    std::filesystem::path file;
    std::filesystem::path out_dir;  ///< exists and can be written to
    std::size_t jobs = 0;           ///< processes at a time; 0 = one a core of the host
    bool resume = false;            ///< keep points that are complete and whose config is the same
};

/// Writes DIR/results.csv and DIR/points/NNNN/. A point that fails is a row. Returns 0, or the signal that stopped the
/// sweep, whose folder can then be resumed. Throws UserError, IoError for the sweep as a whole.
int run_sweep(const SweepRequest& request, std::ostream& out, std::ostream& err);

}  // namespace podsim
