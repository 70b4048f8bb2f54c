// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which experts every token of every card goes to, for one call.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace podsim {

/// A selection that goes nowhere: the token loses this copy.
inline constexpr std::int32_t kDroppedSelection = -1;

/// Per card `tokens(card) * top_k()` expert ids, token-major: flat index token * top_k + k. An id is a MoE
/// expert, 0 … experts-1, or kDroppedSelection. Cards may have different numbers of tokens, also none.
class RoutingTable {
public:
    RoutingTable() = default;
    /// Every selection starts as dropped.
    RoutingTable(std::uint32_t top_k, const std::vector<std::uint32_t>& tokens_per_card);

    std::uint32_t cards() const { return static_cast<std::uint32_t>(begin_.size() - 1); }
    std::uint32_t top_k() const { return top_k_; }
    std::uint32_t tokens(std::uint32_t card) const {
        return static_cast<std::uint32_t>((begin_[card + 1] - begin_[card]) / top_k_);
    }
    std::uint64_t total_tokens() const { return ids_.size() / top_k_; }

    /// The card's selections, as the kernel's expertIds input.
    std::span<const std::int32_t> ids(std::uint32_t card) const {
        return std::span(ids_).subspan(begin_[card], begin_[card + 1] - begin_[card]);
    }
    std::span<std::int32_t> mutable_ids(std::uint32_t card) {
        return std::span(ids_).subspan(begin_[card], begin_[card + 1] - begin_[card]);
    }
    std::int32_t id(std::uint32_t card, std::uint32_t token, std::uint32_t k) const {
        return ids_[begin_[card] + static_cast<std::size_t>(token) * top_k_ + k];
    }

    friend bool operator==(const RoutingTable&, const RoutingTable&) = default;

private:
    std::uint32_t top_k_ = 1;
    std::vector<std::size_t> begin_{0};  ///< of each card in ids_, and the end
    std::vector<std::int32_t> ids_;
};

}  // namespace podsim
