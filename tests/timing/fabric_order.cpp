// SPDX-License-Identifier: Apache-2.0
// In which order blocks land: none by default, and the two guarantees of an ordered fabric.
#include "tests/support/fabric_bench.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <utility>

using namespace podsim;
using namespace podsim::test;

namespace {

/// Rows of 14 blocks from every core of every card to the next cards, plus a hot spot on one plane.
void rows(FabricBench& bench, std::uint32_t cards, std::uint32_t cores) {
    for (std::uint32_t round = 0; round < 6; ++round) {
        for (std::uint32_t card = 0; card < cards; ++card) {
            for (std::uint32_t core = 0; core < cores; ++core) {
                const std::uint32_t to = (card + 1 + core % 2) % cards;
                const std::uint64_t row = (std::uint64_t{card} * cores + core) * 6 + round;
                const Picoseconds at = round * 300'000;
                for (std::uint64_t block = 0; block < 14; ++block) {
                    bench.write(card, to, (row * 14 + block) * 512, at, core);
                }
                bench.write(card, to, (std::uint64_t{1} << 30) + row * 7 * 512, at, core);  // all on one plane
            }
        }
    }
}

/// Number of neighbours in landing order whose tags (issue order) are reversed, per key of the source.
template <class Key>
int reversals(const FabricBench& bench, Key key) {
    std::map<decltype(key(bench.landed.front())), std::uint64_t> last;
    int count = 0;
    for (const Landed& block : bench.landed) {
        auto [it, fresh] = last.emplace(key(block), block.tag);
        if (!fresh) {
            count += block.tag < it->second ? 1 : 0;
            it->second = block.tag;
        }
    }
    return count;
}

int core_reversals(const FabricBench& bench) {
    return reversals(bench,
                     [](const Landed& b) { return std::make_pair(std::make_pair(b.source, b.core), b.destination); });
}

/// Records in which order packets left their first link, per pair of cards.
struct FirstSwitch final : BlockObserverIf {
    void sent(const BlockPacket&, CardId, CardId, Picoseconds) override {}
    void hop(const BlockPacket& packet, const LinkUse& use) override {
        const auto [it, fresh] = reached.emplace(packet.tag, std::make_pair(use.arrives, use.link));
        static_cast<void>(it);
        static_cast<void>(fresh);
    }
    void landed(const BlockPacket&, CardId, CardId, Picoseconds arrived, Picoseconds at) override {
        held += arrived < at ? 1 : 0;
    }
    std::map<std::uint64_t, std::pair<Picoseconds, std::uint32_t>> reached;
    int held = 0;
};

}  // namespace

TEST_CASE("fabric: blocks of one row land out of order by queues and paths alone", "[fabric]") {
    FabricBench bench(bench_params(2, 3, 1, 7, 2), 6);
    rows(bench, 6, 4);
    bench.engine.run();
    CHECK(bench.landed.size() == 6 * 6 * 4 * 15);
    CHECK(core_reversals(bench) > 0);
    // Within single rows too, not only between rows.
    CHECK(reversals(bench, [](const Landed& b) {
              return std::make_pair(b.destination, b.offset < (std::uint64_t{1} << 30) ? b.offset / (14 * 512) : ~0U);
          }) > 0);
}

TEST_CASE("fabric: network_in_order lands blocks in the order they reached their first switch", "[fabric]") {
    FabricParams params = bench_params(2, 3, 1, 7, 2);
    params.network_in_order.set(true);
    SECTION("alone") {}
    SECTION("against extra reordering") { params.extra_reorder.set(900'000); }
    FabricBench bench(params, 6);
    FirstSwitch watcher;
    bench.network.observe(&watcher);
    rows(bench, 6, 4);
    bench.engine.run();
    CHECK(bench.landed.size() == 6 * 6 * 4 * 15);
    CHECK(watcher.held > 0);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<Picoseconds, std::uint32_t>> last;
    for (const Landed& block : bench.landed) {
        auto& previous = last[{block.source, block.destination}];
        REQUIRE(previous <= watcher.reached.at(block.tag));
        previous = watcher.reached.at(block.tag);
    }
}

TEST_CASE("fabric: with NoC order blocks of a core land as issued", "[fabric]") {
    FabricParams params = bench_params(2, 3, 2, 7, 2);
    params.network_in_order.set(true);
    SECTION("network order alone does not give that") {
        FabricBench bench(params, 12);
        rows(bench, 12, 3);
        bench.engine.run();
        CHECK(core_reversals(bench) > 0);
    }
    params.noc_first_packet_order.set(true);
    SECTION("both") {}
    SECTION("both, against extra reordering") { params.extra_reorder.set(900'000); }
    FabricBench bench(params, 12);
    rows(bench, 12, 3);
    bench.engine.run();
    CHECK(bench.landed.size() == 6 * 12 * 3 * 15);
    CHECK(bench.completions().size() == bench.landed.size());
    CHECK(core_reversals(bench) == 0);
}

TEST_CASE("fabric: extra reordering delays by less than its bound and follows the seed", "[fabric]") {
    constexpr Picoseconds kBound = 50'000;
    FabricParams params = bench_params(1, 3, 1, 7, 0);
    const auto times = [&](std::uint64_t seed) {
        FabricBench bench(params, 3, seed);
        for (std::uint64_t i = 0; i < 70; ++i) {
            bench.write(0, 1, i * 512);
        }
        bench.engine.run();
        std::vector<Picoseconds> at(70);
        for (const Landed& block : bench.landed) {
            at[block.tag] = block.at;
        }
        return at;
    };
    const auto plain = times(1);
    params.extra_reorder.set(kBound);
    const auto a = times(1);
    CHECK(a == times(1));
    CHECK(a != times(2));
    std::set<Picoseconds> delays;
    for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(a[i] >= plain[i]);
        CHECK(a[i] < plain[i] + kBound);
        delays.insert(a[i] - plain[i]);
    }
    CHECK(delays.size() > 60);  // each block draws its own
}

TEST_CASE("fabric: the same traffic gives the same landings", "[fabric]") {
    FabricParams params = bench_params(3, 2, 2, 3, 2);
    params.path_choice.set(PathChoice::by_address);
    FabricBench first(params, 12);
    FabricBench second(params, 12);
    for (FabricBench* bench : {&first, &second}) {
        rows(*bench, 12, 2);
        bench->engine.run();
    }
    CHECK(first.landed == second.landed);
    CHECK(first.completions() == second.completions());
}
