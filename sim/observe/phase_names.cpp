// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/phase_names.hpp"

#include <algorithm>

namespace podsim {

std::uint32_t PhaseNames::number(std::string_view name) {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
        if (seen_[i] == name.data()) {
            return static_cast<std::uint32_t>(i);
        }
    }
    // The same name may be a literal of two translation units.
    const auto known = std::find(names_.begin(), names_.end(), name);
    if (known != names_.end()) {
        return static_cast<std::uint32_t>(known - names_.begin());
    }
    names_.emplace_back(name);
    seen_.push_back(name.data());
    return static_cast<std::uint32_t>(names_.size() - 1);
}

}  // namespace podsim
