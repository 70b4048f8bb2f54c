// SPDX-License-Identifier: Apache-2.0
#include "algorithms/routing/generate.hpp"

#include "algorithms/routing/draws.hpp"
#include "algorithms/routing/weighted_sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace podsim {

namespace {

std::vector<std::int32_t> iota(std::uint32_t count) {
    std::vector<std::int32_t> values(count);
    std::iota(values.begin(), values.end(), 0);
    return values;
}

/// Experts in an order that depends on the seed (and, where given, the call).
std::vector<std::int32_t> permuted_experts(const Workload& w, std::uint32_t call) {
    std::vector<std::int32_t> experts = iota(w.experts);
    Draws draws(w.seed, call, Draws::kEveryCard, Draws::kWholeCard);
    draws.shuffle(std::span(experts));
    return experts;
}

/// Moves `count` of `pool` to its front, each subset and order equally likely whatever order the pool was in.
void choose_to_front(std::span<std::int32_t> pool, std::size_t count, Draws& draws) {
    for (std::size_t i = 0; i < count; ++i) {
        std::swap(pool[i], pool[i + draws.index_below(pool.size() - i)]);
    }
}

/// Makes the first `head` of `cycle` avoid everything in `taken` by swaps with later elements. Possible because
/// head + taken <= experts.
void keep_apart(std::span<std::int32_t> cycle, std::size_t head, std::span<const std::int32_t> taken, Draws& draws) {
    const auto is_taken = [&](std::int32_t id) { return std::find(taken.begin(), taken.end(), id) != taken.end(); };
    for (std::size_t i = 0; i < head; ++i) {
        if (!is_taken(cycle[i])) {
            continue;
        }
        const std::size_t later = cycle.size() - head;
        std::size_t other = draws.index_below(later);
        while (is_taken(cycle[head + other])) {
            other = (other + 1) % later;
        }
        std::swap(cycle[i], cycle[head + other]);
    }
}

}  // namespace

// A card's selections are a broken cycle (the experts that get one more) followed by whole cycles of all experts. The
// broken one comes first: a whole cycle has enough freedom to keep a token that spans both free of repetitions.
// The broken cycles of successive cards are successive pieces of one cycle of the call, so totals stay level.
void fill_balanced(RoutingTable& table, const Workload& w, std::uint32_t call) {
    const std::vector<std::int32_t> extras = permuted_experts(w, call);
    std::vector<std::int32_t> cycle = iota(w.experts);
    std::size_t next_extra = 0;
    for (std::uint32_t card = 0; card < table.cards(); ++card) {
        Draws draws(w.seed, call, card, Draws::kWholeCard);
        const std::span<std::int32_t> ids = table.mutable_ids(card);
        std::size_t filled = ids.size() % w.experts;
        for (std::size_t i = 0; i < filled; ++i) {
            ids[i] = extras[next_extra];
            next_extra = (next_extra + 1) % extras.size();
        }
        draws.shuffle(ids.first(filled));
        std::iota(cycle.begin(), cycle.end(), 0);
        while (filled < ids.size()) {
            draws.shuffle(std::span(cycle));
            const std::size_t begun = filled % w.top_k;
            if (begun > 0) {
                keep_apart(cycle, w.top_k - begun, ids.subspan(filled - begun, begun), draws);
            }
            std::copy(cycle.begin(), cycle.end(), ids.begin() + static_cast<std::ptrdiff_t>(filled));
            filled += w.experts;
        }
    }
}

void fill_uniform(RoutingTable& table, const Workload& w, std::uint32_t call) {
    for (std::uint32_t card = 0; card < table.cards(); ++card) {
        // Starts anew on each card, so a card's table does not depend on the others.
        std::vector<std::int32_t> pool = iota(w.experts);
        const std::span<std::int32_t> ids = table.mutable_ids(card);
        for (std::uint32_t token = 0; token < table.tokens(card); ++token) {
            Draws draws(w.seed, call, card, token);
            choose_to_front(pool, w.top_k, draws);
            std::copy_n(pool.begin(), w.top_k, ids.begin() + static_cast<std::ptrdiff_t>(token) * w.top_k);
        }
    }
}

std::vector<std::uint64_t> zipf_weights(std::uint32_t count, double exponent) {
    constexpr int kFractionBits = 24;
    const auto fixed = static_cast<std::uint64_t>(std::llround(exponent * (1U << kFractionBits)));
    std::vector<std::uint64_t> weights(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        // rank^exponent by products for the whole part and by repeated roots for the fraction; std::pow differs
        // between C libraries in the last bit.
        double power = 1;
        for (std::uint64_t n = fixed >> kFractionBits; n > 0; --n) {
            power *= i + 1;
        }
        double root = i + 1;
        for (int bit = kFractionBits - 1; bit >= 0; --bit) {
            root = std::sqrt(root);
            if ((fixed >> bit & 1U) != 0) {
                power *= root;
            }
        }
        weights[i] = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(0x1p32 / power)));
    }
    return weights;
}

void fill_zipf(RoutingTable& table, const Workload& w, std::uint32_t call, double exponent) {
    const std::vector<std::int32_t> expert_of_rank = permuted_experts(w, Draws::kEveryCall);
    WeightedSampler ranks(zipf_weights(w.experts, exponent));
    for (std::uint32_t card = 0; card < table.cards(); ++card) {
        const std::span<std::int32_t> ids = table.mutable_ids(card);
        for (std::uint32_t token = 0; token < table.tokens(card); ++token) {
            Draws draws(w.seed, call, card, token);
            for (std::uint32_t k = 0; k < w.top_k; ++k) {
                ids[static_cast<std::size_t>(token) * w.top_k + k] = expert_of_rank[ranks.take(draws)];
            }
            ranks.restore();
        }
    }
}

void fill_hot(RoutingTable& table, const Workload& w, std::uint32_t call, std::uint32_t hot_experts, double hot_share,
              std::vector<std::string>& notes) {
    const std::uint32_t cold_experts = w.experts - hot_experts;
    const std::uint64_t most = std::min(hot_experts, w.top_k);
    const std::uint64_t least = w.top_k > cold_experts ? w.top_k - cold_experts : 0;
    // Hot selections of a token, mean and bounds in units of 2^-32.
    const auto share = static_cast<std::uint64_t>(std::llround(hot_share * 0x1p32));
    const std::uint64_t wanted = share * w.top_k;
    const std::uint64_t mean = std::clamp(wanted, least << 32U, most << 32U);
    if (mean != wanted) {
        notes.push_back(
            fmt::format("hot_share {:g} is cut to {:g}: a token uses each of {} hot and {} other experts at "
                        "most once in its {} selections",
                        hot_share, static_cast<double>(mean) * 0x1p-32 / w.top_k, hot_experts, cold_experts, w.top_k));
    }
    const std::vector<std::int32_t> experts = permuted_experts(w, Draws::kEveryCall);
    for (std::uint32_t card = 0; card < table.cards(); ++card) {
        std::vector<std::int32_t> pool = experts;
        const std::span<std::int32_t> hot = std::span(pool).first(hot_experts);
        const std::span<std::int32_t> cold = std::span(pool).subspan(hot_experts);
        for (std::uint32_t token = 0; token < table.tokens(card); ++token) {
            Draws draws(w.seed, call, card, token);
            const bool one_more = draws.below(std::uint64_t{1} << 32U) < (mean & 0xFFFF'FFFFU);
            const auto from_hot = static_cast<std::uint32_t>((mean >> 32U) + (one_more ? 1 : 0));
            choose_to_front(hot, from_hot, draws);
            choose_to_front(cold, w.top_k - from_hot, draws);
            const std::span<std::int32_t> row =
                table.mutable_ids(card).subspan(static_cast<std::size_t>(token) * w.top_k, w.top_k);
            std::copy_n(hot.begin(), from_hot, row.begin());
            std::copy_n(cold.begin(), w.top_k - from_hot, row.begin() + from_hot);
            draws.shuffle(row);
        }
    }
}

}  // namespace podsim
