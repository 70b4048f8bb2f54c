// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Flags that leave before what they announce has arrived: where nothing orders the two, a receiver that reads right
/// does so by luck. Looks at what a flag's own core can know: a store is there for certain once it is acknowledged, and
/// of another core's acknowledgements a core hears by SyncAll and by reading memory that was stored to, and not else.
///
/// A flag is early for a store of its card to bytes that it announces when the store
/// - was not acknowledged as the flag left, unless the same core issued both on an ordered fabric (both guarantees),
/// - was acknowledged to another core, in a slot of the window, and the flag's core has learned nothing since,
/// - or began later in the same call.
///
/// Of a card's stores its own cores tell, in order of time: each card is looked at by itself.
#include "algorithms/dispatch/layout.hpp"
#include "models/aicore/ring.hpp"
#include "models/engine/observer.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace podsim {

/// One early flag, and of the stores it announced too early the one acknowledged last.
struct EarlyFlag {
    StoreEvent flag;
    Picoseconds left = 0;
    StoreEvent store;
    Picoseconds acknowledged = kNever;  ///< kNever: not by the end of the run
    std::uint64_t stores = 0;           ///< how many
};

class EarlyFlags final : public ObserverIf {
public:
    /// `ordered`: the fabric keeps what a core stores to a card in order.
    EarlyFlags(const DispatchLayout& layout, std::uint32_t cards, std::uint32_t cores, bool ordered);

    Interest interest() const override { return {false, false, true}; }
    void store_began(const StoreEvent& event, Picoseconds at) override;
    void store_acknowledged(const StoreEvent& event, Picoseconds at) override;
    void flag_left(const StoreEvent& flag, Picoseconds at) override;
    void learned(CoreRef core, Picoseconds at) override;

    /// Card `number` has ended a call, with all it stored acknowledged: its early flags, in the order they were found.
    std::vector<EarlyFlag> end_call(std::uint32_t number, Picoseconds at);

private:
    static constexpr std::int32_t kInTime = -1;
    static constexpr std::size_t kLists = 16;

    struct Store {
        StoreEvent event;
        Picoseconds acknowledged = kNever;
        std::int32_t early = kInTime;  ///< index of the flag that was too early for it
    };
    struct Announcement {
        StoreEvent flag;
        Picoseconds left = 0;
        std::int32_t early = kInTime;  ///< its own index, once it is early
    };
    struct Card {
        std::vector<Ring<Store>> open;  ///< by core; some at the front may be acknowledged
        /// Acknowledged, in slots, and not every core can know it; by destination, modulo: a flag looks at one list.
        std::array<std::vector<Store>, kLists> settled;
        std::vector<Picoseconds> learned;  ///< by core
        Picoseconds common = 0;            ///< what all can know; taken now and then
        std::map<GmAddress, Announcement> announced;
        std::vector<EarlyFlag> early;
    };

    static std::vector<Store>& settled_to(Card& card, CardId to) { return card.settled[index(to) % kLists]; }
    Card& card_of(const StoreEvent& store) { return cards_[index(store.core.card)]; }
    static Announcement* find(Card& card, const StoreEvent& store);
    static void found_early(Card& card, Announcement& announcement, Store& store);
    static void settle(Card& card, const Store& store);
    static void forget_common(Card& card);
    bool in_slot(const StoreEvent& store) const;
    bool in_order(const Card& card, const Store& store, const StoreEvent& flag, Picoseconds left) const;

    const DispatchLayout& layout_;
    std::vector<Card> cards_;
    const bool ordered_;
};

}  // namespace podsim
