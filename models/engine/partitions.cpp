// SPDX-License-Identifier: Apache-2.0
#include "models/engine/partitions.hpp"

#include "models/engine/error.hpp"

#include <algorithm>

namespace podsim {

void Partitions::set_lookahead(const Lookahead& lookahead) {
    check(size_ == 0 && queues_.size() == 1, "look-ahead is set before any unit or event");
    check(lookahead.cards_together > 0, "a partition has a card");
    lookahead_ = lookahead;
}

std::uint32_t Partitions::of_card(CardId card) {
    if (lookahead_.enter <= 0 || lookahead_.leave <= 0) {
        return kShared;
    }
    const std::uint32_t partition = 1 + index(card) / lookahead_.cards_together;
    if (partition >= queues_.size()) {
        queues_.resize(partition + 1);
        earliest_.resize(partition + 1, kNever);
    }
    return partition;
}

void Partitions::push(std::uint32_t partition, const Event& event) {
    ++size_;
    if (partition == at_work_ && event.at < limit_) {
        calendar_.push(event);
        return;
    }
    Queue& queue = queues_[partition];
    check(event.at >= queue.done, "what a partition causes in another one lies behind the look-ahead");
    queue.waiting.push_back(event);
    earliest_[partition] = std::min(earliest_[partition], event.at);
}

void Partitions::put_back(std::uint32_t partition) {
    while (calendar_.size() > 0) {
        --size_;
        push(partition, calendar_.pop());
    }
}

Picoseconds Partitions::earliest() const { return *std::min_element(earliest_.begin(), earliest_.end()); }

}  // namespace podsim
