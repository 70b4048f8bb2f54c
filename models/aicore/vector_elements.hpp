// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Elements of vector operands, for those who evaluate instructions on them.
#include "models/aicore/data_type.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace podsim::elements {

// Elements are loaded and stored by memcpy: operands may sit at any byte of a payload.
template <class T>
T get(const std::byte* bytes, std::size_t i) {
    T value;
    std::memcpy(static_cast<void*>(&value), bytes + i * sizeof(T), sizeof(T));
    return value;
}
template <class T>
void put(std::byte* bytes, std::size_t i, T value) {
    std::memcpy(bytes + i * sizeof(T), &value, sizeof(T));
}
template <class T>
T load(std::span<const std::byte> bytes, std::size_t i) {
    return get<T>(bytes.data(), i);
}
template <class T>
void store(std::span<std::byte> bytes, std::size_t i, T value) {
    put<T>(bytes.data(), i, value);
}

/// Arithmetic happens in float for the 16-bit floats, in the type itself otherwise.
inline float widen(half h) { return to_float(h); }
inline float widen(bfloat16 b) { return to_float(b); }
template <class T>
T widen(T v) {
    return v;
}
template <class T, class W>
T narrow(W v) {
    if constexpr (std::is_same_v<T, half>) {
        return to_half(static_cast<float>(v));
    } else if constexpr (std::is_same_v<T, bfloat16>) {
        return to_bfloat16(static_cast<float>(v));
    } else {
        return static_cast<T>(v);
    }
}

/// Calls f with a value of the element type.
template <class F>
void with_type(DataType t, F f) {
    switch (t) {
        case DataType::f32:
            return f(float{});
        case DataType::f16:
            return f(half{});
        case DataType::bf16:
            return f(bfloat16{});
        case DataType::s32:
            return f(std::int32_t{});
        case DataType::u32:
            return f(std::uint32_t{});
        case DataType::s16:
            return f(std::int16_t{});
        case DataType::u16:
            return f(std::uint16_t{});
        case DataType::s8:
            return f(std::int8_t{});
        case DataType::u8:
            return f(std::uint8_t{});
        case DataType::s64:
            return f(std::int64_t{});
    }
}

}  // namespace podsim::elements
