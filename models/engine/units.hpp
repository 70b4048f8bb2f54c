// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Time, identifiers and addresses shared by all models.
/// Inside podsim time is int64 picoseconds and sizes are bytes; µs and GB exist only at the border.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace podsim {

using Picoseconds = std::int64_t;

/// "Never": later than every simulated instant.
inline constexpr Picoseconds kNever = std::numeric_limits<Picoseconds>::max();

constexpr double to_us(Picoseconds t) { return static_cast<double>(t) / 1e6; }

/// Strong identifiers: a CardId where a CoreId is expected does not compile.
enum class CardId : std::uint32_t {};
enum class CoreId : std::uint32_t {};   ///< AIV core within its card, 0 .. aiv_per_card-1
enum class PlaneId : std::uint32_t {};  ///< one of the parallel HCCS networks

template <class Id>
constexpr std::uint32_t index(Id id) {
    return static_cast<std::uint32_t>(id);
}

/// The atomic unit of memory and fabric: an aligned 512 B line lands whole or not at all.
inline constexpr std::uint32_t kBlockBytes = 512;
/// Granule of the Unified Buffer and of every MTE copy into it.
inline constexpr std::uint32_t kUbGranule = 32;

/// A byte of some card's global memory. One address space spans the pod.
struct GmAddress {
    CardId card{};
    std::uint64_t offset = 0;
    friend constexpr auto operator<=>(const GmAddress&, const GmAddress&) = default;
};

constexpr GmAddress operator+(GmAddress a, std::uint64_t bytes) { return {a.card, a.offset + bytes}; }

constexpr std::uint64_t line_of(std::uint64_t offset) { return offset / kBlockBytes; }

template <class T>
constexpr T ceil_div(T a, T b) {
    return (a + b - 1) / b;
}
template <class T>
constexpr T align_up(T a, T unit) {
    return ceil_div(a, unit) * unit;
}

/// Time one request of `bytes` occupies a server of `bytes_per_us` (= MB/s), rounded to the nearest ps.
constexpr Picoseconds service_time(std::uint64_t bytes, std::uint64_t bytes_per_us) {
    return static_cast<Picoseconds>((bytes * 1'000'000 + bytes_per_us / 2) / bytes_per_us);
}

}  // namespace podsim
