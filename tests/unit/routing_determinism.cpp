// SPDX-License-Identifier: Apache-2.0
// Cells of generated tables, pinned so that machines and compilers can be compared. The values come from
// data/philox_reference.py, which shares no code with podsim.
#include "algorithms/routing/routing.hpp"

#include <catch2/catch.hpp>

using namespace podsim;

namespace {

using Ids = std::vector<std::int32_t>;

Ids selections(RoutingKind kind, std::uint64_t seed, std::uint32_t experts, std::uint32_t call, std::uint32_t card,
               std::size_t first) {
    Workload w;
    w.seed = seed;
    w.cards = 64;
    w.experts = experts;
    RoutingSpec spec;
    spec.kind = kind;
    const RoutingTable table = make_routing(spec, w, call).table;
    const auto ids = table.ids(card).subspan(first, 8);
    return {ids.begin(), ids.end()};
}

}  // namespace

TEST_CASE("routing generated: the same on every machine") {
    CHECK(selections(RoutingKind::uniform, 1, 256, 0, 0, 0) == Ids{107, 74, 56, 196, 199, 161, 31, 220});
    CHECK(selections(RoutingKind::uniform, 7, 256, 3, 63, 0) == Ids{66, 26, 163, 16, 83, 211, 237, 90});
    CHECK(selections(RoutingKind::balanced, 1, 256, 0, 0, 0) == Ids{112, 50, 58, 30, 132, 205, 2, 84});
    CHECK(selections(RoutingKind::balanced, 1, 256, 0, 5, 0) == Ids{175, 216, 70, 241, 134, 109, 205, 153});
    CHECK(selections(RoutingKind::balanced, 1, 256, 1, 5, 248) == Ids{81, 61, 221, 213, 209, 57, 159, 148});
    CHECK(selections(RoutingKind::zipf, 1, 64, 0, 2, 0) == Ids{17, 29, 63, 42, 38, 20, 32, 48});
    CHECK(selections(RoutingKind::zipf, (1ULL << 40U) + 5, 64, 9, 0, 0) == Ids{27, 46, 35, 47, 16, 4, 33, 36});
}
