// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Address translation of an AIV core: the pages it touched lately. A page that is not among them costs a walk.
///
/// Parameters  TranslationParams. Hypothesis: that there is a translation buffer is certain, its size and what a miss
///             costs are not published
/// Timing      nothing on a hit; on a miss the request, and those behind it on its channel, wait for the walk
/// Order       least recently used; the core's MTE2, MTE3, scalar unit and poll loops share it
#include "models/aicore/core_params.hpp"

#include <algorithm>
#include <vector>

namespace podsim {

class Translation {
public:
    explicit Translation(const TranslationParams& params) : params_(params) {}

    /// The wait of an access to `address`, which makes its page the latest.
    Picoseconds access(GmAddress address) {
        const std::uint64_t page = page_of(address);
        if (!pages_.empty() && pages_.front() == page) {
            return 0;
        }
        const Picoseconds walk = params_.walk.get();
        if (walk == 0) {
            return 0;
        }
        auto place = std::find(pages_.begin(), pages_.end(), page);
        const bool hit = place != pages_.end();
        if (!hit) {
            ++walks_;
            if (pages_.size() < params_.entries) {
                pages_.push_back(page);
            }
            place = pages_.end() - 1;
            *place = page;
        }
        std::rotate(pages_.begin(), place, place + 1);
        return hit ? 0 : walk;
    }
    std::uint64_t walks() const { return walks_; }

private:
    std::uint64_t page_of(GmAddress address) const {
        constexpr unsigned kOffsetBits = 40;
        return (static_cast<std::uint64_t>(index(address.card)) << kOffsetBits) + address.offset / params_.page_bytes;
    }

    const TranslationParams& params_;
    std::vector<std::uint64_t> pages_;  ///< latest first
    std::uint64_t walks_ = 0;
};

}  // namespace podsim
