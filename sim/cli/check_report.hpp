// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What `podsim check` tells about a config before it is run.
#include <iosfwd>

namespace podsim {

struct RunConfig;

/// Blocks of 512 B that one row takes on the wire. A kernel with another layout than RowLayout's needs a case here.
unsigned expected_blocks_per_row(const RunConfig& config);

/// Builds the fabric and reads or generates the routing, so that what is wrong with them is found here too.
/// Throws UserError, IoError.
void print_check(const RunConfig& config, bool as_json, std::ostream& out);

}  // namespace podsim
