// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/order_keeper.hpp"

namespace podsim {

OrderKeeper::OrderKeeper(std::uint32_t cards, bool by_core)
    : cards_(cards), by_core_(by_core), pairs_(std::size_t{cards} * cards) {}

OrderKeeper::Entry& OrderKeeper::start(std::uint32_t flight, CardId source, CardId destination) {
    if (flight >= entries_.size()) {
        entries_.resize(flight + 1);
    }
    Entry& entry = entries_[flight];
    entry = Entry{};
    entry.pair = index(source) * cards_ + index(destination);
    return entry;
}

void OrderKeeper::issued(std::uint32_t flight, CardId source, CoreId core, CardId destination) {
    Entry& entry = start(flight, source, destination);
    if (by_core_) {
        entry.core_key = (std::uint64_t{entry.pair} << 32) | index(core);
        entry.in_core_list = true;
        append(cores_[entry.core_key], flight);
    }
}

void OrderKeeper::issued_by_memory(std::uint32_t flight, CardId source, CardId destination) {
    start(flight, source, destination);
}

void OrderKeeper::reached_first_switch(std::uint32_t flight) {
    Entry& entry = entries_[flight];
    entry.reached = true;
    if (!entry.in_core_list) {
        append(pairs_[entry.pair], flight);
        return;
    }
    const auto core = cores_.find(entry.core_key);
    while (core->second.head != kNone && entries_[core->second.head].reached) {
        const std::uint32_t first = pop(core->second);
        append(pairs_[entries_[first].pair], first);
    }
    if (core->second.head == kNone) {
        cores_.erase(core);
    }
}

void OrderKeeper::arrived(std::uint32_t flight, Picoseconds at) { entries_[flight].arrived_at = at; }

std::uint32_t OrderKeeper::next_ready(std::uint32_t pair) {
    Fifo& fifo = pairs_[pair];
    if (fifo.head == kNone || entries_[fifo.head].arrived_at == kNever) {
        return kNone;
    }
    return pop(fifo);
}

void OrderKeeper::append(Fifo& fifo, std::uint32_t flight) {
    entries_[flight].next = kNone;
    if (fifo.head == kNone) {
        fifo.head = flight;
    } else {
        entries_[fifo.tail].next = flight;
    }
    fifo.tail = flight;
}

std::uint32_t OrderKeeper::pop(Fifo& fifo) {
    const std::uint32_t first = fifo.head;
    fifo.head = entries_[first].next;
    return first;
}

}  // namespace podsim
