// SPDX-License-Identifier: Apache-2.0
#pragma once
/// `podsim run`: simulates one config and reports.
#include "sim/cli/cli.hpp"

namespace podsim {

/// Leaves the simulated machine in memory: the program is about to end.
ExitCode run_command(const RunRequest& request, std::ostream& out, std::ostream& err);

}  // namespace podsim
