// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the steps of a Dispatch share on one core: arguments, options, role, and the tensors that live long.
#include "algorithms/dispatch/dispatch_args.hpp"
#include "algorithms/dispatch/dispatch_options.hpp"
#include "algorithms/dispatch/expert_count.hpp"
#include "algorithms/kernel_api/aiv.hpp"
#include "algorithms/kernel_api/soft_sync.hpp"

#include <optional>

namespace podsim {

inline constexpr std::uint32_t kRecordWords = 8;  ///< a status record: 32 B
inline constexpr std::uint32_t kRecordBytes = 32;
inline constexpr std::uint32_t kFlagWord = 0;
inline constexpr std::uint32_t kCountWord = 1;
inline constexpr std::uint8_t kFlagEvent = 5;
/// AllocTensor, EnQue, DeQue, FreeTensor of one queue: each some five dependent loads of the queue's
/// state from the stack (8 cycles a data-cache hit).
inline constexpr std::uint32_t kQueueCalls = 4 * 40;
inline constexpr std::uint32_t kReserve = 8192;  ///< UB kept free for the receive side's small tensors

/// Who does what on a card. With early counts the last cores count and the others send; else all do both.
struct Roles {
    Roles(const Workload& w, const DispatchArgs& args, bool early);

    std::uint32_t senders, counters;
    bool sends, counts;
    std::uint32_t sender = 0, counter = 0;  ///< number among its kind
    std::uint32_t first_counter;            ///< core number
    /// The core that sums early.
    std::uint32_t summer() const { return first_counter + counters - 1; }
};

struct CoreState {
    CoreState(Aiv& aiv, const DispatchArgs& args);

    using SoftPoint = DispatchLayout::SoftPoint;
    SoftCells soft_point(SoftPoint point) const {
        return {layout.soft_cells(args.card, point, 0), layout.soft_pitch()};
    }
    std::uint32_t number() const { return calls + 1; }  ///< of this call, what soft-sync flags are raised with
    /// All cores of the card have come here: SyncAll, or with soft_sync everybody's flag to everybody. What the
    /// core stored before is acknowledged then. `where`: code of its own at each place it stands.
    Task<void> barrier(SoftPoint point, Where where = Where::current());

    /// Senders look after arrived rows between their sends: they must know the rows early, by a flag.
    bool receives_meanwhile() const {
        return opt.dynamic && opt.early_counts && opt.soft_sync && opt.sums == Sums::early;
    }

    /// Destination experts in status order: shared-expert ranks first (one record each), then MoE experts.
    std::uint32_t shared_destinations() const { return w.shared_copies() > 0 ? w.shared_expert_cards : 0; }
    std::uint32_t destinations() const { return shared_destinations() + w.experts; }
    /// Those this core counts for.
    Share my_destinations() const {
        return role.counts ? share_of(destinations(), role.counter, role.counters) : Share{};
    }
    std::uint32_t most_records() const;

    /// Epoch: a half's flags alternate 1, 0, 1 … and are never cleared. Clear: always 1, zeroed once seen.
    float flag_target() const { return opt.epoch && calls / 2 % 2 == 1 ? 0.0F : 1.0F; }
    std::int32_t token_flag_value() const { return static_cast<std::int32_t>(calls) + 1; }
    /// Block flags count calls, or are cleared.
    float block_flag_value() const { return opt.epoch ? static_cast<float>(number()) : 1.0F; }

    DataCopyExtParams status_cells(std::uint32_t count) const {
        return {count, kRecordBytes, layout.status_stride() - kRecordBytes, 0};
    }
    /// Window base of a rank: the context holds a pointer to the rank's record, that the address.
    Task<void> window_of(std::uint32_t card);

    Aiv& aiv;
    const DispatchArgs& args;
    const Workload& w;
    const DispatchLayout& layout;
    const RowLayout& row;
    const DispatchOptions opt;
    const Roles role;
    const std::uint32_t selections;
    const Share entries;  ///< status entries (local expert, source) this core has a share in

    std::uint32_t calls = 0;
    std::uint32_t half = 0;
    LocalTensor<std::int32_t> ids, records;
    LocalTensor<float> word;
    std::optional<ExpertCount> counter;
    std::optional<SoftSync> soft;
    // The receive side, filled in by the sums.
    std::uint32_t base = 0;             ///< output row of the core's first entry
    std::vector<std::uint32_t> counts;  ///< rows of its entries
    LocalTensor<std::int32_t> prefix;   ///< inclusive sums of its entries, or of all entries
    bool prefix_of_all = false;
    // Send buffers, which the receive side takes over.
    LocalTensor<std::uint8_t> out[4];
    std::uint8_t buffers = 0;
};

}  // namespace podsim
