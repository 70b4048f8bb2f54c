// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Counts and their flags: how many rows go to each expert, the status cells that say so, and waiting for them.
#include "algorithms/dispatch/core_state.hpp"
#include "algorithms/dispatch/row_slots.hpp"

namespace podsim {

class StatusSide {
public:
    StatusSide(CoreState& core, RowSlots& slots) : c_(core), slots_(slots), aiv_(core.aiv) {}

    /// Counts of this core's destinations into its records; with shared bit maps, those too.
    Task<void> count_experts();
    /// One status a destination: flag and count.
    Task<void> send_status();
    /// One flag a destination, after all rows: where counts have gone ahead (status with early_counts).
    Task<void> send_rows_status();
    /// Until this core's entries have all come; their records are in UB then. Clears them if flags are cleared.
    Task<void> wait_status();
    Task<void> wait_rows_status();

private:
    Task<std::uint32_t> count_of(std::uint32_t expert, LocalTensor<std::uint8_t> map);
    Task<void> send(Share destinations, bool rows);
    LocalTensor<std::uint64_t> windows_of(Share destinations);
    Task<void> wait(bool rows);

    CoreState& c_;
    RowSlots& slots_;
    Aiv& aiv_;
};

}  // namespace podsim
