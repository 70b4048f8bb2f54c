// SPDX-License-Identifier: Apache-2.0
#include "algorithms/routing/input.hpp"

#include "models/engine/error.hpp"
#include "models/engine/random.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace podsim {

namespace {

constexpr std::uint32_t kPerDraw = 8;  ///< 16-bit numbers in 128 bits
constexpr std::uint32_t kHeaderDraw = 0xFFFF'FFFF;
constexpr float kOutlierFactor = 64;

/// Round to nearest even. Exact inputs come from 16-bit integers, so never NaN or infinite.
std::uint16_t to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
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
        for (std::uint32_t chunk = first / kPerDraw; chunk * kPerDraw < end; ++chunk) {
            const auto [low, high] = draw(chunk);
            const std::uint32_t from = std::max(first, chunk * kPerDraw);
            const std::uint32_t to = std::min(end, (chunk + 1) * kPerDraw);
            for (std::uint32_t i = from; i < to; ++i) {
                const std::uint32_t lane = i % kPerDraw;
                out[i - first] = to_bf16(number(i, lane < 4 ? low >> (16 * lane) : high >> (16 * (lane - 4))));
            }
        }
        for (std::uint32_t n = 0; n < traits_.outliers; ++n) {
            const std::uint32_t i = traits_.outlier_at[n];
            if (i >= first && i < end) {
                const auto [low, high] = draw(i / kPerDraw);
                const std::uint32_t lane = i % kPerDraw;
                out[i - first] =
                    to_bf16(kOutlierFactor * number(i, lane < 4 ? low >> (16 * lane) : high >> (16 * (lane - 4))));
            }
        }
    }

private:
    std::pair<std::uint64_t, std::uint64_t> draw(std::uint32_t index) const {
        return random_u128(seed_, RandomStream::token_values, a_, b_ | index);
    }

    float number(std::uint32_t index, std::uint64_t bits) const {
        const auto integer = static_cast<std::int16_t>(bits & 0xFFFFU);
        // Dynamic quantization divides by the row's maximum, so element 0 is never zero.
        return traits_.unit * static_cast<float>(index == 0 && integer == 0 ? 1 : integer);
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
