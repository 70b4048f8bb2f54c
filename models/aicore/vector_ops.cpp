// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/vector_ops.hpp"

#include "models/aicore/vector_casts.hpp"
#include "models/aicore/vector_elements.hpp"
#include "models/engine/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace podsim {

using namespace elements;

namespace {

template <class T>
T scalar_of(const VectorCall& call) {
    T value;
    std::memcpy(static_cast<void*>(&value), &call.scalar, sizeof(T));
    return value;
}

/// Integer arithmetic wraps, as the hardware's does without saturation.
template <class W>
W wrap_add(W a, W b) {
    if constexpr (std::is_integral_v<W>) {
        return static_cast<W>(static_cast<std::make_unsigned_t<W>>(a) + static_cast<std::make_unsigned_t<W>>(b));
    } else {
        return a + b;
    }
}
template <class W>
W wrap_sub(W a, W b) {
    if constexpr (std::is_integral_v<W>) {
        return static_cast<W>(static_cast<std::make_unsigned_t<W>>(a) - static_cast<std::make_unsigned_t<W>>(b));
    } else {
        return a - b;
    }
}
template <class W>
W wrap_mul(W a, W b) {
    if constexpr (std::is_integral_v<W>) {
        return static_cast<W>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    } else {
        return a * b;
    }
}

/// By zero gives 0; the lowest value by -1 wraps instead of trapping the host.
template <class W>
W wrap_div(W a, W b) {
    if constexpr (std::is_integral_v<W>) {
        if (b == W{}) {
            return W{};
        }
        if constexpr (std::is_signed_v<W>) {
            if (b == W{-1}) {
                return wrap_sub(W{}, a);
            }
        }
    }
    return static_cast<W>(a / b);
}

// The result never overlaps its operands; saying so lets the compiler use the host's vector unit.
template <class T, class F>
void map2(const VectorCall& c, std::span<const std::byte> a, std::span<const std::byte> b, std::span<std::byte> d,
          F f) {
    const std::byte* __restrict left = a.data();
    const std::byte* __restrict right = b.data();
    std::byte* __restrict out = d.data();
    const std::size_t count = c.count;
    for (std::size_t i = 0; i < count; ++i) {
        put<T>(out, i, narrow<T>(f(widen(get<T>(left, i)), widen(get<T>(right, i)))));
    }
}
template <class T, class F>
void map1(const VectorCall& c, std::span<const std::byte> a, std::span<std::byte> d, F f) {
    const std::byte* __restrict in = a.data();
    std::byte* __restrict out = d.data();
    const std::size_t count = c.count;
    for (std::size_t i = 0; i < count; ++i) {
        put<T>(out, i, narrow<T>(f(widen(get<T>(in, i)))));
    }
}

/// The largest of count elements, in 16 lanes: a single running maximum waits for itself at every step.
template <class T, class W>
W largest(const std::byte* in, std::size_t count, W lowest) {
    constexpr std::size_t kLanes = 16;
    std::array<W, kLanes> best;
    best.fill(lowest);
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const W v = widen(get<T>(in, i + lane));
            best[lane] = best[lane] < v ? v : best[lane];
        }
    }
    for (; i < count; ++i) {
        best[0] = std::max(best[0], widen(get<T>(in, i)));
    }
    return *std::max_element(best.begin(), best.end());
}

template <class W>
bool holds(Compare how, W a, W b) {
    switch (how) {
        case Compare::eq:
            return a == b;
        case Compare::ne:
            return a != b;
        case Compare::lt:
            return a < b;
        case Compare::le:
            return a <= b;
        case Compare::gt:
            return a > b;
        case Compare::ge:
            return a >= b;
    }
    return false;
}

template <class T>
void typed(const VectorCall& c, std::span<const std::byte> a, std::span<const std::byte> b, std::span<std::byte> d) {
    using W = decltype(widen(T{}));
    const auto s = widen(scalar_of<T>(c));
    switch (c.op) {
        case VectorOp::duplicate:
            for (std::size_t i = 0; i < c.count; ++i) {
                store<T>(d, i, scalar_of<T>(c));
            }
            return;
        case VectorOp::add:
            return map2<T>(c, a, b, d, [](W x, W y) { return wrap_add(x, y); });
        case VectorOp::sub:
            return map2<T>(c, a, b, d, [](W x, W y) { return wrap_sub(x, y); });
        case VectorOp::mul:
            return map2<T>(c, a, b, d, [](W x, W y) { return wrap_mul(x, y); });
        case VectorOp::div:
            return map2<T>(c, a, b, d, [](W x, W y) { return wrap_div(x, y); });
        case VectorOp::max:
            return map2<T>(c, a, b, d, [](W x, W y) { return std::max(x, y); });
        case VectorOp::min:
            return map2<T>(c, a, b, d, [](W x, W y) { return std::min(x, y); });
        case VectorOp::adds:
            return map1<T>(c, a, d, [s](W x) { return wrap_add(x, s); });
        case VectorOp::muls:
            return map1<T>(c, a, d, [s](W x) { return wrap_mul(x, s); });
        case VectorOp::maxs:
            return map1<T>(c, a, d, [s](W x) { return std::max(x, s); });
        case VectorOp::mins:
            return map1<T>(c, a, d, [s](W x) { return std::min(x, s); });
        case VectorOp::relu:
            return map1<T>(c, a, d, [](W x) { return std::max(x, W{}); });
        case VectorOp::abs:
            if constexpr (std::is_floating_point_v<W>) {
                return map1<T>(c, a, d, [](W x) { return std::fabs(x); });
            }
            break;
        case VectorOp::bit_and:
        case VectorOp::bit_or:
        case VectorOp::bit_not:
            if constexpr (std::is_integral_v<T>) {
                if (c.op == VectorOp::bit_not) {
                    return map1<T>(c, a, d, [](W x) { return static_cast<W>(~x); });
                }
                const bool is_and = c.op == VectorOp::bit_and;
                return map2<T>(c, a, b, d, [is_and](W x, W y) { return static_cast<W>(is_and ? x & y : x | y); });
            }
            break;
        case VectorOp::reduce_sum: {
            W sum{};
            for (std::size_t i = c.first; i < c.count; i += c.every) {
                sum = wrap_add(sum, widen(load<T>(a, i)));
            }
            store<T>(d, 0, narrow<T>(sum));
            return;
        }
        case VectorOp::cum_sum: {
            W sum{};
            for (std::size_t i = 0; i < c.count; ++i) {
                sum = wrap_add(sum, widen(load<T>(a, i)));
                store<T>(d, i, narrow<T>(sum));
            }
            return;
        }
        case VectorOp::reduce_max: {
            W best = std::numeric_limits<W>::lowest();
            if (c.first == 0 && c.every == 1) {
                store<T>(d, 0, narrow<T>(largest<T>(a.data(), c.count, best)));
                return;
            }
            for (std::size_t i = c.first; i < c.count; i += c.every) {
                best = std::max(best, widen(load<T>(a, i)));
            }
            store<T>(d, 0, narrow<T>(best));
            return;
        }
        case VectorOp::compare_scalar: {
            std::fill(d.begin(), d.end(), std::byte{0});
            for (std::size_t i = 0; i < c.count; ++i) {
                if (holds(c.compare, widen(load<T>(a, i)), s)) {
                    d[i / 8] |= std::byte{1} << (i % 8);
                }
            }
            return;
        }
        case VectorOp::gather_mask:
            for (std::size_t i = c.first, out = 0; i < c.count; i += c.every, ++out) {
                store<T>(d, out, load<T>(a, i));
            }
            return;
        case VectorOp::gather_bits: {
            std::fill(d.begin(), d.end(), std::byte{0});
            std::size_t out = 0;
            for (std::size_t i = 0; i < c.count; ++i) {
                if ((b[i / 8] & (std::byte{1} << (i % 8))) != std::byte{0}) {
                    store<T>(d, out++, load<T>(a, i));
                }
            }
            return;
        }
        default:
            break;
    }
    throw InternalError("vector operation evaluated on a type it is not defined for");
}

std::uint32_t taken(const VectorCall& c) { return c.count <= c.first ? 0 : ceil_div(c.count - c.first, c.every); }

}  // namespace

std::string_view name_of(VectorOp op) {
    constexpr std::string_view kNames[kVectorOps] = {
        "Duplicate", "Copy",      "Add",           "Sub",        "Mul",        "Div",        "Max",   "Min", "Adds",
        "Muls",      "Maxs",      "Mins",          "Abs",        "Relu",       "And",        "Or",    "Not", "Cast",
        "ReduceSum", "ReduceMax", "CompareScalar", "GatherMask", "GatherMask", "GatherMask", "CumSum"};
    return kNames[static_cast<std::size_t>(op)];
}

std::uint32_t result_bytes(const VectorCall& c) {
    switch (c.op) {
        case VectorOp::reduce_sum:
        case VectorOp::reduce_max:
            return size_of(c.dst_type);
        case VectorOp::compare_scalar:
            return ceil_div(c.count, 8U);
        case VectorOp::gather_mask:
            return taken(c) * size_of(c.dst_type);
        case VectorOp::count_bits:
            return 4;
        default:
            return c.count * size_of(c.dst_type);
    }
}

void tell_ranges(const VectorCall& call, InstructionEvent& event) {
    event.reads[0] = call.src0;
    event.reads[1] = call.src1;
    const bool strided = call.dst_pitch > 0;
    event.writes[0] = strided ? call.dst : UbRange{call.dst.offset, result_bytes(call)};
    event.bursts = strided ? call.pieces : 1;
    event.burst_bytes = strided ? result_bytes(call) : 0;
    event.burst_stride = call.dst_pitch;
    event.read_stride = call.src_pitch;
}

VectorCall piece_of(const VectorCall& call, std::uint32_t piece) {
    VectorCall one = call;
    const std::uint32_t bytes = call.count * size_of(call.dst_type);
    one.pieces = 1;
    one.src_pitch = one.dst_pitch = 0;
    one.dst = {call.dst.offset + piece * call.dst_pitch, bytes};
    if (call.src0.length > 0) {
        one.src0 = {call.src0.offset + piece * call.src_pitch, bytes};
    }
    return one;
}

bool defined(const VectorCall& c) {
    const bool floating = c.src_type == DataType::f32 || c.src_type == DataType::f16 || c.src_type == DataType::bf16;
    switch (c.op) {
        case VectorOp::abs:
            return floating && c.src_type == c.dst_type;
        case VectorOp::bit_and:
        case VectorOp::bit_or:
        case VectorOp::bit_not:
            return !floating && c.src_type == c.dst_type;
        case VectorOp::cast:
            return c.src_type != c.dst_type && c.dst_type != DataType::u32 && c.dst_type != DataType::u16 &&
                   c.dst_type != DataType::s64;
        case VectorOp::compare_scalar:
        case VectorOp::count_bits:
            return true;
        default:
            return c.src_type == c.dst_type;
    }
}

void evaluate(const VectorCall& c, std::span<const std::byte> src0, std::span<const std::byte> src1,
              std::span<std::byte> dst) {
    if (c.op == VectorOp::copy) {
        std::memcpy(dst.data(), src0.data(), dst.size());
        return;
    }
    if (c.op == VectorOp::count_bits) {
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < c.count; ++i) {
            bits += (src0[i / 8] & (std::byte{1} << (i % 8))) != std::byte{0} ? 1U : 0U;
        }
        store(dst, 0, bits);
        return;
    }
    if (c.op == VectorOp::cast) {
        return evaluate_cast(c, src0, dst);
    }
    with_type(c.src_type, [&](auto t) { typed<decltype(t)>(c, src0, src1, dst); });
}

}  // namespace podsim
