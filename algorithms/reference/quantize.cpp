// SPDX-License-Identifier: Apache-2.0
#include "algorithms/reference/quantize.hpp"

#include "models/engine/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace podsim {

namespace {

float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U); }

/// Adding 1.5 * 2^23 leaves no bits for a fraction: the addition itself rounds half to even. Right for |x| < 2^22
/// and, unlike std::rint, a plain instruction everywhere.
std::int32_t round_half_to_even(float x) {
    constexpr float kShift = 0x1.8p23F;
    return static_cast<std::int32_t>((x + kShift) - kShift);
}

}  // namespace

float quantize_int8_dynamic(std::span<const std::uint16_t> row, std::span<std::int8_t> out) {
    check(row.size() == out.size(), "a quantized row has as many values as its source");
    // Of two floats without sign the larger has the larger bits.
    std::uint16_t largest = 0;
    for (const std::uint16_t bits : row) {
        largest = std::max(largest, static_cast<std::uint16_t>(bits & 0x7FFFU));
    }
    if (largest == 0) {
        std::fill(out.begin(), out.end(), std::int8_t{0});
        return 0;
    }
    const float q = 127.0F / from_bf16(largest);
    // |x * q| <= 127 * (1 + 2^-23): the int32 is at most 127, which fp16 holds exactly, so that the kernels' two last
    // casts change nothing.
    for (std::size_t i = 0; i < row.size(); ++i) {
        out[i] = static_cast<std::int8_t>(round_half_to_even(from_bf16(row[i]) * q));
    }
    return 1.0F / q;
}

Int8Row quantize_int8_dynamic(std::span<const std::uint16_t> row) {
    Int8Row result;
    result.values.resize(row.size());
    result.scale = quantize_int8_dynamic(row, result.values);
    return result;
}

}  // namespace podsim
