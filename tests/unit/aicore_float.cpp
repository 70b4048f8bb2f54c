// SPDX-License-Identifier: Apache-2.0
// 16-bit floats against arithmetic in double.
#include "models/aicore/data_type.hpp"
#include "models/engine/random.hpp"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

using namespace podsim;

namespace {

/// Value of a 16-bit float with `mantissa_bits` stored mantissa bits and an exponent bias, by definition.
double value_of(std::uint16_t bits, int mantissa_bits, int bias) {
    const int exponent_bits = 15 - mantissa_bits;
    const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    const int mantissa = bits & ((1 << mantissa_bits) - 1);
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == (1 << exponent_bits) - 1) {
        return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    }
    if (exponent == 0) {
        return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
    }
    return sign * std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
}

/// The nearest 16-bit float of a float, ties to even, by searching: floats of one sign are ordered by their bits.
std::uint16_t nearest(float f, int mantissa_bits, int bias) {
    const double v = std::fabs(static_cast<double>(f));
    const auto sign = static_cast<std::uint16_t>(std::signbit(f) ? 0x8000 : 0);
    const int infinity = ((1 << (15 - mantissa_bits)) - 1) << mantissa_bits;
    // Infinity stands where the next finite value would.
    const auto magnitude = [&](int bits) {
        return bits == infinity ? std::ldexp(1.0, (infinity >> mantissa_bits) - bias)
                                : value_of(static_cast<std::uint16_t>(bits), mantissa_bits, bias);
    };
    if (std::isinf(f)) {
        return static_cast<std::uint16_t>(sign | infinity);
    }
    int lo = 0;
    int hi = infinity;
    while (hi - lo > 1) {
        const int mid = (lo + hi) / 2;
        (magnitude(mid) <= v ? lo : hi) = mid;
    }
    const double down = v - magnitude(lo);
    const double up = magnitude(hi) - v;  // exact: both operands have few bits
    const int best = down < up || (down == up && lo % 2 == 0) ? lo : hi;
    return static_cast<std::uint16_t>(sign | best);
}

/// Floats that are hard to round: around every half-way point, and random bit patterns.
template <class Check>
void for_floats(int mantissa_bits, int bias, Check check) {
    for (std::uint32_t bits = 0; bits < 0x7fff; ++bits) {
        const double here = value_of(static_cast<std::uint16_t>(bits), mantissa_bits, bias);
        const double next = value_of(static_cast<std::uint16_t>(bits + 1), mantissa_bits, bias);
        if (!std::isfinite(here) || !std::isfinite(next)) {
            continue;
        }
        const auto middle = static_cast<float>((here + next) / 2);
        for (const float f : {static_cast<float>(here), middle, std::nextafter(middle, 0.0F),
                              std::nextafter(middle, std::numeric_limits<float>::infinity())}) {
            check(f);
            check(-f);
        }
    }
    for (std::uint64_t i = 0; i < 200'000; ++i) {
        const auto f = std::bit_cast<float>(static_cast<std::uint32_t>(random_u64(5, RandomStream::sampling, 1, i)));
        if (!std::isnan(f)) {
            check(f);
        }
    }
    for (const float f : {65504.0F, 65519.996F, 65520.0F, 65536.0F, std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::infinity(), std::numeric_limits<float>::denorm_min()}) {
        check(f);
        check(-f);
    }
}

}  // namespace

TEST_CASE("float: every half widens to its value", "[float]") {
    for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
        const double expected = value_of(static_cast<std::uint16_t>(bits), 10, 15);
        const float got = to_float(half{static_cast<std::uint16_t>(bits)});
        if (std::isnan(expected)
                ? !std::isnan(got)
                : std::bit_cast<std::uint32_t>(got) != std::bit_cast<std::uint32_t>(static_cast<float>(expected))) {
            FAIL_CHECK("half " << bits << " gives " << got << ", not " << expected);
        }
    }
}

TEST_CASE("float: every bfloat16 widens to its value", "[float]") {
    for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
        const double expected = value_of(static_cast<std::uint16_t>(bits), 7, 127);
        const float got = to_float(bfloat16{static_cast<std::uint16_t>(bits)});
        if (std::isnan(expected)
                ? !std::isnan(got)
                : std::bit_cast<std::uint32_t>(got) != std::bit_cast<std::uint32_t>(static_cast<float>(expected))) {
            FAIL_CHECK("bfloat16 " << bits << " gives " << got << ", not " << expected);
        }
    }
}

TEST_CASE("float: every half and bfloat16 survives the way there and back", "[float]") {
    for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
        const auto b = static_cast<std::uint16_t>(bits);
        const float h = to_float(half{b});
        const float bf = to_float(bfloat16{b});
        if (std::isnan(h) ? !std::isnan(to_float(to_half(h))) : to_half(h).bits != b) {
            FAIL_CHECK("half " << bits);
        }
        if (std::isnan(bf) ? !std::isnan(to_float(to_bfloat16(bf))) : to_bfloat16(bf).bits != b) {
            FAIL_CHECK("bfloat16 " << bits);
        }
    }
}

TEST_CASE("float: halves are rounded to nearest, ties to even", "[float]") {
    for_floats(10, 15, [](float f) {
        if (to_half(f).bits != nearest(f, 10, 15)) {
            FAIL_CHECK(f << " gives half " << to_half(f).bits << ", not " << nearest(f, 10, 15));
        }
    });
}

TEST_CASE("float: bfloat16 is rounded to nearest, ties to even", "[float]") {
    for_floats(7, 127, [](float f) {
        if (to_bfloat16(f).bits != nearest(f, 7, 127)) {
            FAIL_CHECK(f << " gives bfloat16 " << to_bfloat16(f).bits << ", not " << nearest(f, 7, 127));
        }
    });
}
