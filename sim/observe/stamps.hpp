// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Clock stamps as the article prints them: a row per AIV core, ticks of the system counter at every phase
/// boundary and at the end.
#include "models/engine/observer.hpp"

#include <string>
#include <vector>

namespace podsim {

/// By card and core; ticks.
using StampRows = std::vector<std::vector<std::int64_t>>;

/// Stamps that cost nothing, of each core's latest call.
class StampRecorder final : public ObserverIf {
public:
    StampRecorder(std::uint32_t cards, std::uint32_t cores_per_card, std::uint64_t counter_mhz)
        : cores_per_card_(cores_per_card),
          mhz_(counter_mhz),
          rows_(static_cast<std::size_t>(cards) * cores_per_card),
          ended_(rows_.size(), false) {}

    Interest interest() const override { return {false, false, false}; }
    void phase_entered(CoreRef core, std::string_view phase, bool /*step*/, Picoseconds at) override;
    const StampRows& rows() const { return rows_; }

private:
    std::size_t cores_per_card_;
    std::uint64_t mhz_;
    StampRows rows_;
    std::vector<bool> ended_;
};

/// Tab-separated, all rows as wide as the widest: zeros at the end stand for no stamp. No header, to be pasted.
std::string stamps_text(const StampRows& rows);

}  // namespace podsim
