// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The Dispatch kernel: one body for all options; presets are sets of option values (presets.cpp).
/// Step by step with phases: docs/kernels.md.
#include "algorithms/dispatch/dispatch_args.hpp"
#include "algorithms/kernel_api/aiv.hpp"

namespace podsim {

Task<void> dispatch_kernel(Aiv& aiv, const DispatchArgs& args);

}  // namespace podsim
