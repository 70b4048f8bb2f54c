// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Event flags between pipes (SetFlag / WaitFlag): one bit per (from, to, id).
/// Pipes work out their own future, so a flag is known with the time at which it fires.
#include "models/aicore/instruction.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

namespace podsim {

class EventFlags {
public:
    /// The flag fires at `at`. False when two sets are already waiting to be consumed.
    bool set(const FlagCall& flag, Picoseconds at);
    /// Consumes the flag if its time is known; `earliest` is when the waiting pipe gets there.
    /// Sets `lost` when a second set came before the wait: on hardware one of the two is lost.
    std::optional<Picoseconds> take(const FlagCall& flag, Picoseconds earliest, bool& lost);

private:
    static constexpr std::size_t kIds = 16;
    struct Slot {
        std::array<Picoseconds, 2> at{};
        std::uint8_t known = 0;
    };
    using PairSlots = std::array<Slot, kIds>;
    Slot& slot(const FlagCall& flag);

    std::array<std::unique_ptr<PairSlots>, kPipes * kPipes> pairs_;
};

}  // namespace podsim
