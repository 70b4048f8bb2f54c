// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Event flags between pipes (SetFlag / WaitFlag): one bit per (from, to, id).
/// Pipes work out their own future, so a flag is known with the time at which it fires, and several sets may be
/// known before the wait that consumes the first of them.
#include "models/aicore/instruction.hpp"

#include <boost/container/small_vector.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace podsim {

class EventFlags {
public:
    /// The flag fires at `at`. False when by `now` two sets fired that nobody has waited for: one of them is lost.
    bool set(const FlagCall& flag, Picoseconds at, Picoseconds now);
    /// Consumes the flag if its time is known; `earliest` is when the waiting pipe gets there.
    /// Sets `lost` when a second set came before the wait: on hardware one of the two is lost.
    std::optional<Picoseconds> take(const FlagCall& flag, Picoseconds earliest, bool& lost);

private:
    using Sets = boost::container::small_vector<Picoseconds, 3>;  ///< not yet consumed, oldest first; rarely two
    Sets& sets(const FlagCall& flag);

    std::array<std::vector<Sets>, kPipes * kPipes> pairs_;  ///< by event id, as far as used
};

}  // namespace podsim
