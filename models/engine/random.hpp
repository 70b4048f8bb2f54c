// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Counter-based random numbers (Philox 4x32-10, Random123): a value depends only on (seed, stream, a, b),
/// never on the order in which values are drawn, so results do not depend on event order or job count.
#include <cstdint>
#include <utility>

namespace podsim {

/// What a random number is for; a new use takes a new stream and disturbs no other.
enum class RandomStream : std::uint32_t {
    token_values = 1,
    routing = 2,
    core_start_skew = 3,
    card_start_skew = 4,
    fabric_reorder = 5,
    sampling = 6,
};

/// 64 random bits for (seed, stream, a, b).
std::uint64_t random_u64(std::uint64_t seed, RandomStream stream, std::uint64_t a, std::uint64_t b);

/// 128 random bits at once, the cheapest way to fill buffers.
std::pair<std::uint64_t, std::uint64_t> random_u128(std::uint64_t seed, RandomStream stream, std::uint64_t a,
                                                    std::uint64_t b);

/// Uniform integer in [0, bound), bound > 0; portable (no std distribution), bias below 2^-32 for bound < 2^32.
std::uint64_t random_below(std::uint64_t seed, RandomStream stream, std::uint64_t a, std::uint64_t b,
                           std::uint64_t bound);

/// Uniform double in [0, 1) with 53 random bits.
double random_unit(std::uint64_t seed, RandomStream stream, std::uint64_t a, std::uint64_t b);

}  // namespace podsim
