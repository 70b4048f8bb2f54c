// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the steps of a Dispatch share on one core: arguments, options, role, and the tensors that live long.
#include "algorithms/dispatch/core_plan.hpp"
#include "algorithms/dispatch/expert_count.hpp"
#include "algorithms/kernel_api/aiv.hpp"
#include "algorithms/kernel_api/soft_sync.hpp"

#include <optional>

namespace podsim {

inline constexpr std::uint32_t kFlagWord = 0;
inline constexpr std::uint32_t kCountWord = 1;
inline constexpr std::uint8_t kFlagEvent = 5;
/// MTE3 to MTE2 of statuses and sums: one of the send side's, whose buffers are not open then.
inline constexpr std::uint8_t kStoreEvent = 0;
/// AllocTensor, EnQue, DeQue, FreeTensor of one queue: each some five dependent loads of the queue's
/// state from the stack (8 cycles a data-cache hit).
inline constexpr std::uint32_t kQueueCalls = 4 * 40;

struct CoreState : CorePlan {
    CoreState(Aiv& on, const DispatchArgs& given) : CorePlan(given), aiv(on) {}

    using SoftPoint = DispatchLayout::SoftPoint;
    SoftCells soft_point(SoftPoint point) const {
        return {layout.soft_cells(args.card, point, 0), layout.soft_pitch()};
    }
    std::uint32_t number() const { return calls + 1; }  ///< of this call, what soft-sync flags are raised with
    /// All cores of the card have come here: SyncAll, or with soft_sync everybody's flag to everybody. What the
    /// core stored before is acknowledged then. `where`: code of its own at each place it stands.
    Task<void> barrier(SoftPoint point, Where where = Where::current());

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
