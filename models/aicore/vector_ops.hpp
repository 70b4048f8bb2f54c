// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a vector instruction computes: pure functions from bytes to bytes. What it costs: vector_unit.hpp.
#include "models/aicore/data_type.hpp"
#include "models/engine/observer.hpp"
#include "models/engine/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace podsim {

enum class VectorOp : std::uint8_t {
    duplicate,  ///< dst[i] = scalar
    copy,       ///< dst[i] = src0[i]
    add,
    sub,
    mul,
    div,
    max,
    min,
    adds,
    muls,
    maxs,
    mins,
    abs,
    relu,
    bit_and,
    bit_or,
    bit_not,
    cast,            ///< src type to dst type under `round`
    reduce_sum,      ///< dst[0] = sum of src0[first + i * every]
    reduce_max,      ///< dst[0] = max
    compare_scalar,  ///< bit i of dst = src0[i] `compare` scalar
    gather_mask,     ///< dst[i] = src0[first + i * every]
    gather_bits,     ///< dst = those src0[i] whose bit in src1 is set, in order; the rest of dst zero
    count_bits,      ///< dst[0] (uint32) = number of set bits among the first `count` of src0
    cum_sum,         ///< dst[i] = src0[0] + ... + src0[i]
};
inline constexpr std::size_t kVectorOps = static_cast<std::size_t>(VectorOp::cum_sum) + 1;

/// Ascend C names, as in the machine file's vector table.
std::string_view name_of(VectorOp op);

enum class Round : std::uint8_t { none, rint, floor, ceil, round, trunc };
enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge };

struct VectorCall {
    VectorOp op{};
    DataType src_type{};
    DataType dst_type{};
    Round round = Round::none;
    Compare compare = Compare::eq;
    std::uint32_t count = 0;   ///< elements of the source operated on (duplicate: of the destination)
    std::uint64_t scalar = 0;  ///< bits of the scalar operand, in the low bytes
    std::uint32_t first = 0;   ///< gather_mask, reduce_*: first element taken …
    std::uint32_t every = 1;   ///< … and the distance to the next
    /// duplicate, copy: the operation on each of `pieces` places, `count` elements each, their starts
    /// `src_pitch` and `dst_pitch` bytes apart; dst and src0 then span all of them. The hardware's masked
    /// repeats with strides.
    std::uint32_t pieces = 1;
    std::uint32_t src_pitch = 0, dst_pitch = 0;
    UbRange dst, src0, src1;
    friend bool operator==(const VectorCall&, const VectorCall&) = default;
};
/// The call on the place number `piece` of a call with several.
VectorCall piece_of(const VectorCall& call, std::uint32_t piece);

/// Bytes the result has; of one piece, where there are several.
std::uint32_t result_bytes(const VectorCall& call);
/// Puts what the call touches in UB into `event`.
void tell_ranges(const VectorCall& call, InstructionEvent& event);
/// True when the pair of types is one this operation is defined for.
bool defined(const VectorCall& call);
/// Computes the result; spans have the sizes the call states.
void evaluate(const VectorCall& call, std::span<const std::byte> src0, std::span<const std::byte> src1,
              std::span<std::byte> dst);

}  // namespace podsim
