// SPDX-License-Identifier: Apache-2.0
#include "algorithms/reference/quantize.hpp"
#include "algorithms/routing/input.hpp"
#include "models/engine/error.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

using namespace podsim;

namespace {

/// Exact for values that bf16 can hold.
std::uint16_t bf16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    REQUIRE((bits & 0xFFFFU) == 0);
    return static_cast<std::uint16_t>(bits >> 16U);
}

Int8Row quantize(const std::vector<float>& values) {
    std::vector<std::uint16_t> row(values.size());
    std::transform(values.begin(), values.end(), row.begin(), bf16);
    return quantize_int8_dynamic(row);
}

using Bytes = std::vector<std::int8_t>;

/// The same in double: quotients and products of floats there are exact or, rounded once more to float, rounded
/// as if once (53 >= 2 * 24 + 2 bits).
Int8Row second_opinion(const std::vector<std::uint16_t>& row) {
    const auto value = [](std::uint16_t bits) {
        const auto exponent = static_cast<int>(bits >> 7U & 0xFFU);
        const double significand = (exponent == 0 ? 0.0 : 1.0) + (bits & 0x7FU) / 128.0;
        const double magnitude = std::ldexp(significand, std::max(exponent, 1) - 127);
        return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
    };
    double largest = 0;
    for (const std::uint16_t bits : row) {
        largest = std::fmax(largest, std::fabs(value(bits)));
    }
    const auto q = static_cast<float>(127.0 / largest);
    Int8Row result;
    for (const std::uint16_t bits : row) {
        const auto y = static_cast<float>(value(bits) * static_cast<double>(q));
        const double below = std::floor(static_cast<double>(y));
        const double rest = static_cast<double>(y) - below;
        const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2.0) != 0);
        result.values.push_back(static_cast<std::int8_t>(below + (up ? 1 : 0)));
    }
    result.scale = static_cast<float>(1.0 / static_cast<double>(q));
    return result;
}

}  // namespace

TEST_CASE("reference quantizer: rows worked out by hand") {
    SECTION("maximum 127: values stay, halves go to even") {
        const Int8Row r = quantize({127, 1, -2, 0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F, 0.75F, -0.0F, -127});
        CHECK(r.values == Bytes{127, 1, -2, 0, 2, 2, 0, -2, -2, 1, 0, -127});
        CHECK(r.scale == 1.0F);
    }
    SECTION("maximum 2: q = 63.5") {
        const Int8Row r = quantize({2, 1, -1, 0.5F, 0.25F, -0.125F, 0.0078125F});
        // 127; 63.5 → 64; -63.5 → -64; 31.75; 15.875; -7.9375; 0.496
        CHECK(r.values == Bytes{127, 64, -64, 32, 16, -8, 0});
        CHECK(r.scale == 1.0F / 63.5F);
    }
    SECTION("maximum 254 at a negative value: q = 0.5") {
        const Int8Row r = quantize({-254, 1, 3, 5, -1, 7});
        CHECK(r.values == Bytes{-127, 0, 2, 2, 0, 4});
        CHECK(r.scale == 2.0F);
    }
    SECTION("one value") {
        const Int8Row r = quantize({-0.375F});
        CHECK(r.values == Bytes{-127});
        CHECK(r.scale == 1.0F / (127.0F / 0.375F));
    }
    SECTION("a row of zeros, which the kernels do not guard") {
        const Int8Row r = quantize({0.0F, -0.0F});
        CHECK(r.values == Bytes{0, 0});
        CHECK(r.scale == 0.0F);
    }
}

TEST_CASE("reference quantizer: every bf16 maximum reaches 127 and not more") {
    // From 2^-119 on 127 / maximum is finite.
    for (std::uint32_t bits = 0x0400; bits < 0x7E00; ++bits) {
        const std::vector<std::uint16_t> row{static_cast<std::uint16_t>(bits),
                                             static_cast<std::uint16_t>(bits | 0x8000U)};
        if (quantize_int8_dynamic(row).values != Bytes{127, -127}) {
            FAIL("maximum " << bits);
        }
    }
}

TEST_CASE("reference quantizer: agrees with a second formulation") {
    for (std::uint32_t token = 0; token < 300; ++token) {
        const auto row = token_values(TokenKey{11, 2, 3, token}, 1000);
        const Int8Row first = quantize_int8_dynamic(row);
        const Int8Row second = second_opinion(row);
        CHECK(first.values == second.values);
        CHECK(std::bit_cast<std::uint32_t>(first.scale) == std::bit_cast<std::uint32_t>(second.scale));
    }
    // All values of three binades under each of several maxima: many products near a half.
    for (const std::uint32_t largest : {0x4000U, 0x402BU, 0x4055U, 0x407FU}) {
        std::vector<std::uint16_t> row;
        for (std::uint32_t bits = 0x3E80; bits <= largest; ++bits) {
            row.push_back(static_cast<std::uint16_t>(bits));
            row.push_back(static_cast<std::uint16_t>(bits | 0x8000U));
        }
        CHECK(quantize_int8_dynamic(row).values == second_opinion(row).values);
    }
}

TEST_CASE("reference quantizer: refuses an output of another size") {
    const std::vector<std::uint16_t> row(4, 0x3F80);
    std::vector<std::int8_t> out(3);
    CHECK_THROWS_AS(quantize_int8_dynamic(row, out), InternalError);
}
