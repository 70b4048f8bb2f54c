// SPDX-License-Identifier: Apache-2.0
// What a core pays for what it meets first: pages to translate, code to fetch. The same kernel runs with and without,
// and the difference is the misses an independent cache counts.
#include "models/engine/random.hpp"
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <list>
#include <string>
#include <vector>

using namespace podsim;
using namespace podsim::test;

namespace {

std::string either() { return GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"); }

/// Least recently used, by the book.
std::size_t misses_of(const std::vector<GmAddress>& accesses, std::uint64_t page_bytes, std::size_t entries) {
    std::list<std::pair<std::uint32_t, std::uint64_t>> held;
    std::size_t misses = 0;
    for (const GmAddress& a : accesses) {
        const std::pair page{index(a.card), a.offset / page_bytes};
        const auto at = std::find(held.begin(), held.end(), page);
        if (at == held.end()) {
            ++misses;
            if (held.size() == entries) {
                held.pop_back();
            }
        } else {
            held.erase(at);
        }
        held.push_front(page);
    }
    return misses;
}

/// One access after the other, each complete before the next.
Picoseconds time_of(const Machine& m, const std::vector<GmAddress>& accesses, int how) {
    DeviceUnderTest dut(m, {.cards = 2});
    dut.launch(
        {}, 0,
        [](Aiv& aiv, const std::vector<GmAddress>* all, int kind) -> Task<void> {
            const LocalTensor<std::uint8_t> ub{0, 64};
            for (const GmAddress& a : *all) {
                if (kind == 0) {
                    aiv.DataCopy(ub, GlobalTensor<std::uint8_t>{a}, 64);
                } else if (kind == 1) {
                    aiv.DataCopy(GlobalTensor<std::uint8_t>{a}, ub, 64);
                } else {
                    co_await aiv.LoadGm(GlobalTensor<std::uint64_t>{a});
                }
                aiv.PipeBarrierAll();
            }
            aiv.End();
        },
        &accesses, how);
    dut.run();
    return dut.end({});
}

}  // namespace

TEST_CASE("translation: an access waits for a walk when its page is not among the latest", "[cold]") {
    Machine m = machine(either());
    const std::uint64_t page = m.core.translation.page_bytes.peek();
    const std::size_t entries = m.core.translation.entries.peek();
    const int how = GENERATE(0, 1, 2);  // read, store, scalar load
    const std::uint64_t pages = GENERATE_COPY(entries - 1, entries, entries + 1, 3 * entries);
    std::vector<GmAddress> accesses;
    for (std::uint64_t i = 0; i < 4 * entries; ++i) {
        const std::uint64_t p = random_below(11, RandomStream::sampling, pages, i, pages);
        // Lines of their own: neither data cache nor conflicts tell first from second accesses. A scalar load stays
        // home.
        const std::uint32_t card = how < 2 && p % 3 == 0 ? 1 : 0;
        accesses.push_back({CardId{card}, p * page + i * kBlockBytes % page});
    }
    const Picoseconds warm = time_of(m, accesses, how);
    const Picoseconds walk = 123'456;
    m.core.translation.walk.set(walk);
    const std::size_t misses = misses_of(accesses, page, entries);
    CHECK(misses >= std::min<std::size_t>(pages, entries) / 2);
    CHECK(time_of(m, accesses, how) - warm == static_cast<Picoseconds>(misses) * walk);
}

TEST_CASE("translation: a copy over a page's end waits twice, a poll loop once", "[cold]") {
    Machine m = machine(either());
    const std::uint64_t page = m.core.translation.page_bytes.peek();
    const Polling polling = GENERATE(Polling::elided, Polling::explicit_steps);
    const auto time = [&](bool poll) {
        DeviceUnderTest dut(m, {.polling = polling});
        const std::vector<std::int32_t> one{1};
        dut.preset({CardId{0}, page}, std::as_bytes(std::span(one)));
        dut.launch(
            {}, 0,
            [](Aiv& aiv, std::uint64_t edge, bool loop) -> Task<void> {
                if (loop) {
                    const LocalTensor<std::int32_t> word{0, 8};
                    PollSpec spec;
                    spec.copy = aiv.PollCopy(word, GlobalTensor<std::int32_t>{{CardId{0}, edge}}, {1, 32, 0, 0});
                    Aiv::PollCompare(spec, word, Compare::eq, 1);
                    co_await aiv.PollUntil(spec);
                } else {
                    aiv.DataCopy(LocalTensor<std::uint8_t>{0, 2048},
                                 GlobalTensor<std::uint8_t>{{CardId{0}, edge - 1024}}, 2048);
                }
                aiv.PipeBarrierAll();
                aiv.End();
            },
            page, poll);
        dut.run();
        return dut.end({});
    };
    const Picoseconds copy = time(false);
    const Picoseconds loop = time(true);
    const Picoseconds walk = 1'000'000;  // longer than the copy: both waits show in full
    m.core.translation.walk.set(walk);
    CHECK(time(true) - loop == walk);
    // The second half's requests start a walk later; those of the first are back long before.
    CHECK(time(false) - copy == 2 * walk);
}

TEST_CASE("instructions: code costs its lines when it is met first, and again when the cache was too small", "[cold]") {
    Machine m = machine(either());
    const std::uint32_t bytes = m.core.instructions.instruction_bytes.peek();
    const std::uint32_t held = m.core.instructions.cache_bytes.peek() / bytes;
    const std::uint32_t n = held * 3 / 8;  // two such calls fit, three do not
    const int sites = GENERATE(1, 2, 3);
    const auto time = [&] {
        DeviceUnderTest dut(m, {});
        dut.launch(
            {}, 0,
            [](Aiv& aiv, std::uint32_t instructions, int places) -> Task<void> {
                for (int turn = 0; turn < 2; ++turn) {
                    aiv.Alu(instructions);
                    if (places > 1) {
                        aiv.Alu(instructions);
                    }
                    if (places > 2) {
                        aiv.Alu(instructions);
                    }
                }
                aiv.End();
                co_return;
            },
            n, sites);
        dut.run();
        return dut.end({});
    };
    const Picoseconds warm = time();
    m.core.instructions.miss.set(64'000);
    const std::int64_t line = m.core.instructions.line.peek();
    const std::int64_t misses = sites == 3 ? 6 : sites;
    CHECK(time() - warm == misses * (std::int64_t{n} * bytes * 64'000 / line));
}
