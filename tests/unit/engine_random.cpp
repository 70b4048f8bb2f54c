// SPDX-License-Identifier: Apache-2.0
#include "models/engine/random.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

using namespace podsim;

namespace {

using Words = std::array<std::uint32_t, 4>;

/// The call of random_u128 that puts exactly this counter and key into Philox.
Words philox(const Words& counter, std::uint32_t key0, std::uint32_t key1) {
    const auto wide = [](std::uint32_t low, std::uint32_t high) { return low | std::uint64_t{high} << 32U; };
    const auto [low, high] =
        random_u128(wide(key0, key1), static_cast<RandomStream>(counter[3]), counter[2], wide(counter[0], counter[1]));
    return {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32U), static_cast<std::uint32_t>(high),
            static_cast<std::uint32_t>(high >> 32U)};
}

/// Chi-square of `draws` values of random_below(bound) against the uniform distribution.
double chi_square(std::uint64_t bound, std::uint64_t draws) {
    std::vector<double> count(bound);
    for (std::uint64_t i = 0; i < draws; ++i) {
        count[random_below(11, RandomStream::routing, 5, i, bound)] += 1;
    }
    const double expected = static_cast<double>(draws) / static_cast<double>(bound);
    double sum = 0;
    for (const double c : count) {
        sum += (c - expected) * (c - expected) / expected;
    }
    return sum;
}

}  // namespace

TEST_CASE("Philox 4x32-10 gives the published known answers") {
    // Random123 1.14, kat_vectors, "philox4x32 10"; recomputed with big integers outside this code.
    CHECK(philox({0, 0, 0, 0}, 0, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    const std::uint32_t ones = 0xffffffff;
    CHECK(philox({ones, ones, ones, ones}, ones, ones) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0) ==
          Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random values are the same on every machine") {
    // From an independent implementation of Philox over arbitrary-precision integers.
    CHECK(random_u128(1, RandomStream::routing, 3, 4) ==
          std::pair<std::uint64_t, std::uint64_t>{0x9018edeed7394d95, 0x13c3f3aed08ef4f9});
    CHECK(random_u128(0x123456789abcdef0, RandomStream::token_values, 0x100000002, 0xfedcba9876543210) ==
          std::pair<std::uint64_t, std::uint64_t>{0xf1af0e5f57713680, 0xbe66d5668621407a});
    CHECK(random_u64(7, RandomStream::fabric_reorder, 767, 47) == 0xee1d1793242fb01e);
    CHECK(random_below(1, RandomStream::routing, 3, 4, 1000) == 562);
    CHECK(random_below(7, RandomStream::fabric_reorder, 767, 47, 1000) == 930);
    CHECK(random_unit(1, RandomStream::routing, 3, 4) == 0.5628803928477498);
    CHECK(random_unit(7, RandomStream::fabric_reorder, 767, 47) == 0.9301314100486582);
}

TEST_CASE("a value does not depend on what was drawn before") {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> cells;
    for (std::uint64_t a = 0; a < 20; ++a) {
        for (std::uint64_t b = 0; b < 20; ++b) {
            cells.emplace_back(a, b);
        }
    }
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> forward;
    for (const auto& cell : cells) {
        forward[cell] = random_u64(9, RandomStream::token_values, cell.first, cell.second);
    }
    std::reverse(cells.begin(), cells.end());
    for (const auto& cell : cells) {
        CHECK(random_u64(9, RandomStream::token_values, cell.first, cell.second) == forward[cell]);
    }
}

TEST_CASE("seed, stream, a and b each lead elsewhere") {
    std::set<std::uint64_t> seen;
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32U}) {
        for (const auto stream :
             {RandomStream::token_values, RandomStream::routing, RandomStream::core_start_skew,
              RandomStream::card_start_skew, RandomStream::fabric_reorder, RandomStream::sampling}) {
            for (const std::uint64_t a : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32U}) {
                for (const std::uint64_t b : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63U}) {
                    seen.insert(random_u64(seed, stream, a, b));
                }
            }
        }
    }
    CHECK(seen.size() == 3 * 6 * 3 * 3);
}

TEST_CASE("random_below is uniform and in range") {
    // 99.9999 % quantiles of chi-square with bound-1 degrees of freedom.
    const auto [bound, limit] =
        GENERATE(table<std::uint64_t, double>({{2, 23.9}, {7, 38.3}, {16, 54.9}, {48, 108.1}, {256, 376.0}}));
    CHECK(chi_square(bound, 200 * bound) < limit);
    CHECK(random_below(3, RandomStream::sampling, 0, 0, 1) == 0);
}

TEST_CASE("random_below reaches both ends of a range near 2^32") {
    const std::uint64_t bound = (std::uint64_t{1} << 32U) - 5;
    std::uint64_t least = bound;
    std::uint64_t most = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        const std::uint64_t x = random_below(5, RandomStream::sampling, 1, i, bound);
        REQUIRE(x < bound);
        least = std::min(least, x);
        most = std::max(most, x);
    }
    CHECK(least < bound / 100);
    CHECK(most > bound - bound / 100);
}

TEST_CASE("random_unit lies from 0 to below 1 with mean 1/2 and variance 1/12") {
    constexpr int kDraws = 20'000;
    double sum = 0;
    double squares = 0;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
        const double x = random_unit(21, RandomStream::sampling, 2, i);
        REQUIRE(x >= 0.0);
        REQUIRE(x < 1.0);
        sum += x;
        squares += (x - 0.5) * (x - 0.5);
    }
    // Five standard errors: sqrt(1/12 / n) = 0.00204; of the variance, sqrt(1/180 / n) = 0.00053.
    CHECK(sum / kDraws == Approx(0.5).margin(0.0102));
    CHECK(squares / kDraws == Approx(1.0 / 12).margin(0.0027));
}

TEST_CASE("every one of the 128 bits is set half the time") {
    constexpr int kDraws = 4'000;
    std::array<int, 128> set{};
    for (std::uint64_t i = 0; i < kDraws; ++i) {
        const auto [low, high] = random_u128(1, RandomStream::token_values, i, 0);
        for (unsigned bit = 0; bit < 64; ++bit) {
            set[bit] += static_cast<int>(low >> bit & 1U);
            set[64 + bit] += static_cast<int>(high >> bit & 1U);
        }
    }
    // Six standard deviations of a fair coin: 6 * sqrt(n) / 2 = 190.
    CHECK(*std::min_element(set.begin(), set.end()) > kDraws / 2 - 190);
    CHECK(*std::max_element(set.begin(), set.end()) < kDraws / 2 + 190);
}
