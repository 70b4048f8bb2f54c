// SPDX-License-Identifier: Apache-2.0
#include "models/sync/sync_unit.hpp"

#include "models/engine/error.hpp"

#include <utility>

namespace podsim {

void SyncUnit::set_participants(std::uint32_t cores) {
    check(waiting_.empty(), "participants change while no core waits");
    participants_ = cores;
}

void SyncUnit::arrive(SyncClientIf& client, Picoseconds now) {
    waiting_.push_back(&client);
    check(waiting_.size() <= participants_, "no more cores arrive at SyncAll than take part");
    if (waiting_.size() < participants_) {
        return;
    }
    const Picoseconds at = now + params_.sync_all_base + params_.sync_all_per_core * participants_;
    ++completed_;
    for (SyncClientIf* waiting : std::exchange(waiting_, {})) {
        waiting->released(at);
    }
}

}  // namespace podsim
