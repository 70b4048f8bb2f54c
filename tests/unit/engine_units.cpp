// SPDX-License-Identifier: Apache-2.0
#include "models/engine/units.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <type_traits>

using namespace podsim;

TEST_CASE("microseconds exist only at the border") {
    CHECK(to_us(84'000'000) == 84.0);
    CHECK(to_us(1) == 1e-6);
    CHECK(to_us(0) == 0.0);
    static_assert(std::is_same_v<Picoseconds, std::int64_t>);
    CHECK(kNever > Picoseconds{1'000'000} * 3600 * 1'000'000);  // an hour
}

TEST_CASE("identifiers do not mix") {
    static_assert(!std::is_convertible_v<CardId, CoreId>);
    static_assert(!std::is_convertible_v<std::uint32_t, PlaneId>);
    static_assert(!std::is_convertible_v<CardId, std::uint32_t>);
    CHECK(index(CardId{767}) == 767);
    CHECK(index(CoreId{47}) == 47);
}

TEST_CASE("ceil_div and align_up at and around multiples") {
    const auto [value, unit, quotient] = GENERATE(table<std::uint64_t, std::uint64_t, std::uint64_t>(
        {{0, 32, 0}, {1, 32, 1}, {31, 32, 1}, {32, 32, 1}, {33, 32, 2}, {7168, 512, 14}, {7172, 512, 15}, {5, 1, 5}}));
    CHECK(ceil_div(value, unit) == quotient);
    CHECK(align_up(value, unit) == quotient * unit);
}

TEST_CASE("a line is 512 bytes") {
    CHECK(line_of(0) == 0);
    CHECK(line_of(511) == 0);
    CHECK(line_of(512) == 1);
    CHECK(line_of((std::uint64_t{1} << 36U) + 512) == (std::uint64_t{1} << 27U) + 1);
}

TEST_CASE("a GM address is a card and an offset, ordered by card first") {
    const GmAddress a{CardId{3}, 100};
    CHECK(a + 412 == GmAddress{CardId{3}, 512});
    CHECK(GmAddress{CardId{2}, 1'000'000} < a);
    CHECK(a < a + 1);
}

TEST_CASE("service time is bytes over rate, to the nearest picosecond") {
    // 512 B at 28 GB/s: 512 / 28,000 us = 18,285.714… ps
    CHECK(service_time(512, 28'000) == 18'286);
    CHECK(service_time(1, 1'000'000) == 1);
    CHECK(service_time(0, 28'000) == 0);
    CHECK(service_time(1, 2'000'000) == 1);  // half a picosecond goes up
    CHECK(service_time(1, 2'000'001) == 0);
    // 64 GB at 1 TB/s: no overflow on the way to 64 ms
    CHECK(service_time(64'000'000'000, 1'000'000) == 64'000'000'000);
}
