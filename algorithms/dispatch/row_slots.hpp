// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which slot a copy takes: how many earlier entries of the card's routing list chose the same expert.
///
/// Without bit maps a prefix chain per copy. With them one compare per expert over the whole list gives a map
/// of who chose it; the number of set bits is its count, those before an entry are the entry's slot.
/// Shared maps are made by the cores that count, stored to GM, and announced by soft sync to the senders.
#include "algorithms/dispatch/core_state.hpp"

namespace podsim {

class RowSlots {
public:
    explicit RowSlots(CoreState& core) : c_(core) {}

    /// The map of `expert` into `map` (map_bytes() long). V.
    void compare(LocalTensor<std::uint8_t> map, std::uint32_t expert);
    /// Set bits among the first `bits` of a map in UB, which S may read.
    Task<std::uint32_t> ones(LocalTensor<std::uint8_t> map, std::uint32_t bits);
    /// Maps of a run of experts from UB to GM, and word of it to the senders.
    void share(LocalTensor<std::uint8_t> maps, std::uint32_t first, std::uint32_t count);
    /// Waits until all maps are in GM.
    Task<void> await_maps();
    /// Slots of selections [first, first + count), count <= kAhead, from shared maps.
    static constexpr std::uint32_t kAhead = 8;
    Task<void> look_up(std::uint32_t first, std::uint32_t count);
    std::uint32_t looked_up(std::uint32_t i) const { return slots_[i]; }

private:
    CoreState& c_;
    LocalTensor<std::uint8_t> near_;  ///< maps of the selections ahead
    std::uint32_t slots_[kAhead] = {};
};

}  // namespace podsim
