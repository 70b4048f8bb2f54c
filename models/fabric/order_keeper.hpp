// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The two ordering guarantees of an ordered fabric, kept by holding packets back at their destination.
///
/// network_in_order: packets of one (source card, destination card) land in the order they reached their
/// first switch. noc_first_packet_order: they take that place only after those their core issued before them
/// to the same card, so both together give landing in issue order, per core and destination.
#include "models/engine/units.hpp"

#include <cstdint>
#include <memory_resource>
#include <unordered_map>
#include <vector>

namespace podsim {

class OrderKeeper {
public:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    OrderKeeper(std::uint32_t cards, bool by_core);

    /// A packet enters the fabric. `flight` is free to be used again once next_ready() gave it.
    void issued(std::uint32_t flight, CardId source, CoreId core, CardId destination);
    /// A packet that no core issues: a read reply. It knows no order before the first switch.
    void issued_by_memory(std::uint32_t flight, CardId source, CardId destination);
    void reached_first_switch(std::uint32_t flight);
    void arrived(std::uint32_t flight, Picoseconds at);

    /// Takes out the next packet of the pair of `flight`, if it has arrived and may land; kNone: not yet.
    std::uint32_t next_ready(std::uint32_t pair);
    std::uint32_t pair_of(std::uint32_t flight) const { return entries_[flight].pair; }
    Picoseconds arrived_at(std::uint32_t flight) const { return entries_[flight].arrived_at; }

private:
    struct Fifo {
        std::uint32_t head = kNone;
        std::uint32_t tail = kNone;
    };
    struct Entry {
        std::uint64_t core_key = 0;
        Picoseconds arrived_at = kNever;
        std::uint32_t pair = 0;
        std::uint32_t next = kNone;  // in the one list it is in
        bool in_core_list = false;
        bool reached = false;
    };

    Entry& start(std::uint32_t flight, CardId source, CardId destination);
    void append(Fifo& fifo, std::uint32_t flight);
    std::uint32_t pop(Fifo& fifo);

    std::uint32_t cards_;
    bool by_core_;
    std::vector<Entry> entries_;  // by flight
    std::vector<Fifo> pairs_;     // [source * cards + destination]
    // Only cores with packets before their first switch have a list; the pool recycles the nodes.
    std::pmr::unsynchronized_pool_resource memory_;
    std::pmr::unordered_map<std::uint64_t, Fifo> cores_{&memory_};
};

}  // namespace podsim
