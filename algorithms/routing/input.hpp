// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The run's input: the hidden values of every token, from a counter-based generator.
///
/// Values are bf16, uniform over [-4, 4] times 1, 1/2, 1/4 or 1/8 (one factor a token); in one token of eight
/// one to four values are 64 times larger, as outlier channels are. No row is all zero: element 0 never is.
/// A value depends on (seed, call, card, token, index, hidden) only.
#include <cstdint>
#include <span>
#include <vector>

namespace podsim {

struct TokenKey {
    std::uint64_t seed = 1;
    std::uint32_t call = 0;  ///< below 2^24
    std::uint32_t card = 0;
    std::uint32_t token = 0;
    friend bool operator==(const TokenKey&, const TokenKey&) = default;
};

/// bf16 bit patterns of elements [first, first + out.size()) of a token of `hidden` values.
void token_values(const TokenKey& key, std::uint32_t hidden, std::uint32_t first, std::span<std::uint16_t> out);

/// The whole token.
std::vector<std::uint16_t> token_values(const TokenKey& key, std::uint32_t hidden);

}  // namespace podsim
