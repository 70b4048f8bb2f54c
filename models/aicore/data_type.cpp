// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/data_type.hpp"

#include <bit>

namespace podsim {

float to_float(half h) {
    const std::uint32_t sign = static_cast<std::uint32_t>(h.bits & 0x8000U) << 16U;
    const std::uint32_t exponent = (h.bits >> 10U) & 0x1fU;
    const std::uint32_t mantissa = h.bits & 0x3ffU;
    if (exponent == 0x1f) {
        return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13U));
    }
    if (exponent == 0) {
        const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
        return sign != 0 ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (mantissa << 13U));
}

half to_half(float f) {
    const auto bits = std::bit_cast<std::uint32_t>(f);
    const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) {
        return {static_cast<std::uint16_t>(sign | 0x7e00U)};
    }
    if (magnitude >= 0x477ff000U) {  // rounds beyond 65504
        return {static_cast<std::uint16_t>(sign | 0x7c00U)};
    }
    if (magnitude < 0x38800000U) {  // subnormal half: adding 0.5 aligns and rounds in one step
        const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
        return {static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(aligned) - 0x3f000000U))};
    }
    const std::uint32_t odd = (magnitude >> 13U) & 1U;
    return {static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U + 0xfffU + odd) >> 13U))};
}

bfloat16 to_bfloat16(float f) {
    const auto bits = std::bit_cast<std::uint32_t>(f);
    if ((bits & 0x7fffffffU) > 0x7f800000U) {
        return {static_cast<std::uint16_t>((bits >> 16U) | 0x40U)};
    }
    return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U)};
}

}  // namespace podsim
