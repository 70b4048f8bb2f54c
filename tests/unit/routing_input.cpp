// SPDX-License-Identifier: Apache-2.0
#include "algorithms/routing/input.hpp"
#include "models/engine/error.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

using namespace podsim;

namespace {

float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U); }

}  // namespace

// Values from data/philox_reference.py, which shares no code with podsim.
TEST_CASE("routing input: the same on every machine") {
    const auto plain = token_values(TokenKey{1, 0, 0, 0}, 64);
    CHECK(std::vector(plain.begin(), plain.begin() + 4) == std::vector<std::uint16_t>{0x3ED3, 0xBD0B, 0xBEF0, 0x3DB6});
    CHECK(std::vector(plain.end() - 2, plain.end()) == std::vector<std::uint16_t>{0xBEF3, 0xBDE0});
    const auto other = token_values(TokenKey{(1ULL << 40U) + 5, 5, 287, 127}, 40);
    CHECK(std::vector(other.begin(), other.begin() + 2) == std::vector<std::uint16_t>{0xBD28, 0x3EA5});
    CHECK(std::vector(other.begin() + 31, other.begin() + 34) == std::vector<std::uint16_t>{0xBE8E, 0xBEAF, 0x3EDC});
    const auto outliers = token_values(TokenKey{1, 0, 0, 1}, 64);
    CHECK(outliers[22] == 0x41BE);
    CHECK(outliers[51] == 0xC1E3);
}

TEST_CASE("routing input: any part of a token equals that part of the whole") {
    for (const std::uint32_t token : {0U, 1U, 2U}) {  // token 1 has outliers
        const TokenKey key{1, 0, 0, token};
        const auto whole = token_values(key, 100);
        for (std::uint32_t first = 0; first <= 100; first += 7) {
            for (std::uint32_t count = 0; first + count <= 100; count += 9) {
                std::vector<std::uint16_t> part(count);
                token_values(key, 100, first, part);
                CHECK(std::equal(part.begin(), part.end(), whole.begin() + first));
            }
        }
    }
    std::vector<std::uint16_t> beyond(2);
    CHECK_THROWS_AS(token_values(TokenKey{}, 100, 99, beyond), InternalError);
}

TEST_CASE("routing input: tokens differ by every part of their key") {
    std::set<std::vector<std::uint16_t>> seen;
    for (const TokenKey& key : {TokenKey{1, 0, 0, 0}, TokenKey{2, 0, 0, 0}, TokenKey{1, 1, 0, 0}, TokenKey{1, 0, 1, 0},
                                TokenKey{1, 0, 0, 1}, TokenKey{1ULL << 32U, 0, 0, 0}}) {
        CHECK(seen.insert(token_values(key, 32)).second);
    }
}

TEST_CASE("routing input: values are in range, varied, and never a row of zeros") {
    std::uint32_t with_outliers = 0;
    std::set<float> widths;
    for (std::uint32_t token = 0; token < 2000; ++token) {
        const auto values = token_values(TokenKey{3, 1, 2, token}, 512);
        CHECK((values[0] & 0x7FFFU) != 0);
        float largest = 0;
        double sum = 0;
        std::size_t large = 0;
        for (const std::uint16_t bits : values) {
            const float x = from_bf16(bits);
            REQUIRE(std::isfinite(x));
            largest = std::max(largest, std::abs(x));
            sum += static_cast<double>(x);
            large += std::abs(x) > 4 ? 1 : 0;
        }
        CHECK(largest <= 4 * 64);
        CHECK(large <= 4);
        with_outliers += large > 0 ? 1 : 0;
        if (large == 0) {
            CHECK(std::abs(sum / 512) < 0.6);  // 6 sigma at the largest width
            widths.insert(std::exp2(std::ceil(std::log2(largest))));
        }
    }
    CHECK(with_outliers > 2000 / 8 * 7 / 10);
    CHECK(with_outliers < 2000 / 8 * 12 / 10);
    CHECK(widths.contains(4));
    CHECK(widths.contains(0.5F));
}

TEST_CASE("routing input: one value a token works") {
    for (std::uint32_t token = 0; token < 200; ++token) {
        CHECK((token_values(TokenKey{1, 0, 0, token}, 1)[0] & 0x7FFFU) != 0);
    }
}
