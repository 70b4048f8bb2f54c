// SPDX-License-Identifier: Apache-2.0
#pragma once
/// "Did you mean …": the valid name closest to what was written.
#include <string>
#include <string_view>
#include <vector>

namespace podsim {

/// The closest of `valid` by edit distance (case ignored, a swap of neighbours is one edit); "" when none is close.
std::string nearest_name(std::string_view written, const std::vector<std::string>& valid);

/// `nearest valid name: x` or, when none is close, `valid: a, b, c`; "" when there are no valid names.
std::string name_hint(std::string_view written, const std::vector<std::string>& valid);

}  // namespace podsim
