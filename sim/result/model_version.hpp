// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace podsim {

/// Raised when a change of models, kernels or phase boundaries moves results, with a line in CHANGELOG.md. What a
/// machine file moves is told by the config in the result.
inline constexpr int kModelVersion = 4;

}  // namespace podsim
