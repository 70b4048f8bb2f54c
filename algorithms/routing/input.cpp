// SPDX-License-Identifier: Apache-2.0
#include "algorithms/routing/input.hpp"

#include "models/engine/error.hpp"
#include "models/engine/random.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace podsim {

namespace {

constexpr std::uint32_t kPerWord = 4;   ///< 16-bit numbers in 64 bits
constexpr std::uint32_t kPerDraw = 32;  ///< a draw of 128 bits is stretched to 8 words
constexpr std::uint32_t kHeaderDraw = 0xFFFF'FFFF;
using Chunk = std::array<std::uint16_t, kPerDraw>;

/// Round to nearest even. Exact inputs come from 16-bit integers, so never NaN or infinite.
std::uint16_t to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
}

/// 64 times a bf16 that is zero or far from the largest exponent.
std::uint16_t enlarged(std::uint16_t bf16) {
    return (bf16 & 0x7FFFU) == 0 ? bf16 : static_cast<std::uint16_t>(bf16 + (6U << 7U));
}

/// Stretches a draw: SplitMix64's output function on a counter. Philox alone would cost three times as much, and
/// values need to be varied, not unpredictable.
std::uint64_t stretched(std::uint64_t word) {
    word = (word ^ word >> 30U) * 0xBF58476D1CE4E5B9U;
    word = (word ^ word >> 27U) * 0x94D049BB133111EBU;
    return word ^ word >> 31U;
}

/// What the values of one token have in common.
struct TokenTraits {
    float unit;  ///< value of the integer 1
    std::uint32_t outliers = 0;
    std::array<std::uint32_t, 4> outlier_at{};
};

class TokenGenerator {
public:
    TokenGenerator(const TokenKey& key, std::uint32_t hidden)
        : seed_(key.seed),
          a_(static_cast<std::uint64_t>(key.call) << 32U | key.card),
          b_(static_cast<std::uint64_t>(key.token) << 32U) {
        check(key.call < 1U << 24U, "calls fit into 24 bits of the random counter");
        const auto [traits, places] = draw(kHeaderDraw);
        traits_.unit = 0x1p-13F / static_cast<float>(1U << (traits & 3U));
        traits_.outliers = (traits >> 2U & 7U) == 0 ? 1 + static_cast<std::uint32_t>(traits >> 5U & 3U) : 0;
        for (std::uint32_t i = 0; i < traits_.outliers; ++i) {
            const std::uint64_t part = places >> (16 * i) & 0xFFFFU;
            traits_.outlier_at[i] = static_cast<std::uint32_t>(part * hidden >> 16U);
        }
    }

    void fill(std::uint32_t first, std::span<std::uint16_t> out) const {
        const std::uint32_t end = first + static_cast<std::uint32_t>(out.size());
        std::uint32_t i = first;
        while (i < end) {
            const Chunk values = chunk(i / kPerDraw);
            const std::uint32_t lane = i % kPerDraw;
            const std::uint32_t count = std::min(kPerDraw - lane, end - i);
            std::copy_n(values.begin() + lane, count, out.begin() + (i - first));
            i += count;
        }
        for (std::uint32_t n = 0; n < traits_.outliers; ++n) {
            const std::uint32_t at = traits_.outlier_at[n];
            if (at >= first && at < end) {
                out[at - first] = enlarged(chunk(at / kPerDraw)[at % kPerDraw]);
            }
        }
    }

private:
    std::pair<std::uint64_t, std::uint64_t> draw(std::uint32_t index) const {
        return random_u128(seed_, RandomStream::token_values, a_, b_ | index);
    }

    /// Values [index * kPerDraw, + kPerDraw) before outliers.
    Chunk chunk(std::uint32_t index) const {
        const auto [low, high] = draw(index);
        std::array<std::uint16_t, kPerDraw> integers;
        for (std::uint32_t word = 0; word < kPerDraw / kPerWord; ++word) {
            const std::uint64_t bits = stretched(low + word * (high | 1U));
            for (std::uint32_t lane = 0; lane < kPerWord; ++lane) {
                integers[word * kPerWord + lane] = static_cast<std::uint16_t>(bits >> (16 * lane));
            }
        }
        Chunk values;  // a loop of its own: the compiler uses the host's vector unit
        for (std::uint32_t i = 0; i < kPerDraw; ++i) {
            values[i] = to_bf16(traits_.unit * static_cast<float>(static_cast<std::int16_t>(integers[i])));
        }
        // Dynamic quantization divides by the row's maximum, so element 0 is never zero.
        if (index == 0 && values[0] == 0) {
            values[0] = to_bf16(traits_.unit);
        }
        return values;
    }

    std::uint64_t seed_, a_, b_;
    TokenTraits traits_{};
};

}  // namespace

void token_values(const TokenKey& key, std::uint32_t hidden, std::uint32_t first, std::span<std::uint16_t> out) {
    check(first + out.size() <= hidden, "token values lie inside the token");
    TokenGenerator(key, hidden).fill(first, out);
}

std::vector<std::uint16_t> token_values(const TokenKey& key, std::uint32_t hidden) {
    std::vector<std::uint16_t> values(hidden);
    token_values(key, hidden, 0, values);
    return values;
}

}  // namespace podsim
