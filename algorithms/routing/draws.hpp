// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A sequence of routing draws, named by (seed, call, card, lane); internal to algorithms/routing.
#include "models/engine/error.hpp"
#include "models/engine/random.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace podsim {

class Draws {
public:
    /// In place of a call or card: the draw is the same for all of them.
    static constexpr std::uint32_t kEveryCall = 0xFF'FFFF;
    static constexpr std::uint32_t kEveryCard = 0xFFFF'FFFF;
    /// In place of a token, for draws that concern the whole card.
    static constexpr std::uint32_t kWholeCard = 0xFFFF'FFFF;

    Draws(std::uint64_t seed, std::uint32_t call, std::uint32_t card, std::uint32_t token)
        : seed_(seed),
          a_(static_cast<std::uint64_t>(call) << 32U | card),
          b_(static_cast<std::uint64_t>(token) << 32U) {
        check(call <= kEveryCall, "calls fit into 24 bits of the random counter");
    }

    /// Uniform in [0, bound).
    std::uint64_t below(std::uint64_t bound) { return random_below(seed_, RandomStream::routing, a_, b_++, bound); }
    std::size_t index_below(std::size_t bound) { return static_cast<std::size_t>(below(bound)); }

    template <class T>
    void shuffle(std::span<T> values) {
        for (std::size_t n = values.size(); n > 1; --n) {
            std::swap(values[n - 1], values[index_below(n)]);
        }
    }

private:
    std::uint64_t seed_, a_, b_;
};

}  // namespace podsim
