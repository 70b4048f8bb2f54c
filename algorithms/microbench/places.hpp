// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What several microbenchmarks share: where things lie, and times as figures.
#include "algorithms/microbench/microbench.hpp"

namespace podsim {

std::vector<Microbench> copy_benches();
std::vector<Microbench> stream_benches();
std::vector<Microbench> vector_benches();
std::vector<Microbench> scalar_benches();
std::vector<Microbench> sync_benches();
std::vector<Microbench> remote_benches();

/// Marks the begin before repetition `first`: those before it warm up.
inline void begin_at(Aiv& aiv, std::uint32_t i, std::uint32_t first) {
    if (i == first) {
        aiv.Phase(kBenchBegin);
    }
}

/// GM of a card that belongs to one core.
inline constexpr std::uint64_t kCoreRegion = std::uint64_t{64} << 20U;

inline GmAddress region(std::uint32_t core, CardId card = CardId{0}) { return {card, core * kCoreRegion}; }

inline double to_ns(Picoseconds t) { return static_cast<double>(t) / 1e3; }
/// GB = 1e9: bytes a nanosecond.
inline double gigabytes_per_s(std::uint64_t bytes, Picoseconds t) { return static_cast<double>(bytes) / to_ns(t); }
inline double to_cycles(Picoseconds t, const BenchMachine& machine) {
    return static_cast<double>(t) * machine.clock_mhz / 1e6;
}

/// Cards that card 0 reaches just so: the other die, the node's other packages, the cards of the next nodes (as many
/// as a node has). Empty where the machine has none.
std::vector<CardId> peers(const BenchMachine& machine, Reach reach);

/// The same work for cores 0 … cores - 1 of card 0, each in its own region.
BenchPlan on_cores(std::uint32_t cores, const BenchWork& work);

/// Span of a plan in which one core does one thing.
Picoseconds alone(BenchRunnerIf& runner, const BenchWork& work);

}  // namespace podsim
