// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Microbenchmarks: small kernels as a kernel engineer writes them to measure one thing, and what is made of their
/// times. They know of the machine only what anyone does who owns one (BenchMachine); a time is the distance of two
/// Phase() marks, which cost nothing and carry the exact simulated instant.
#include "algorithms/kernel_api/aiv.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace podsim {

/// Marks of a kernel: what lies between the n-th begin and the n-th end is its n-th round.
inline constexpr const char* kBenchBegin = "bench.begin";
inline constexpr const char* kBenchEnd = "bench.end";

struct BenchMachine {
    std::uint32_t cards = 0;
    std::uint32_t cards_per_node = 0;
    std::uint32_t dies_per_package = 0;
    std::uint32_t cores = 0;  ///< AIV cores of a card
    std::uint32_t ub_bytes = 0;
    std::uint32_t clock_mhz = 0;
};

struct BenchWork;
/// What one core does; `work` outlives the run.
using BenchBody = Task<void> (*)(Aiv& aiv, const BenchWork& work);

/// One core's part of a microbenchmark. Each kernel says which of these it looks at.
struct BenchWork {
    CoreRef on;
    BenchBody body = nullptr;
    GmAddress from, to;
    std::uint32_t bytes = 0;   ///< of a copy's burst, or of an operand
    std::uint32_t blocks = 1;  ///< bursts of a copy
    std::uint32_t times = 1;   ///< repetitions that are measured together
    std::uint64_t step = 0;    ///< bytes in GM from one repetition's place to the next
    std::uint32_t first = 0;   ///< place of the first repetition, in steps
    std::uint32_t wrap = 0;    ///< places until the first one comes again; 0 = never
    CacheHint hint = CacheHint::normal;
    std::uint32_t cores = 1;  ///< that take part on the card

    /// Offset of repetition `i` from `from` or `to`.
    std::uint64_t place(std::uint32_t i) const { return (wrap == 0 ? first + i : (first + i) % wrap) * step; }
};

struct BenchPlan {
    std::uint32_t cards = 1;  ///< the first so many of the pod exist
    std::vector<BenchWork> works;
    struct Resident {
        GmAddress at;
        std::uint32_t bytes = 0;
    };
    std::vector<Resident> resident;  ///< in the L2 when the kernels start
};

struct BenchTimes {
    struct Core {
        std::vector<Picoseconds> begin, end;  ///< by round
    };
    std::vector<Core> cores;  ///< in the order of BenchPlan::works

    /// From the first begin to the last end of a round.
    Picoseconds span(std::size_t round = 0) const;
};

class BenchRunnerIf {
public:
    virtual ~BenchRunnerIf() = default;
    virtual const BenchMachine& machine() const = 0;
    /// All works start together on an idle pod.
    virtual BenchTimes run(const BenchPlan& plan) = 0;
};

/// How far away another card is.
enum class Reach : std::uint8_t { package, node, pod };

struct BenchArguments {
    std::uint32_t bytes = 0;
    std::uint32_t cores = 0;
    Reach reach = Reach::package;
};

struct Microbench {
    std::string_view name;
    std::string_view unit;  ///< of what `measure` returns
    bool takes_bytes = false, takes_cores = false, takes_reach = false;
    /// Nothing where the machine is too small for the arguments.
    std::optional<double> (*measure)(BenchRunnerIf& runner, const BenchArguments& arguments) = nullptr;
};

/// All microbenchmarks.
const std::vector<Microbench>& microbenches();
/// The one of that name, nullptr if there is none.
const Microbench* find_microbench(std::string_view name);

}  // namespace podsim
