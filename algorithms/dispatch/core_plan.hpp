// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What one core of a Dispatch is to do: options, role and shares, known before it runs.
#include "algorithms/dispatch/dispatch_args.hpp"
#include "algorithms/dispatch/dispatch_options.hpp"

namespace podsim {

inline constexpr std::uint32_t kRecordWords = 8;  ///< a status record: 32 B
inline constexpr std::uint32_t kRecordBytes = 32;
inline constexpr std::uint32_t kReserve = 8192;  ///< UB kept free for the receive side's small tensors

/// Who does what on a card. With early counts the last cores count and the others send; else all do both.
struct Roles {
    Roles(const Workload& w, const DispatchArgs& args, bool early);

    std::uint32_t senders, counters;
    bool sends = true, counts = true;
    std::uint32_t sender = 0, counter = 0;  ///< number among its kind
    std::uint32_t first_counter = 0;        ///< core number
    /// The core that sums early.
    std::uint32_t summer() const { return first_counter + counters - 1; }
};

struct CorePlan {
    explicit CorePlan(const DispatchArgs& given);

    /// Destination experts in status order: shared-expert ranks first (one record each), then MoE experts.
    std::uint32_t shared_destinations() const { return w.shared_copies() > 0 ? w.shared_expert_cards : 0; }
    std::uint32_t destinations() const { return shared_destinations() + w.experts; }
    /// Those this core counts for.
    Share my_destinations() const {
        return role.counts ? share_of(destinations(), role.counter, role.counters) : Share{};
    }
    std::uint32_t card_of_destination(std::uint32_t destination) const {
        const std::uint32_t shared = shared_destinations();
        return destination < shared ? destination : w.card_of_expert(destination - shared);
    }
    std::uint32_t most_records() const;
    /// 64-bit words of a bit map over the card's selections.
    std::uint32_t map_words() const { return ceil_div(selections, 64U); }
    /// Send cores that serve shared experts, in proportion to their copies; the others send the rest.
    std::uint32_t shared_senders() const;
    /// Rows pass through a plain buffer on the send side: packed from there, or kept there for the next copy.
    bool staged() const { return row.layout == BlockLayout::packed_480 || opt.quantize_once; }

    const DispatchArgs& args;
    const Workload& w;
    const DispatchLayout& layout;
    const RowLayout& row;
    const DispatchOptions opt;
    const Roles role;
    const std::uint32_t selections;
    const Share entries;  ///< status entries (local expert, source) this core has a share in
};

}  // namespace podsim
