// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What `podsim check` tells about a config before it is run.
#include <iosfwd>

namespace podsim {

struct RunConfig;

/// Blocks of 512 B one token copy takes on the wire, flags included.
/// RowLayout decides for plain rows; a layout with flags in its blocks (/algorithm/options/block_layout) is counted
/// here until its kernel publishes a layout of its own.
unsigned expected_blocks_per_row(const RunConfig& config);

/// Reads or generates the routing, so that a bad trace is found here too. Throws UserError, IoError.
void print_check(const RunConfig& config, bool as_json, std::ostream& out);

}  // namespace podsim
