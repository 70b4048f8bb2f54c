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
    const std::size_t count = c.count;  // a local: the loop then writes nothing it reads
    for (std::size_t i = 0; i < count; ++i) {
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
    constexpr std::uint32_t kLimit = std::bit_cast<std::uint32_t>(4194304.0F) - 1;
    std::uint32_t large = 0;            // its top bit: some magnitude is above the limit
    const std::size_t count = c.count;  // a local: the loop then writes nothing it reads
    for (std::size_t i = 0; i < count; ++i) {
        const auto v = get<float>(in, i);
        large |= kLimit - (std::bit_cast<std::uint32_t>(v) & 0x7fff'ffffU);
        put<std::int32_t>(out, i, std::bit_cast<std::int32_t>(v + kShift) - std::bit_cast<std::int32_t>(kShift));
    }
    if (large >> 31U != 0) {
        cast_to<std::int32_t, float>(c, a, d);
    }
}

/// The last two steps of quantization see small integers. Their loops have no branches and no tables, so that the
/// compiler uses the host's vector unit; what does not fit is done over the general way.
/// fp32 and fp16 differ by the bias of the exponent, here in place in an fp32, and by the length of the mantissa.
constexpr std::uint32_t kBias = (127 - 15) << 23U;

/// int32 -> fp16: up to 2^11 the integer fits the mantissa.
void cast_s32_f16(const VectorCall& c, std::span<const std::byte> a, std::span<std::byte> d) {
    const std::byte* __restrict in = a.data();
    std::byte* __restrict out = d.data();
    std::uint32_t large = 0;
    const std::size_t count = c.count;  // a local: the loop then writes nothing it reads
    for (std::size_t i = 0; i < count; ++i) {
        const auto v = get<std::int32_t>(in, i);
        large |= static_cast<std::uint32_t>(v) + 2048U;
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(v));
        const std::uint32_t magnitude = ((bits & 0x7fff'ffffU) - kBias) >> 13U;
        const std::uint32_t sign = bits >> 16U & 0x8000U;
        const std::uint32_t nonzero = v == 0 ? 0U : ~0U;
        put<std::uint16_t>(out, i, static_cast<std::uint16_t>((sign | magnitude) & nonzero));
    }
    if (large >= 4096U) {
        cast_to<half, std::int32_t>(c, a, d);
    }
}

/// fp16 -> int8, towards zero: the bias back; below 128 the host's own truncation does the rest. What is too small
/// for a normal fp16 becomes a tiny fp32, hence 0.
void cast_f16_s8_trunc(const VectorCall& c, std::span<const std::byte> a, std::span<std::byte> d) {
    const std::byte* __restrict in = a.data();
    std::byte* __restrict out = d.data();
    std::uint32_t large = 0;
    const std::size_t count = c.count;  // a local: the loop then writes nothing it reads
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t bits = get<std::uint16_t>(in, i);
        const std::uint32_t magnitude = bits & 0x7fffU;
        large |= 0x57ffU - magnitude;  // top bit: 128 or more
        const auto whole = static_cast<std::int32_t>(std::bit_cast<float>((magnitude << 13U) + kBias));
        const std::int32_t sign = -static_cast<std::int32_t>(bits >> 15U);
        put<std::int8_t>(out, i, static_cast<std::int8_t>((whole ^ sign) - sign));
    }
    if (large >> 31U != 0) {
        cast_to<std::int8_t, half>(c, a, d);
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
