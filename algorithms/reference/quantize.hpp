// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Per-token dynamic int8 quantization, as the kernels do it step by step (reference for every byte sent).
#include <cstdint>
#include <span>
#include <vector>

namespace podsim {

/// bf16 bits → fp32 (exact); q = 127 / max |x| in fp32; each x * q in fp32, to int32 rounding half to even,
/// to fp16 (scale 1.0), to int8. Writes the int8 values to `out` (same size as `row`) and returns the stored
/// scale 1 / q in fp32. An all-zero row gives zeros and scale 0 (max is not guarded; its reciprocal is inf).
float quantize_int8_dynamic(std::span<const std::uint16_t> row, std::span<std::int8_t> out);

struct Int8Row {
    std::vector<std::int8_t> values;
    float scale = 0;
};

Int8Row quantize_int8_dynamic(std::span<const std::uint16_t> row);

}  // namespace podsim
