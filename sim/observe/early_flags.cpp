// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/early_flags.hpp"

#include <algorithm>

namespace podsim {

namespace {

std::uint64_t end_of(const StoreEvent& store) {
    return store.to.offset + (store.blocks - 1) * store.stride + store.block_bytes;
}

/// One of the store's bursts touches bytes that the flag announces.
bool touches(const StoreEvent& store, const StoreEvent& flag) {
    const std::uint64_t begin = flag.announced;
    const std::uint64_t end = begin + flag.announced_bytes;
    if (store.to.card != flag.to.card || store.to.offset >= end || end_of(store) <= begin) {
        return false;
    }
    // The first burst that ends behind `begin` is the only one that can reach in without the ones after it.
    const std::uint64_t before = begin < store.to.offset + store.block_bytes
                                     ? 0
                                     : (begin - store.to.offset - store.block_bytes) / store.stride + 1;
    return store.to.offset + before * store.stride < end;
}

bool same(const StoreEvent& a, const StoreEvent& b) { return a.core == b.core && a.sequence == b.sequence; }

}  // namespace

EarlyFlags::EarlyFlags(const DispatchLayout& layout, std::uint32_t cards, std::uint32_t cores, bool ordered)
    : layout_(layout), cards_(cards), ordered_(ordered) {
    for (Card& card : cards_) {
        card.open.resize(cores);
        card.learned.resize(cores, 0);
    }
}

/// Where other cards wait for rows. What a receiver clears there in its own memory is no row.
bool EarlyFlags::in_slot(const StoreEvent& store) const {
    const bool clears = store.to.card == store.core.card && store.block_bytes <= kUbGranule;
    return !clears && layout_.slot_half(store.to.offset).has_value();
}

void EarlyFlags::store_began(const StoreEvent& event, Picoseconds at) {
    Card& card = card_of(event);
    Ring<Store>& open = card.open[index(event.core.core)];
    while (!open.empty() && open.front().acknowledged <= at) {
        const Store store = open.pop();
        if (store.acknowledged > card.common && in_slot(store.event)) {
            settled_to(card, store.event.to.card).push_back(store);
        }
    }
    open.push({event});
    if (Announcement* announcement = find(card, event)) {
        found_early(card, *announcement, open.back());
    }
}

void EarlyFlags::learned(CoreRef core, Picoseconds at) {
    Picoseconds& known = cards_[index(core.card)].learned[index(core.core)];
    known = std::max(known, at);
}

void EarlyFlags::store_acknowledged(const StoreEvent& event, Picoseconds at) {
    Card& card = card_of(event);
    Ring<Store>& open = card.open[index(event.core.core)];
    std::size_t i = 0;
    while (open[i].event.sequence != event.sequence) {
        ++i;
    }
    open[i].acknowledged = at;
    settle(card, open[i]);
}

void EarlyFlags::flag_left(const StoreEvent& flag, Picoseconds at) {
    Card& card = card_of(flag);
    forget_common(card);
    Announcement& mine = card.announced[{flag.to.card, flag.announced}] = {flag, at};
    const auto look_at = [&](Store& store) {
        if (touches(store.event, flag) && !same(store.event, flag) && !in_order(card, store, flag, at)) {
            found_early(card, mine, store);
        }
    };
    for (Ring<Store>& open : card.open) {
        for (std::size_t i = 0; i < open.size(); ++i) {
            look_at(open[i]);
        }
    }
    for (Store& store : settled_to(card, flag.to.card)) {
        look_at(store);
    }
}

bool EarlyFlags::in_order(const Card& card, const Store& store, const StoreEvent& flag, Picoseconds left) const {
    const bool own = store.event.core == flag.core;
    if (store.acknowledged > left) {
        return own && ordered_;
    }
    return own || store.acknowledged <= card.learned[index(flag.core.core)] || !in_slot(store.event);
}

void EarlyFlags::forget_common(Card& card) {
    const Picoseconds common = *std::min_element(card.learned.begin(), card.learned.end());
    if (common > card.common) {
        card.common = common;
        for (std::vector<Store>& settled : card.settled) {
            std::erase_if(settled, [common](const Store& store) { return store.acknowledged <= common; });
        }
    }
}

/// A flag that has left and announces bytes the store goes to.
EarlyFlags::Announcement* EarlyFlags::find(Card& card, const StoreEvent& store) {
    if (card.announced.empty()) {
        return nullptr;
    }
    // Announced ranges do not overlap: the last one that starts before the store, and those that start inside it.
    auto next = card.announced.upper_bound(store.to);
    if (next != card.announced.begin()) {
        --next;
    }
    const GmAddress end{store.to.card, end_of(store)};
    for (; next != card.announced.end() && next->first < end; ++next) {
        if (touches(store, next->second.flag)) {
            return &next->second;
        }
    }
    return nullptr;
}

void EarlyFlags::found_early(Card& card, Announcement& announcement, Store& store) {
    if (store.early != kInTime) {
        return;  // another flag's
    }
    if (announcement.early == kInTime) {
        announcement.early = static_cast<std::int32_t>(card.early.size());
        card.early.push_back({announcement.flag, announcement.left, store.event});
    }
    store.early = announcement.early;
    ++card.early[static_cast<std::size_t>(store.early)].stores;
    settle(card, store);
}

void EarlyFlags::settle(Card& card, const Store& store) {
    if (store.early == kInTime || store.acknowledged == kNever) {
        return;
    }
    EarlyFlag& flag = card.early[static_cast<std::size_t>(store.early)];
    if (flag.acknowledged == kNever || store.acknowledged > flag.acknowledged) {
        flag.store = store.event;
        flag.acknowledged = store.acknowledged;
    }
}

std::vector<EarlyFlag> EarlyFlags::end_call(std::uint32_t number, Picoseconds at) {
    Card& card = cards_[number];
    card.announced.clear();
    card.settled = {};
    std::fill(card.learned.begin(), card.learned.end(), at);  // what ran before a launch has ended for all
    return std::exchange(card.early, {});
}

}  // namespace podsim
