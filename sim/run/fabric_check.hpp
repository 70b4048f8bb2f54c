// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the machine's edits leave of the fabric, told by `check` and by `run` before it starts.
/// Both throw UserError.

namespace podsim {

struct FabricParams;
class Network;
struct RunConfig;

/// Builds the fabric of the run: edits that name nothing, cards without a way, rates out of range.
void check_fabric(const RunConfig& config);

/// Edits of one link multiply; what comes of it is looked at here, where the links are.
void check_link_rates(const FabricParams& fabric, const Network& network);

}  // namespace podsim
