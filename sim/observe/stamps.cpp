// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/stamps.hpp"

#include <algorithm>

namespace podsim {

void StampRecorder::phase_entered(CoreRef core, std::string_view phase, bool step, Picoseconds at) {
    if (!step) {
        return;
    }
    const std::size_t place = index(core.card) * cores_per_card_ + index(core.core);
    if (ended_[place]) {
        rows_[place].clear();
    }
    ended_[place] = phase.empty();
    rows_[place].push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(at) * mhz_ / 1'000'000));
}

std::string stamps_text(const StampRows& rows) {
    std::size_t width = 0;
    for (const auto& row : rows) {
        width = std::max(width, row.size());
    }
    std::string text;
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < width; ++i) {
            text += i > 0 ? "\t" : "";
            text += i < row.size() ? std::to_string(row[i]) : "0";
        }
        text += '\n';
    }
    return text;
}

}  // namespace podsim
