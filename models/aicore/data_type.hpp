// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Element types of the vector unit, under their Ascend C names.
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace podsim {

/// 16-bit floats are carried as bits; arithmetic on them goes through float.
struct half {
    std::uint16_t bits = 0;
};
struct bfloat16 {
    std::uint16_t bits = 0;
};

enum class DataType : std::uint8_t { f32, f16, bf16, s32, u32, s16, u16, s8, u8, s64 };

constexpr std::uint32_t size_of(DataType t) {
    constexpr std::uint8_t kBytes[] = {4, 2, 2, 4, 4, 2, 2, 1, 1, 8};
    return kBytes[static_cast<std::size_t>(t)];
}

constexpr std::string_view name_of(DataType t) {
    constexpr std::string_view kNames[] = {"float",   "half",     "bfloat16_t", "int32_t", "uint32_t",
                                           "int16_t", "uint16_t", "int8_t",     "uint8_t", "int64_t"};
    return kNames[static_cast<std::size_t>(t)];
}

template <class T>
struct DataTypeOf;
template <>
struct DataTypeOf<float> {
    static constexpr DataType value = DataType::f32;
};
template <>
struct DataTypeOf<half> {
    static constexpr DataType value = DataType::f16;
};
template <>
struct DataTypeOf<bfloat16> {
    static constexpr DataType value = DataType::bf16;
};
template <>
struct DataTypeOf<std::int32_t> {
    static constexpr DataType value = DataType::s32;
};
template <>
struct DataTypeOf<std::uint32_t> {
    static constexpr DataType value = DataType::u32;
};
template <>
struct DataTypeOf<std::int16_t> {
    static constexpr DataType value = DataType::s16;
};
template <>
struct DataTypeOf<std::uint16_t> {
    static constexpr DataType value = DataType::u16;
};
template <>
struct DataTypeOf<std::int8_t> {
    static constexpr DataType value = DataType::s8;
};
template <>
struct DataTypeOf<std::uint8_t> {
    static constexpr DataType value = DataType::u8;
};
template <>
struct DataTypeOf<std::int64_t> {
    static constexpr DataType value = DataType::s64;
};
template <class T>
inline constexpr DataType kDataType = DataTypeOf<T>::value;

float to_float(half h);
half to_half(float f);  ///< round to nearest even
constexpr float to_float(bfloat16 b) { return __builtin_bit_cast(float, static_cast<std::uint32_t>(b.bits) << 16U); }
bfloat16 to_bfloat16(float f);  ///< round to nearest even

}  // namespace podsim
