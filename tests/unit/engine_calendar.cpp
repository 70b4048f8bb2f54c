// SPDX-License-Identifier: Apache-2.0
// The calendar queue against a sorted set.
#include "models/engine/calendar.hpp"
#include "models/engine/engine_if.hpp"
#include "models/engine/error.hpp"
#include "models/engine/random.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <tuple>

using namespace podsim;

namespace {

using Entry = std::tuple<Picoseconds, std::uint64_t, std::uint64_t>;
Entry entry(const Event& e) { return {e.at, e.key, e.tag}; }

/// The calendar and the set, fed alike.
struct Pair {
    Calendar calendar;
    std::set<Entry> sorted;
    std::uint64_t next_tag = 0;

    void push(Picoseconds at, std::uint64_t key) {
        calendar.push({at, key, next_tag});
        sorted.insert({at, key, next_tag++});
    }
    Picoseconds pop() {
        REQUIRE(calendar.size() == sorted.size());
        const Event* next = calendar.peek();
        REQUIRE(next != nullptr);
        REQUIRE(entry(*next) == *sorted.begin());
        REQUIRE(entry(calendar.pop()) == *sorted.begin());
        const Picoseconds at = std::get<0>(*sorted.begin());
        sorted.erase(sorted.begin());
        return at;
    }
};

std::uint64_t draw(std::uint64_t seed, std::uint64_t i, std::uint64_t bound) {
    return random_below(seed, RandomStream::sampling, 7, i, bound);
}

}  // namespace

TEST_CASE("calendar: any mix of near, far and present events comes out sorted", "[engine]") {
    const std::uint64_t seed = GENERATE(range(1, 9));
    // The farthest an event of the scenario lies ahead: inside a slot, inside the ring, far beyond it.
    const auto reach = GENERATE(as<std::uint64_t>{}, 3, 600, 20'000, 4'000'000, 4'300'000, 60'000'000, 5'000'000'000);
    Pair pair;
    Picoseconds now = 0;
    std::uint64_t i = 0;
    for (int step = 0; step < 4'000; ++step) {
        const bool grow = pair.sorted.empty() || draw(seed, ++i, 100) < (step < 2'500 ? 55U : 40U);
        if (grow) {
            const std::uint64_t bound = draw(seed, ++i, 3) == 0 ? reach : 700;
            const auto ahead = static_cast<Picoseconds>(draw(seed, ++i, bound));
            // Keys are unique, as the engine's are.
            const std::uint64_t key = draw(seed, ++i, 1U << 20);
            pair.push(now + ahead, key << 20 | i);
        } else {
            now = pair.pop();
        }
    }
    while (!pair.sorted.empty()) {
        pair.pop();
    }
    CHECK(pair.calendar.peek() == nullptr);
    CHECK(pair.calendar.size() == 0);
}

TEST_CASE("calendar: events may be put into the slot being emptied, before those already there", "[engine]") {
    Pair pair;
    for (std::uint64_t k = 0; k < 20; ++k) {
        pair.push(100 + static_cast<Picoseconds>(k), k);
    }
    CHECK(pair.pop() == 100);
    pair.push(100, 50);
    pair.push(105, 1);
    pair.push(511, 0);
    pair.push(512, 0);
    CHECK(pair.pop() == 100);
    while (!pair.sorted.empty()) {
        pair.pop();
    }
}

TEST_CASE("calendar: a peek far ahead does not keep earlier events from coming first", "[engine]") {
    Pair pair;
    pair.push(1, 1);
    pair.pop();
    pair.push(50'000'000, 2);
    REQUIRE(pair.calendar.peek()->at == 50'000'000);  // the calendar has moved on to that slot
    pair.push(49'999'000, 3);
    pair.push(2, 4);
    pair.push(50'000'000, 1);
    pair.push(54'300'000, 5);
    pair.push(10'000'000, 6);
    while (!pair.sorted.empty()) {
        pair.pop();
    }
}

TEST_CASE("calendar: an event a whole ring ahead does not land in today's slot", "[engine]") {
    const Picoseconds ring = 512 * 8192;
    Pair pair;
    pair.push(10, 1);
    for (int round = 1; round <= 5; ++round) {
        pair.push(10 + round * ring, 1);
        pair.push(round * ring - 1, 1);
        pair.push(round * ring, 1);
        pair.push(round * ring + 511, 1);
    }
    while (!pair.sorted.empty()) {
        pair.pop();
    }
}

TEST_CASE("calendar: popping nothing is podsim's bug", "[engine]") {
    Calendar calendar;
    CHECK(calendar.peek() == nullptr);
    CHECK_THROWS_AS(calendar.pop(), InternalError);
}

TEST_CASE("calendar: keys order by phase, then unit, then sequence", "[engine]") {
    using event_key::pack;
    CHECK(pack(0, (1U << 28) - 1, (std::uint64_t{1} << 34) - 1) < pack(1, 0, 0));
    CHECK(pack(1, 3, (std::uint64_t{1} << 34) - 1) < pack(1, 4, 0));
    CHECK(pack(2, 3, 7) < pack(2, 3, 8));
    CHECK(event_key::phase(pack(2, 3, 7)) == 2);
    CHECK(event_key::unit(pack(2, 268'435'455, 7)) == 268'435'455);
    CHECK(before({1, 9, 0}, {2, 0, 0}));
    CHECK(before({2, 0, 0}, {2, 1, 0}));
    CHECK_FALSE(before({2, 1, 0}, {2, 1, 0}));
}
