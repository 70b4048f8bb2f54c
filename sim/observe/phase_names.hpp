// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Phases by number, for listeners that keep one per stretch of a core's time.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace podsim {

/// Phase names seen so far, "group.part", numbered in order of appearance.
class PhaseNames {
public:
    std::uint32_t number(std::string_view name);
    const std::vector<std::string>& all() const { return names_; }

private:
    std::vector<std::string> names_;
    std::vector<const char*> seen_;  // literals are recognised by address
};

}  // namespace podsim
