// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The calendar, worked through card by card instead of instant by instant.
///
/// 13,824 cores do not fit a cache, the cores of one card do. Cards touch each other only through the fabric, and
/// the fabric takes its time: so a card may go on for a while before the others, and no result can tell. Within a
/// partition events keep the engine's order. This is conservative look-ahead as in parallel simulation.
///
/// A round from S on: the shared partition (fabric) up to S + enter, then every card up to S + enter + leave.
/// Nothing a card does before S + enter + leave reaches the fabric before S + enter, nothing the fabric does from then
/// on reaches a card before the round's end.
#include "models/engine/calendar.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace podsim {

/// The least time from a card's event to what it causes in the fabric, and from there to a card's.
struct Lookahead {
    Picoseconds enter = 0;
    Picoseconds leave = 0;
    std::uint32_t cards_together = 1;  ///< so many neighbours share a partition: the dies of a package
};

class Partitions {
public:
    static constexpr std::uint32_t kShared = 0;

    /// Without a look-ahead everything is one partition, in order of time. Before the first event.
    void set_lookahead(const Lookahead& lookahead);
    /// Partition of a card's units; makes it when new.
    std::uint32_t of_card(CardId card);

    /// `event.at` must not lie before what its partition has done already.
    void push(std::uint32_t partition, const Event& event);
    /// Handles all events before `limit`. When `handle(event)` returns false, the other cards still get to that event's
    /// time, where one of them may end the run in turn, and that is all. `prefetch(event)` hears of events before.
    template <class Handle, class Prefetch>
    void work_until(Picoseconds limit, Handle&& handle, Prefetch&& prefetch);

    /// Time of the earliest event, kNever when there is none. Not while events are handled.
    Picoseconds earliest() const;
    std::size_t size() const { return size_; }

private:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    /// A partition's events that are not due yet; unsorted, because they are few: some per core.
    struct Queue {
        std::vector<Event> waiting;
        Picoseconds done = 0;  ///< all events before have been handled
    };

    /// Returns `limit`, or the earlier time at which `handle` ended it.
    template <class Handle, class Prefetch>
    Picoseconds work_on(std::uint32_t partition, Picoseconds limit, Handle&& handle, Prefetch&& prefetch);

    void put_back(std::uint32_t partition);

    Lookahead lookahead_;
    std::vector<Queue> queues_{1};
    std::vector<Picoseconds> earliest_{kNever};  ///< per partition, of those waiting
    Calendar calendar_;                          ///< events of the partition at work, before its limit
    std::uint32_t at_work_ = kNone;
    Picoseconds limit_ = 0;
    std::size_t size_ = 0;
};

template <class Handle, class Prefetch>
Picoseconds Partitions::work_on(std::uint32_t partition, Picoseconds limit, Handle&& handle, Prefetch&& prefetch) {
    Queue& queue = queues_[partition];
    if (limit <= queue.done) {
        return limit;
    }
    if (earliest_[partition] < limit) {
        calendar_.restart(queue.done);
        std::size_t kept = 0;
        Picoseconds next = kNever;
        for (const Event& event : queue.waiting) {
            if (event.at < limit) {
                prefetch(event);
                calendar_.push(event);
            } else {
                next = std::min(next, event.at);
                queue.waiting[kept++] = event;
            }
        }
        queue.waiting.resize(kept);
        earliest_[partition] = next;
        at_work_ = partition;
        limit_ = limit;
        while (calendar_.size() > 0) {
            --size_;
            const Event event = calendar_.pop();
            if (!handle(event)) {
                at_work_ = kNone;
                put_back(partition);
                return event.at;
            }
        }
        at_work_ = kNone;
    }
    queues_[partition].done = limit;
    return limit;
}

template <class Handle, class Prefetch>
void Partitions::work_until(Picoseconds limit, Handle&& handle, Prefetch&& prefetch) {
    const auto cards = static_cast<std::uint32_t>(queues_.size());
    while (earliest() < limit) {
        Picoseconds end = limit;
        if (cards > 1) {
            const Picoseconds in_fabric = earliest_[kShared];
            Picoseconds start = in_fabric < kNever ? in_fabric + lookahead_.leave : kNever;
            start = std::min(start, *std::min_element(earliest_.begin() + 1, earliest_.end()));
            end = std::min(limit, start + lookahead_.enter + lookahead_.leave);
            const Picoseconds ahead = std::min(limit, start + lookahead_.enter);
            if (work_on(kShared, ahead, handle, prefetch) < ahead) {
                return;
            }
        }
        Picoseconds reached = end;
        for (std::uint32_t p = 1; p < cards; ++p) {
            reached = work_on(p, reached, handle, prefetch);
        }
        // At the limit all stand still together.
        if (reached < end || (end == limit && work_on(kShared, limit, handle, prefetch) < limit)) {
            return;
        }
    }
}

}  // namespace podsim
