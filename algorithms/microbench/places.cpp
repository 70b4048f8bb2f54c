// SPDX-License-Identifier: Apache-2.0
#include "algorithms/microbench/places.hpp"

#include <algorithm>

namespace podsim {

Picoseconds BenchTimes::span(std::size_t round) const {
    Picoseconds begin = kNever;
    Picoseconds end = 0;
    for (const Core& core : cores) {
        if (round < core.begin.size()) {
            begin = std::min(begin, core.begin[round]);
        }
        if (round < core.end.size()) {
            end = std::max(end, core.end[round]);
        }
    }
    return end - begin;
}

std::vector<CardId> peers(const BenchMachine& machine, Reach reach) {
    const std::uint32_t node = machine.cards_per_node;
    const std::uint32_t from = reach == Reach::package ? 1 : reach == Reach::node ? machine.dies_per_package : node;
    const std::uint32_t to = reach == Reach::package ? machine.dies_per_package
                             : reach == Reach::node  ? node
                                                     : 2 * node;
    std::vector<CardId> cards;
    for (std::uint32_t c = from; c < std::min(to, machine.cards); ++c) {
        cards.push_back(CardId{c});
    }
    return cards;
}

BenchPlan on_cores(std::uint32_t cores, const BenchWork& work) {
    BenchPlan plan;
    for (std::uint32_t c = 0; c < cores; ++c) {
        BenchWork one = work;
        one.on = {CardId{0}, CoreId{c}};
        one.from = region(c);
        one.to = one.from + kCoreRegion / 2;
        one.cores = cores;
        plan.works.push_back(one);
    }
    return plan;
}

Picoseconds alone(BenchRunnerIf& runner, const BenchWork& work) {
    BenchPlan plan;
    plan.works.push_back(work);
    return runner.run(plan).span();
}

}  // namespace podsim
