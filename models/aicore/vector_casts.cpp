// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/vector_casts.hpp"

#include "models/aicore/vector_elements.hpp"
#include "models/engine/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace podsim {

using namespace elements;

namespace {

double rounded(double v, Round how) {
    switch (how) {
        case Round::floor:
            return std::floor(v);
        case Round::ceil:
            return std::ceil(v);
        case Round::round:
            return std::round(v);
        case Round::trunc:
            return std::trunc(v);
        default:
            return std::nearbyint(v);
    }
}

template <class To, class From>
void cast_to(const VectorCall& c, std::span<const std::byte> a, std::span<std::byte> d) {
    const std::byte* __restrict in = a.data();
    std::byte* __restrict out = d.data();
    for (std::size_t i = 0; i < c.count; ++i) {
        const auto v = widen(get<From>(in, i));
        if constexpr (std::is_integral_v<To> && std::is_floating_point_v<decltype(v)>) {
            // Float to integer saturates on the vector unit.
            const double r = rounded(static_cast<double>(v), c.round);
            const double lo = static_cast<double>(std::numeric_limits<To>::lowest());
            const double hi = static_cast<double>(std::numeric_limits<To>::max());
            put<To>(out, i, std::isnan(r) ? To{} : static_cast<To>(std::clamp(r, lo, hi)));
        } else {
            put<To>(out, i, narrow<To>(v));
        }
    }
}

/// fp32 -> int32 by round to nearest even is the hot one. Adding 1.5 * 2^23 leaves the rounded integer in the
/// low bits of the sum, for magnitudes below 2^22.
void cast_f32_s32_rint(const VectorCall& c, std::span<const std::byte> a, std::span<std::byte> d) {
    constexpr float kShift = 12582912.0F;
    const std::byte* __restrict in = a.data();
    std::byte* __restrict out = d.data();
    bool large = false;
    for (std::size_t i = 0; i < c.count; ++i) {
        const auto v = get<float>(in, i);
        large |= !(std::fabs(v) < 4194304.0F);
        put<std::int32_t>(out, i, std::bit_cast<std::int32_t>(v + kShift) - std::bit_cast<std::int32_t>(kShift));
    }
    if (large) {
        cast_to<std::int32_t, float>(c, a, d);
    }
}

/// The last two steps of quantization see small integers: exact in every type, no need for the general way.
void cast_s32_f16(const VectorCall& c, std::span<const std::byte> a, std::span<std::byte> d) {
    std::array<half, 256> small;
    for (int v = -128; v < 128; ++v) {
        small[static_cast<std::size_t>(v + 128)] = to_half(static_cast<float>(v));
    }
    for (std::size_t i = 0; i < c.count; ++i) {
        const auto v = load<std::int32_t>(a, i);
        store<half>(d, i,
                    v >= -128 && v < 128 ? small[static_cast<std::size_t>(v + 128)] : to_half(static_cast<float>(v)));
    }
}

void cast_f16_s8_trunc(const VectorCall& c, std::span<const std::byte> a, std::span<std::byte> d) {
    for (std::size_t i = 0; i < c.count; ++i) {
        const half h = load<half>(a, i);
        const std::uint32_t magnitude = h.bits & 0x7fffU;
        if (magnitude < 0x5800U) {  // below 128: drop the fraction bits of the 11-bit mantissa
            const std::uint32_t exponent = magnitude >> 10U;
            const std::uint32_t whole = exponent < 15 ? 0 : ((magnitude & 0x3ffU) | 0x400U) >> (25 - exponent);
            store<std::int8_t>(
                d, i,
                static_cast<std::int8_t>((h.bits & 0x8000U) != 0 ? -static_cast<int>(whole) : static_cast<int>(whole)));
        } else {
            const float v = to_float(h);
            store<std::int8_t>(d, i, static_cast<std::int8_t>(v > 0 ? 127 : (v < 0 ? -128 : 0)));
        }
    }
}

template <class From>
void cast_from(const VectorCall& c, std::span<const std::byte> a, std::span<std::byte> d) {
    switch (c.dst_type) {
        case DataType::f32:
            return cast_to<float, From>(c, a, d);
        case DataType::f16:
            return cast_to<half, From>(c, a, d);
        case DataType::bf16:
            return cast_to<bfloat16, From>(c, a, d);
        case DataType::s32:
            return cast_to<std::int32_t, From>(c, a, d);
        case DataType::s16:
            return cast_to<std::int16_t, From>(c, a, d);
        case DataType::s8:
            return cast_to<std::int8_t, From>(c, a, d);
        case DataType::u8:
            return cast_to<std::uint8_t, From>(c, a, d);
        default:
            break;
    }
    throw InternalError("Cast to a type it is not defined for");
}

}  // namespace

void evaluate_cast(const VectorCall& call, std::span<const std::byte> src, std::span<std::byte> dst) {
    if (call.src_type == DataType::f32 && call.dst_type == DataType::s32 &&
        (call.round == Round::rint || call.round == Round::none)) {
        return cast_f32_s32_rint(call, src, dst);
    }
    if (call.src_type == DataType::s32 && call.dst_type == DataType::f16) {
        return cast_s32_f16(call, src, dst);
    }
    if (call.src_type == DataType::f16 && call.dst_type == DataType::s8 && call.round == Round::trunc) {
        return cast_f16_s8_trunc(call, src, dst);
    }
    return with_type(call.src_type, [&](auto t) { cast_from<decltype(t)>(call, src, dst); });
}

}  // namespace podsim
