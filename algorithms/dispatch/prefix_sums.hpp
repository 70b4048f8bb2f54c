// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Where rows go in the OutputBuffer: inclusive sums of the counts over (local expert, source card).
#include "algorithms/dispatch/core_state.hpp"

namespace podsim {

class PrefixSums {
public:
    explicit PrefixSums(CoreState& core) : c_(core), aiv_(core.aiv) {}

    /// From the records wait_status() left: replicated or matrix, with the barrier in them. Fills in base, counts
    /// and prefix of the core's entries (of all entries for a dynamic schedule).
    Task<void> sum_counts();
    /// The summing count core: waits for all counts of the card, sums them, stores the outputs that follow from them
    /// and a private copy for each core, and raises everybody's flag.
    Task<void> sum_early();
    /// The others: wait for that (soft_sync; else a SyncAll has been) and read their copy.
    Task<void> take_early();
    /// epRecvCounts of the own entries and expertTokenNums, where nobody has summed early.
    Task<void> publish();

private:
    Task<void> sum_replicated();
    Task<void> sum_by_matrix();
    Task<void> own_counts();
    Task<void> token_nums(LocalTensor<std::int32_t> prefix_of_all);
    LocalTensor<std::int32_t> running_sums(LocalTensor<float> counts, std::uint32_t n);

    CoreState& c_;
    Aiv& aiv_;
    LocalTensor<std::int32_t> my_counts_;
};

}  // namespace podsim
