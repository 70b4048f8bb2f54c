// SPDX-License-Identifier: Apache-2.0
/// What a kernel says it needs of the Unified Buffer is what it takes, to the granule.
#include "algorithms/dispatch/dispatch_args.hpp"
#include "tests/kernel/option_draws.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

using namespace podsim;

namespace {

std::uint64_t needed(const RunConfig& config, std::uint64_t ub_bytes) {
    const LayoutNeeds needs = config.algorithm.kernel->layout_needs(config.algorithm.options);
    const DispatchLayout layout(config.workload, config.algorithm.aiv_cores, needs.status_stride,
                                parse_block_layout(needs.block_layout));
    DispatchArgs args;
    args.workload = &config.workload;
    args.options = &config.algorithm.options;
    args.layout = &layout;
    args.cores = config.algorithm.aiv_cores;
    args.count_cores = config.algorithm.count_cores;
    args.tokens = config.workload.batch_size;
    std::uint64_t most = 0;
    for (std::uint32_t card = 0; card < config.cards; ++card) {
        for (std::uint32_t core = 0; core < args.cores; ++core) {
            args.card = card;
            args.core = core;
            most = std::max(most, config.algorithm.kernel->ub_needed(args, ub_bytes));
        }
    }
    return most;
}

/// The smallest Unified Buffer, a whole number of granules, in which everything from it on fits.
std::uint64_t smallest(const RunConfig& config) {
    std::uint64_t bytes = needed(config, std::uint64_t{1} << 30U);
    while (bytes > kUbGranule && needed(config, bytes - kUbGranule) <= bytes - kUbGranule) {
        bytes -= kUbGranule;
    }
    return bytes;
}

void fits_exactly(const Sets& sets) {
    const std::uint64_t bytes = smallest(load_run_config(kSmoke, sets));
    CAPTURE(sets, bytes);
    const auto with = [&](std::uint64_t ub) {
        return run_with(sets + Sets{fmt::format("/machine/core/ub_bytes={}", ub)});
    };
    CHECK(with(bytes)->status() == RunStatus::ok);
    const auto less = with(bytes - kUbGranule);
    CHECK(less->status() == RunStatus::mismatch);
    CHECK(less->failure() == "broken_rule");
    REQUIRE(less->diagnosis().size() == 1);
    CHECK(less->diagnosis()[0].find("of the Unified Buffer") != std::string::npos);
}

const Sizes kOdd[] = {{4, 2, 6, 3, 544, 6},  {4, 2, 4, 3, 1024, 12}, {4, 1, 7, 4, 96, 5},
                      {4, 1, 3, 2, 1056, 1}, {4, 3, 9, 4, 2048, 9},  {16, 16, 4, 3, 480, 3}};

}  // namespace

TEST_CASE("footprint: presets fit into what they say, and into no granule less", "[kernel]") {
    for (const char* name : {"baseline", "v2", "optimized", "fullmesh_gen_a"}) {
        const Sets kernel{std::string("/algorithm/name=") + name, "/check/hazards=off"};
        fits_exactly(sized({4, 2, 6, 3, 7168, 12}) + kernel);
        // Many status cells: read in pieces where UB is small.
        fits_exactly(sized({16, 24, 2, 3, 96, 4}) + kernel);
        fits_exactly(sized({6, 2, 5, 3, 544, 12}) + kernel +
                     Sets{"/workload/experts=8", "/workload/shared_experts=1", "/workload/shared_expert_cards=2"});
    }
}

TEST_CASE("footprint: any combination of options fits into what it says, and into no granule less", "[kernel]") {
    std::mt19937 random(7);
    for (int done = 0; done < 60;) {
        const Options options = drawn(random);
        if (!refuse_dispatch_options(options).empty()) {
            continue;
        }
        ++done;
        Sets sets = sized(kOdd[random() % std::size(kOdd)]) + sets_of(options) + Sets{"/check/hazards=off"};
        if (random() % 2 == 0) {
            sets.emplace_back("/workload/quant=none");
        }
        fits_exactly(sets);
    }
}
