// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Whether a kernel's buffers fit into the Unified Buffer, told by `check` and by `run` before it starts: what is too
/// large is the user's mistake, not the kernel's.

namespace podsim {

struct RunConfig;
class RoutingTable;

/// Throws UserError with what is needed, what there is, and what would make it fit. Does nothing for a kernel that
/// does not say what it needs.
void check_footprint(const RunConfig& config, const RoutingTable& table);

}  // namespace podsim
