// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The independent answer: what every card must hold after a Dispatch call. Plain C++, no model, no timing.
#include "algorithms/routing/routing_table.hpp"
#include "algorithms/routing/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace podsim {

/// Where an output row comes from. (source, token, k) is the triple the kernel sends along.
struct RowOrigin {
    std::uint32_t source = 0;  ///< card
    std::uint32_t token = 0;   ///< on that card
    std::uint32_t k = 0;       ///< selection of the token; top_k + s for shared expert s
    std::uint32_t expert = 0;  ///< MoE expert; experts + s for shared expert s
    std::uint32_t slot = 0;    ///< position among the rows its source sends to that expert
    friend bool operator==(const RowOrigin&, const RowOrigin&) = default;
};

/// What a row carries: `bytes` are hidden int8 values with their scale, or 2 * hidden bytes of bf16 (little-endian).
struct RowContent {
    std::vector<std::byte> bytes;
    float scale = 0;  ///< 0 when Quant::none
};

/// Meaning of expertTokenNums: running totals, or one count per expert.
enum class ExpertTokenNums { prefix, count };

/// Built once per call in O(selections + cards * experts); 20 bytes a row.
class ReferenceDispatch {
public:
    /// `table` must belong to `workload` (card count, top_k, ids below experts): InternalError otherwise.
    ReferenceDispatch(const Workload& workload, const RoutingTable& table, std::uint32_t call);

    std::uint64_t total_rows() const { return rows_.size(); }
    std::uint32_t row_count(std::uint32_t card) const;
    /// Rows of a card's OutputBuffer in order: local expert, source card, flat index token * top_k + k; on a
    /// shared-expert card: source card, token.
    std::span<const RowOrigin> output(std::uint32_t card) const;

    /// Rows from `source` to an expert of `card`.
    std::uint32_t count(std::uint32_t card, std::uint32_t local_expert, std::uint32_t source) const;
    /// Counts of a card in status order: index local_expert * cards + source.
    std::span<const std::uint32_t> counts(std::uint32_t card) const;
    /// epRecvCounts: inclusive prefix sums over that order.
    std::vector<std::int32_t> ep_recv_counts(std::uint32_t card) const;
    /// One value per local expert.
    std::vector<std::int64_t> expert_token_nums(std::uint32_t card, ExpertTokenNums type) const;

    /// expandIdx: slot of (token, k) on its source card, k < top_k + shared copies; -1 when dropped.
    std::int32_t expand_idx(std::uint32_t source, std::uint32_t token, std::uint32_t k) const;

    /// Contents of a token's rows: the same for each of its copies. Costs about 2 ns a value; not remembered.
    RowContent content(std::uint32_t source, std::uint32_t token) const;

    const Workload& workload() const { return workload_; }
    std::uint32_t call() const { return call_; }

private:
    std::size_t cell(std::uint32_t card, std::uint32_t local_expert, std::uint32_t source) const {
        return cells_begin_[card] + static_cast<std::size_t>(local_expert) * workload_.cards + source;
    }

    Workload workload_;
    std::uint32_t call_;
    std::vector<std::size_t> cells_begin_;   ///< per card, and the end
    std::vector<std::uint32_t> counts_;      ///< per (card, local expert, source)
    std::vector<std::size_t> rows_begin_;    ///< per card, and the end
    std::vector<RowOrigin> rows_;            ///< card-major, in output order
    std::vector<std::size_t> tokens_begin_;  ///< per source card: first flat index into expand_idx_
    std::vector<std::int32_t> expand_idx_;   ///< per (source, token, k < top_k)
};

}  // namespace podsim
