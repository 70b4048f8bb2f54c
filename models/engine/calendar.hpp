// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Calendar queue: events in (time, key) order, a few ns each while most of them lie within the ring.
#include "models/engine/units.hpp"

#include <cstdint>
#include <vector>

namespace podsim {

struct Event {
    Picoseconds at = 0;
    std::uint64_t key = 0;  ///< phase, unit id, per-unit sequence: see EventKey
    std::uint64_t tag = 0;
};

constexpr bool before(const Event& a, const Event& b) { return a.at != b.at ? a.at < b.at : a.key < b.key; }

/// Packing of the equal-time order into 64 bits.
namespace event_key {
inline constexpr unsigned kSequenceBits = 34;
inline constexpr unsigned kUnitBits = 28;
constexpr std::uint64_t pack(std::uint64_t phase, std::uint64_t unit, std::uint64_t sequence) {
    return (phase << (kSequenceBits + kUnitBits)) | (unit << kSequenceBits) | sequence;
}
constexpr std::uint64_t phase(std::uint64_t key) { return key >> (kSequenceBits + kUnitBits); }
constexpr std::uint64_t unit(std::uint64_t key) {
    return (key >> kSequenceBits) & ((std::uint64_t{1} << kUnitBits) - 1);
}
}  // namespace event_key

class Calendar {
public:
    Calendar();

    /// Lets an empty calendar start over at `at`, which may lie before what it has seen.
    void restart(Picoseconds at);
    /// `event.at` must not be earlier than the last popped event.
    void push(const Event& event);
    /// The earliest event, nullptr when empty. Valid until the next push or pop.
    const Event* peek();
    /// Removes the earliest event; the calendar must not be empty.
    Event pop();
    std::size_t size() const { return size_; }

private:
    static constexpr unsigned kWidthShift = 9;    // a slot is 512 ps: some tens of events when busy
    static constexpr std::int64_t kSlots = 2048;  // the ring spans 1 µs: more than a round of Partitions
    static constexpr std::int64_t kMask = kSlots - 1;

    static std::int64_t slot_of(Picoseconds at) { return at >> kWidthShift; }
    /// From the ring's start after every restart(): those slots are in the cache still.
    std::size_t place_of(std::int64_t slot) const { return static_cast<std::size_t>((slot - origin_) & kMask); }
    void insert_now(const Event& event);
    void insert_ring(const Event& event, std::int64_t slot);
    bool advance();
    std::int64_t next_ring_slot() const;

    std::vector<Event> now_;  // events of slot cursor_, sorted, from head_
    std::size_t head_ = 0;
    std::int64_t cursor_ = 0;
    std::int64_t origin_ = 0;
    std::vector<std::vector<Event>> ring_;
    std::vector<std::uint64_t> occupied_;    // one bit a slot
    std::vector<std::vector<Event>> spare_;  // emptied slots' buffers
    std::size_t in_ring_ = 0;
    std::vector<Event> later_;  // heap of events beyond the ring
    std::size_t size_ = 0;
};

}  // namespace podsim
