// SPDX-License-Identifier: Apache-2.0
// What vector instructions compute, against plain loops in the widest type.
#include "models/aicore/vector_ops.hpp"
#include "models/engine/random.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

using namespace podsim;

namespace {

template <class T>
constexpr bool kSmallFloat = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;
template <class T>
constexpr bool kFloating = kSmallFloat<T> || std::is_floating_point_v<T>;

template <class T>
bool same(T a, T b) {
    if constexpr (kSmallFloat<T>) {
        return a.bits == b.bits;
    } else {
        using Bytes = std::array<std::byte, sizeof(T)>;  // of floats too: NaN is the same as NaN, -0 is not 0
        return std::bit_cast<Bytes>(a) == std::bit_cast<Bytes>(b);
    }
}

__extension__ using WideInteger = __int128;
__extension__ using WideUnsigned = unsigned __int128;

/// float for floating types (the ALU's own width), a wide integer for the others.
template <class T>
using Wide = std::conditional_t<kFloating<T>, float, WideInteger>;

template <class T>
Wide<T> wide(T v) {
    if constexpr (kSmallFloat<T>) {
        return to_float(v);
    } else {
        return static_cast<Wide<T>>(v);
    }
}
/// Integers wrap.
template <class T>
T narrow(Wide<T> v) {
    if constexpr (std::is_same_v<T, half>) {
        return to_half(v);
    } else if constexpr (std::is_same_v<T, bfloat16>) {
        return to_bfloat16(v);
    } else if constexpr (std::is_same_v<T, float>) {
        return v;
    } else {
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(static_cast<WideUnsigned>(v)));
    }
}

/// Values of all magnitudes, finite, and the corners.
template <class T>
std::vector<T> values(std::size_t count, std::uint64_t stream) {
    std::vector<T> out(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t r = random_u64(11, RandomStream::sampling, stream, i);
        if constexpr (kFloating<T>) {
            const double magnitude = std::ldexp(static_cast<double>(r >> 40), static_cast<int>(r % 20) - 28);
            out[i] = narrow<T>(static_cast<float>((r & 1024) != 0 ? -magnitude : magnitude));
        } else {
            out[i] = static_cast<T>(r >> (r % 3 == 0 ? 0 : 40));
            if (i % 17 == 0) {
                out[i] = i % 2 == 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
            }
        }
        if (i % 13 == 5) {
            out[i] = T{};
        }
    }
    return out;
}

template <class To, class From>
VectorCall call_of(VectorOp op, std::uint32_t count) {
    VectorCall c;
    c.op = op;
    c.src_type = kDataType<From>;
    c.dst_type = kDataType<To>;
    c.count = count;
    return c;
}
template <class T>
void set_scalar(VectorCall& c, T value) {
    std::memcpy(&c.scalar, &value, sizeof(T));
}

template <class To, class From>
std::vector<To> result(const VectorCall& c, const std::vector<From>& a, const std::vector<From>& b = {}) {
    REQUIRE(defined(c));
    std::vector<std::byte> out(result_bytes(c), std::byte{0xee});
    evaluate(c, std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), out);
    REQUIRE(out.size() % sizeof(To) == 0);
    std::vector<To> typed(out.size() / sizeof(To));
    std::memcpy(static_cast<void*>(typed.data()), out.data(), out.size());
    return typed;
}

template <class T, class F>
void check_each(const std::vector<T>& got, std::size_t count, F expected) {
    REQUIRE(got.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
        const T want = expected(i);
        if (!same(got[i], want)) {
            FAIL_CHECK("element " << i << " is wrong");
        }
    }
}

constexpr std::uint32_t kN = 333;

}  // namespace

TEMPLATE_TEST_CASE("vector ops: arithmetic", "[vector]", float, half, bfloat16, std::int32_t, std::uint32_t,
                   std::int16_t, std::uint16_t, std::int8_t, std::uint8_t, std::int64_t) {
    using T = TestType;
    const auto a = values<T>(kN, 1);
    const auto b = values<T>(kN, 2);
    const T s = values<T>(20, 3)[7];
    const auto two = [&](VectorOp op, auto f) {
        check_each(result<T>(call_of<T, T>(op, kN), a, b), kN,
                   [&](std::size_t i) { return narrow<T>(f(wide(a[i]), wide(b[i]))); });
    };
    const auto with_scalar = [&](VectorOp op, auto f) {
        VectorCall c = call_of<T, T>(op, kN);
        set_scalar(c, s);
        check_each(result<T>(c, a), kN, [&](std::size_t i) { return narrow<T>(f(wide(a[i]), wide(s))); });
    };
    using W = Wide<T>;
    two(VectorOp::add, [](W x, W y) { return static_cast<W>(x + y); });
    two(VectorOp::sub, [](W x, W y) { return static_cast<W>(x - y); });
    two(VectorOp::mul, [](W x, W y) { return static_cast<W>(x * y); });
    two(VectorOp::max, [](W x, W y) { return x < y ? y : x; });
    two(VectorOp::min, [](W x, W y) { return y < x ? y : x; });
    with_scalar(VectorOp::adds, [](W x, W y) { return static_cast<W>(x + y); });
    with_scalar(VectorOp::muls, [](W x, W y) { return static_cast<W>(x * y); });
    with_scalar(VectorOp::maxs, [](W x, W y) { return x < y ? y : x; });
    with_scalar(VectorOp::mins, [](W x, W y) { return y < x ? y : x; });
    check_each(result<T>(call_of<T, T>(VectorOp::relu, kN), a), kN,
               [&](std::size_t i) { return wide(a[i]) < W{} ? T{} : a[i]; });
    VectorCall fill = call_of<T, T>(VectorOp::duplicate, kN);
    set_scalar(fill, s);
    check_each(result<T>(fill, std::vector<T>{}), kN, [&](std::size_t) { return s; });
    check_each(result<T>(call_of<T, T>(VectorOp::copy, kN), a), kN, [&](std::size_t i) { return a[i]; });
}

TEMPLATE_TEST_CASE("vector ops: Div and Abs of floats", "[vector]", float, half, bfloat16) {
    using T = TestType;
    const auto a = values<T>(kN, 1);
    const auto b = values<T>(kN, 2);
    const auto got = result<T>(call_of<T, T>(VectorOp::div, kN), a, b);
    for (std::size_t i = 0; i < kN; ++i) {
        const float q = wide(a[i]) / wide(b[i]);
        CHECK((std::isnan(q) ? std::isnan(wide(got[i])) : same(got[i], narrow<T>(q))));
    }
    check_each(result<T>(call_of<T, T>(VectorOp::abs, kN), a), kN,
               [&](std::size_t i) { return narrow<T>(std::fabs(wide(a[i]))); });
}

TEMPLATE_TEST_CASE("vector ops: integer Div truncates and gives 0 by 0", "[vector]", std::int32_t, std::int16_t,
                   std::int64_t, std::uint8_t) {
    using T = TestType;
    const auto a = values<T>(kN, 1);
    auto b = values<T>(kN, 2);
    b[3] = static_cast<T>(-1);  // the lowest value by -1 wraps
    std::vector<T> dividends = a;
    dividends[3] = std::numeric_limits<T>::lowest();
    check_each(result<T>(call_of<T, T>(VectorOp::div, kN), dividends, b), kN,
               [&](std::size_t i) { return b[i] == 0 ? T{0} : narrow<T>(wide(dividends[i]) / wide(b[i])); });
}

TEMPLATE_TEST_CASE("vector ops: bits", "[vector]", std::int16_t, std::uint16_t, std::int32_t, std::uint32_t) {
    using T = TestType;
    const auto a = values<T>(kN, 1);
    const auto b = values<T>(kN, 2);
    check_each(result<T>(call_of<T, T>(VectorOp::bit_and, kN), a, b), kN,
               [&](std::size_t i) { return static_cast<T>(a[i] & b[i]); });
    check_each(result<T>(call_of<T, T>(VectorOp::bit_or, kN), a, b), kN,
               [&](std::size_t i) { return static_cast<T>(a[i] | b[i]); });
    check_each(result<T>(call_of<T, T>(VectorOp::bit_not, kN), a), kN,
               [&](std::size_t i) { return static_cast<T>(~a[i]); });
}

TEMPLATE_TEST_CASE("vector ops: reductions and gathers with a stride", "[vector]", float, half, std::int32_t) {
    using T = TestType;
    const auto a = values<T>(kN, 1);
    const auto [first, every] = GENERATE(table<std::uint32_t, std::uint32_t>({{0, 1}, {3, 8}, {7, 2}, {332, 5}}));
    VectorCall c = call_of<T, T>(VectorOp::reduce_sum, kN);
    c.first = first;
    c.every = every;
    Wide<T> sum{};
    Wide<T> most = wide(a[first]);
    std::vector<T> taken;
    for (std::size_t i = first; i < kN; i += every) {
        sum = sum + wide(a[i]);
        most = std::max(most, wide(a[i]));
        taken.push_back(a[i]);
    }
    check_each(result<T>(c, a), 1, [&](std::size_t) { return narrow<T>(sum); });
    c.op = VectorOp::reduce_max;
    check_each(result<T>(c, a), 1, [&](std::size_t) { return narrow<T>(most); });
    c.op = VectorOp::gather_mask;
    check_each(result<T>(c, a), taken.size(), [&](std::size_t i) { return taken[i]; });
}

TEMPLATE_TEST_CASE("vector ops: comparisons set one bit an element", "[vector]", float, half, std::int32_t) {
    using T = TestType;
    const auto a = values<T>(kN, 1);
    const T s = a[7];
    const Compare how = GENERATE(Compare::eq, Compare::ne, Compare::lt, Compare::le, Compare::gt, Compare::ge);
    VectorCall c = call_of<std::uint8_t, T>(VectorOp::compare_scalar, kN);
    c.compare = how;
    set_scalar(c, s);
    const auto bits = result<std::uint8_t>(c, a);
    REQUIRE(bits.size() == (kN + 7) / 8);
    for (std::size_t i = 0; i < bits.size() * 8; ++i) {
        bool want = false;
        if (i < kN) {
            const auto x = wide(a[i]);
            const auto y = wide(s);
            const bool table[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
            want = table[static_cast<std::size_t>(how)];
        }
        CHECK(((bits[i / 8] >> (i % 8)) & 1) == (want ? 1 : 0));
    }
}

TEST_CASE("vector ops: gathering by bits and counting them", "[vector]") {
    const auto a = values<std::int32_t>(kN, 1);
    const auto mask = values<std::int32_t>(kN / 32 + 1, 4);
    const auto bit = [&](std::size_t i) { return (static_cast<std::uint32_t>(mask[i / 32]) >> (i % 32)) & 1U; };
    std::vector<std::int32_t> taken;
    for (std::size_t i = 0; i < kN; ++i) {
        if (bit(i) != 0) {
            taken.push_back(a[i]);
        }
    }
    const std::size_t number = taken.size();
    REQUIRE(number > 10);
    taken.resize(kN, 0);
    check_each(result<std::int32_t>(call_of<std::int32_t, std::int32_t>(VectorOp::gather_bits, kN), a, mask), kN,
               [&](std::size_t i) { return taken[i]; });
    check_each(result<std::uint32_t>(call_of<std::uint32_t, std::int32_t>(VectorOp::count_bits, kN), mask), 1,
               [&](std::size_t) { return static_cast<std::uint32_t>(number); });
}

namespace {

double rounded(double v, Round how) {
    const double below = std::floor(v);
    switch (how) {
        case Round::floor:
            return below;
        case Round::ceil:
            return std::ceil(v);
        case Round::trunc:
            return v < 0 ? std::ceil(v) : below;
        case Round::round:
            return v < 0 ? -std::floor(-v + 0.5) : std::floor(v + 0.5);
        default: {
            const double rest = v - below;
            const bool odd = std::fmod(below, 2.0) != 0;
            return rest > 0.5 || (rest == 0.5 && odd) ? below + 1 : below;
        }
    }
}

template <class From>
std::vector<From> cast_values() {
    auto out = values<From>(kN, 6);
    if constexpr (kFloating<From>) {
        // Ties, borders of the integer types, and what saturates.
        std::size_t i = 20;
        for (const float v : {0.5F,
                              1.5F,
                              2.5F,
                              -0.5F,
                              -1.5F,
                              -2.5F,
                              127.4F,
                              127.5F,
                              -128.5F,
                              -129.0F,
                              255.5F,
                              -1.0F,
                              32767.5F,
                              -32769.0F,
                              2147483520.0F,
                              2147483648.0F,
                              -2147483648.0F,
                              -2147483904.0F,
                              3e38F,
                              std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity()}) {
            out[i++] = narrow<From>(v);
        }
    }
    return out;
}

template <class To, class From>
void check_cast() {
    if constexpr (!std::is_same_v<To, From>) {
        const auto a = cast_values<From>();
        for (const Round how : {Round::none, Round::rint, Round::floor, Round::ceil, Round::round, Round::trunc}) {
            VectorCall c = call_of<To, From>(VectorOp::cast, kN);
            c.round = how;
            const auto got = result<To>(c, a);
            REQUIRE(got.size() == kN);
            for (std::size_t i = 0; i < kN; ++i) {
                To want;
                if constexpr (kFloating<To>) {
                    // By way of float; from wider integers the conversion to float rounds to nearest.
                    want = narrow<To>(static_cast<float>(wide(a[i])));
                } else if constexpr (kFloating<From>) {
                    const double r = rounded(static_cast<double>(wide(a[i])), how);
                    const auto lo = static_cast<double>(std::numeric_limits<To>::lowest());
                    const auto hi = static_cast<double>(std::numeric_limits<To>::max());
                    want = r <= lo ? std::numeric_limits<To>::lowest()
                                   : (r >= hi ? std::numeric_limits<To>::max() : static_cast<To>(r));
                } else {
                    want = narrow<To>(wide(a[i]));
                }
                if (!same(got[i], want)) {
                    FAIL_CHECK(name_of(kDataType<From>) << " to " << name_of(kDataType<To>) << ", rounding "
                                                        << static_cast<int>(how) << ", element " << i);
                }
            }
        }
    }
}

template <class From>
void check_casts() {
    check_cast<float, From>();
    check_cast<half, From>();
    check_cast<bfloat16, From>();
    check_cast<std::int32_t, From>();
    check_cast<std::int16_t, From>();
    check_cast<std::int8_t, From>();
    check_cast<std::uint8_t, From>();
}

}  // namespace

TEMPLATE_TEST_CASE("vector ops: Cast between all pairs of types, all roundings", "[vector]", float, half, bfloat16,
                   std::int32_t, std::uint32_t, std::int16_t, std::uint16_t, std::int8_t, std::uint8_t, std::int64_t) {
    check_casts<TestType>();
}

TEST_CASE("vector ops: NaN casts to 0 and stays NaN among floats", "[vector]") {
    const std::vector<float> nan{std::numeric_limits<float>::quiet_NaN()};
    for (const Round how : {Round::none, Round::rint, Round::floor, Round::trunc}) {
        VectorCall c = call_of<std::int32_t, float>(VectorOp::cast, 1);
        c.round = how;
        CHECK(result<std::int32_t>(c, nan)[0] == 0);
        c = call_of<std::int8_t, float>(VectorOp::cast, 1);
        c.round = how;
        CHECK(result<std::int8_t>(c, nan)[0] == 0);
    }
    CHECK(std::isnan(to_float(result<half>(call_of<half, float>(VectorOp::cast, 1), nan)[0])));
    CHECK(std::isnan(to_float(result<bfloat16>(call_of<bfloat16, float>(VectorOp::cast, 1), nan)[0])));
}

TEST_CASE("vector ops: undefined pairs are known as such", "[vector]") {
    CHECK_FALSE(defined(call_of<float, float>(VectorOp::cast, 1)));
    CHECK_FALSE(defined(call_of<std::int64_t, float>(VectorOp::cast, 1)));
    CHECK_FALSE(defined(call_of<float, half>(VectorOp::add, 1)));
    CHECK_FALSE(defined(call_of<float, float>(VectorOp::bit_and, 1)));
    CHECK_FALSE(defined(call_of<std::int32_t, std::int32_t>(VectorOp::abs, 1)));
}

TEST_CASE("vector ops: CumSum of counts is exact in float") {
    std::vector<float> counts(300), sums(300);
    std::uint32_t total = 0;
    std::vector<float> expected;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto n = static_cast<std::uint32_t>(i * 37 % 129);
        counts[i] = static_cast<float>(n);
        total += n;
        expected.push_back(static_cast<float>(total));
    }
    VectorCall call;
    call.op = VectorOp::cum_sum;
    call.src_type = call.dst_type = DataType::f32;
    call.count = 300;
    evaluate(call, std::as_bytes(std::span(counts)), {}, std::as_writable_bytes(std::span(sums)));
    CHECK(sums == expected);
}
