// SPDX-License-Identifier: Apache-2.0
#include "algorithms/reference/reference_dispatch.hpp"

#include "algorithms/reference/quantize.hpp"
#include "algorithms/routing/input.hpp"
#include "models/engine/error.hpp"

#include <algorithm>

namespace podsim {

ReferenceDispatch::ReferenceDispatch(const Workload& w, const RoutingTable& table, std::uint32_t call)
    : workload_(w), call_(call) {
    check(table.cards() == w.cards && table.top_k() == w.top_k, "the routing table belongs to the workload");
    cells_begin_.push_back(0);
    tokens_begin_.push_back(0);
    for (std::uint32_t card = 0; card < w.cards; ++card) {
        cells_begin_.push_back(cells_begin_.back() + w.status_entries(card));
        tokens_begin_.push_back(tokens_begin_.back() + table.ids(card).size());
    }
    counts_.assign(cells_begin_.back(), 0);
    expand_idx_.reserve(tokens_begin_.back());

    // Visits the copies in the order in which one source numbers its slots.
    const auto for_each_copy = [&](auto&& visit) {
        for (std::uint32_t source = 0; source < w.cards; ++source) {
            for (std::uint32_t token = 0; token < table.tokens(source); ++token) {
                for (std::uint32_t k = 0; k < w.top_k; ++k) {
                    const std::int32_t id = table.id(source, token, k);
                    check(id >= kDroppedSelection && id < static_cast<std::int64_t>(w.experts),
                          "the routing table names experts of the workload");
                    if (id == kDroppedSelection) {
                        visit(std::size_t{0}, RowOrigin{source, token, k, w.experts, 0}, true);
                        continue;
                    }
                    const auto expert = static_cast<std::uint32_t>(id);
                    visit(cell(w.card_of_expert(expert), w.local_of_expert(expert), source),
                          RowOrigin{source, token, k, expert, 0}, false);
                }
                for (std::uint32_t s = 0; s < w.shared_copies(); ++s) {
                    visit(cell(w.card_of_shared(source, s), 0, source),
                          RowOrigin{source, token, w.top_k + s, w.experts + s, 0}, false);
                }
            }
        }
    };

    for_each_copy([&](std::size_t at, const RowOrigin& row, bool dropped) {
        if (row.k < w.top_k) {
            expand_idx_.push_back(dropped ? -1 : static_cast<std::int32_t>(counts_[at]));
        }
        counts_[at] += dropped ? 0 : 1;
    });

    // Cells stand in output order, so a cell's rows begin where those of all cells before it end.
    std::vector<std::size_t> next(counts_.size() + 1, 0);
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        next[i + 1] = next[i] + counts_[i];
    }
    for (const std::size_t begin : cells_begin_) {
        rows_begin_.push_back(next[begin]);
    }
    rows_.resize(next.back());
    const std::vector<std::size_t> begin = next;
    for_each_copy([&](std::size_t at, RowOrigin row, bool dropped) {
        if (!dropped) {
            row.slot = static_cast<std::uint32_t>(next[at] - begin[at]);
            rows_[next[at]++] = row;
        }
    });
}

std::uint32_t ReferenceDispatch::row_count(std::uint32_t card) const {
    return static_cast<std::uint32_t>(rows_begin_[card + 1] - rows_begin_[card]);
}

std::span<const RowOrigin> ReferenceDispatch::output(std::uint32_t card) const {
    return std::span(rows_).subspan(rows_begin_[card], row_count(card));
}

std::uint32_t ReferenceDispatch::count(std::uint32_t card, std::uint32_t local_expert, std::uint32_t source) const {
    return counts_[cell(card, local_expert, source)];
}

std::span<const std::uint32_t> ReferenceDispatch::counts(std::uint32_t card) const {
    return std::span(counts_).subspan(cells_begin_[card], workload_.status_entries(card));
}

std::vector<std::int32_t> ReferenceDispatch::ep_recv_counts(std::uint32_t card) const {
    std::vector<std::int32_t> sums;
    sums.reserve(workload_.status_entries(card));
    std::int32_t sum = 0;
    for (const std::uint32_t n : counts(card)) {
        sum += static_cast<std::int32_t>(n);
        sums.push_back(sum);
    }
    return sums;
}

std::vector<std::int64_t> ReferenceDispatch::expert_token_nums(std::uint32_t card, ExpertTokenNums type) const {
    std::vector<std::int64_t> nums;
    std::int64_t running = 0;
    for (std::uint32_t local = 0; local < workload_.local_experts(card); ++local) {
        std::int64_t rows = 0;
        for (std::uint32_t source = 0; source < workload_.cards; ++source) {
            rows += count(card, local, source);
        }
        running += rows;
        nums.push_back(type == ExpertTokenNums::prefix ? running : rows);
    }
    return nums;
}

std::int32_t ReferenceDispatch::expand_idx(std::uint32_t source, std::uint32_t token, std::uint32_t k) const {
    if (k >= workload_.top_k) {
        return static_cast<std::int32_t>(token);  // a shared expert takes every token of a source, in order
    }
    return expand_idx_[tokens_begin_[source] + static_cast<std::size_t>(token) * workload_.top_k + k];
}

RowContent ReferenceDispatch::content(std::uint32_t source, std::uint32_t token) const {
    const std::vector<std::uint16_t> values =
        token_values(TokenKey{workload_.seed, call_, source, token}, workload_.hidden);
    RowContent content;
    if (workload_.quant == Quant::none) {
        content.bytes.reserve(2 * values.size());
        for (const std::uint16_t bits : values) {
            content.bytes.push_back(static_cast<std::byte>(bits & 0xFFU));
            content.bytes.push_back(static_cast<std::byte>(bits >> 8U));
        }
        return content;
    }
    const Int8Row row = quantize_int8_dynamic(values);
    content.bytes.resize(row.values.size());
    std::transform(row.values.begin(), row.values.end(), content.bytes.begin(),
                   [](std::int8_t v) { return static_cast<std::byte>(v); });
    content.scale = row.scale;
    return content;
}

}  // namespace podsim
