// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Cast: elements from one type to another under a rounding mode.
#include "models/aicore/vector_ops.hpp"

namespace podsim {

/// As evaluate(), for VectorOp::cast.
void evaluate_cast(const VectorCall& call, std::span<const std::byte> src, std::span<std::byte> dst);

}  // namespace podsim
