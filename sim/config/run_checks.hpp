// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Steps of make_run_config, one rule set each. All throw UserError.
#include "sim/config/run_config.hpp"
#include "sim/config/run_document.hpp"

namespace podsim {

/// Finds the kernel, checks `/algorithm/options` against what it declares and fills in the rest, in the document too.
void resolve_algorithm(RunDocument& document, RunConfig& config);

/// What hardware's tiling would refuse, and what contradicts itself.
void check_workload(const RunDocument& document, const RunConfig& config);

/// Sizes the HCCL window and refuses a smaller given one.
void check_window(const RunDocument& document, RunConfig& config);

/// Fills config.notes and without_effect.
void collect_notes(RunConfig& config);

}  // namespace podsim
