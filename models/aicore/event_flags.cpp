// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/event_flags.hpp"

#include <algorithm>

namespace podsim {

EventFlags::Sets& EventFlags::sets(const FlagCall& flag) {
    auto& ids = pairs_[static_cast<std::size_t>(flag.from) * kPipes + static_cast<std::size_t>(flag.to)];
    if (flag.id >= ids.size()) {
        ids.resize(flag.id + std::size_t{1});
    }
    return ids[flag.id];
}

bool EventFlags::set(const FlagCall& flag, Picoseconds at, Picoseconds now) {
    Sets& s = sets(flag);
    // A wait is worked out no later than its time, so one still to come will come after `now`.
    const bool lost = s.size() >= 2 && s[1] < now;
    s.push_back(at);
    return !lost;
}

std::optional<Picoseconds> EventFlags::take(const FlagCall& flag, Picoseconds earliest, bool& lost) {
    Sets& s = sets(flag);
    if (s.empty()) {
        return std::nullopt;
    }
    const Picoseconds at = std::max(earliest, s.front());
    s.erase(s.begin());
    lost = !s.empty() && s.front() < at;
    return at;
}

}  // namespace podsim
