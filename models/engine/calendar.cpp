// SPDX-License-Identifier: Apache-2.0
#include "models/engine/calendar.hpp"

#include "models/engine/error.hpp"

#include <algorithm>
#include <bit>

namespace podsim {

namespace {
bool after(const Event& a, const Event& b) { return before(b, a); }  // heap with the earliest on top
}  // namespace

Calendar::Calendar() : ring_(kSlots), occupied_(kSlots / 64, 0) {}

void Calendar::restart(Picoseconds at) {
    check(size_ == 0, "a calendar starts over empty");
    now_.clear();
    head_ = 0;
    cursor_ = origin_ = slot_of(at);
}

void Calendar::push(const Event& event) {
    ++size_;
    const std::int64_t slot = slot_of(event.at);
    if (slot <= cursor_) {
        insert_now(event);
    } else if (slot < cursor_ + kSlots) {
        insert_ring(event, slot);
    } else {
        later_.push_back(event);
        std::push_heap(later_.begin(), later_.end(), after);
    }
}

void Calendar::insert_now(const Event& event) {
    const auto begin = now_.begin() + static_cast<std::ptrdiff_t>(head_);
    now_.insert(std::upper_bound(begin, now_.end(), event, before), event);
}

void Calendar::insert_ring(const Event& event, std::int64_t slot) {
    const std::size_t place = place_of(slot);
    if (ring_[place].capacity() == 0 && !spare_.empty()) {
        ring_[place].swap(spare_.back());
        spare_.pop_back();
    }
    ring_[place].push_back(event);
    occupied_[place / 64] |= std::uint64_t{1} << (place % 64);
    ++in_ring_;
}

std::int64_t Calendar::next_ring_slot() const {
    const std::size_t start = place_of(cursor_ + 1);
    const std::size_t words = occupied_.size();
    std::size_t word = start / 64;
    std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} << (start % 64));
    for (std::size_t i = 0; i <= words; ++i) {
        if (bits != 0) {
            const std::size_t place = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
            const auto ahead = static_cast<std::int64_t>((place - start) & static_cast<std::size_t>(kMask));
            return cursor_ + 1 + ahead;
        }
        word = (word + 1) % words;
        bits = occupied_[word];
    }
    throw InternalError("calendar: the ring counts events it does not hold");
}

bool Calendar::advance() {
    now_.clear();
    head_ = 0;
    if (size_ == 0) {
        return false;
    }
    std::int64_t next = in_ring_ > 0 ? next_ring_slot() : slot_of(kNever);
    if (!later_.empty()) {
        next = std::min(next, slot_of(later_.front().at));
    }
    cursor_ = next;
    const std::size_t place = place_of(next);
    // The emptied buffer serves the next slot that gets an event, while it is still in the cache.
    now_.swap(ring_[place]);
    if (ring_[place].capacity() != 0) {
        spare_.push_back(std::move(ring_[place]));
        ring_[place] = {};
    }
    in_ring_ -= now_.size();
    occupied_[place / 64] &= ~(std::uint64_t{1} << (place % 64));
    while (!later_.empty() && slot_of(later_.front().at) < cursor_ + kSlots) {
        std::pop_heap(later_.begin(), later_.end(), after);
        const Event event = later_.back();
        later_.pop_back();
        if (slot_of(event.at) == cursor_) {
            now_.push_back(event);
        } else {
            insert_ring(event, slot_of(event.at));
        }
    }
    std::sort(now_.begin(), now_.end(), before);
    return true;
}

const Event* Calendar::peek() {
    if (head_ == now_.size() && !advance()) {
        return nullptr;
    }
    return &now_[head_];
}

Event Calendar::pop() {
    const Event* first = peek();
    check(first != nullptr, "calendar: pop of an empty calendar");
    --size_;
    ++head_;
    return *first;
}

}  // namespace podsim
