// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/event_flags.hpp"

#include "models/engine/error.hpp"

#include <algorithm>

namespace podsim {

EventFlags::Slot& EventFlags::slot(const FlagCall& flag) {
    auto& pair = pairs_[static_cast<std::size_t>(flag.from) * kPipes + static_cast<std::size_t>(flag.to)];
    if (!pair) {
        pair = std::make_unique<PairSlots>();
    }
    check(flag.id < kIds, "event id within the table");
    return (*pair)[flag.id];
}

bool EventFlags::set(const FlagCall& flag, Picoseconds at) {
    Slot& s = slot(flag);
    if (s.known == s.at.size()) {
        return false;
    }
    s.at[s.known++] = at;
    return true;
}

std::optional<Picoseconds> EventFlags::take(const FlagCall& flag, Picoseconds earliest, bool& lost) {
    Slot& s = slot(flag);
    if (s.known == 0) {
        return std::nullopt;
    }
    const Picoseconds at = std::max(earliest, s.at[0]);
    lost = s.known == 2 && s.at[1] < at;
    s.at[0] = s.at[1];
    --s.known;
    return at;
}

}  // namespace podsim
