// SPDX-License-Identifier: Apache-2.0
// Working card by card gives every unit the same events as working in order of time does.
#include "models/engine/engine.hpp"
#include "models/engine/error.hpp"
#include "models/engine/random.hpp"
#include "tests/support/simulation_context.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace podsim;
using namespace podsim::test;

namespace {

constexpr std::uint32_t kCards = 6;
constexpr std::uint32_t kUnitsPerCard = 3;
constexpr std::uint32_t kSwitches = 2;
constexpr Picoseconds kGrid = 32;

struct Seen {
    Picoseconds at = 0;
    Phase phase{};
    std::uint64_t tag = 0;
    friend bool operator==(const Seen&, const Seen&) = default;
};
using Log = std::vector<std::vector<Seen>>;  // per unit

/// Units of cards and switches that wake each other at random, across cards only as far ahead as `lookahead` says.
class Traffic final : public sc_core::sc_module {
public:
    sc_core::sc_port<EngineIf> engine{"engine"};
    Log log{std::size_t{kCards} * kUnitsPerCard + kSwitches};

    Traffic(const sc_core::sc_module_name& name, const Lookahead& lookahead, std::uint64_t seed)
        : sc_module(name), lookahead_(lookahead), seed_(seed) {
        for (std::uint32_t i = 0; i < log.size(); ++i) {
            units_.push_back(std::make_unique<Member>());
            units_.back()->owner = this;
            units_.back()->number = i;
        }
    }

private:
    struct Member final : Unit {
        void on_event(Picoseconds now, Phase phase, std::uint64_t tag) override {
            owner->act(number, {now, phase, tag});
        }
        Traffic* owner = nullptr;
        std::uint32_t number = 0;
    };
    static bool is_switch(std::uint32_t unit) { return unit >= kCards * kUnitsPerCard; }
    std::uint32_t group(std::uint32_t unit) const { return unit / kUnitsPerCard / lookahead_.cards_together; }

    void act(std::uint32_t self, const Seen& seen) {
        log[self].push_back(seen);
        // Chances depend on the unit's own history alone, so that both ways of working draw the same.
        std::uint64_t n = log[self].size() * 16;
        const auto draw = [&](std::uint64_t bound) {
            return random_below(seed_, RandomStream::sampling, self, ++n, bound);
        };
        if (log[self].size() > 300) {
            return;
        }
        const std::uint64_t children = draw(9) < 8 ? 1 : 2;
        for (std::uint64_t i = 0; i < children; ++i) {
            const auto to = static_cast<std::uint32_t>(draw(units_.size()));
            Picoseconds least = 0;
            if (is_switch(to)) {
                least = is_switch(self) ? 0 : lookahead_.enter;
            } else if (is_switch(self)) {
                least = lookahead_.leave;
            } else if (group(self) != group(to)) {
                least = lookahead_.enter + lookahead_.leave;
            }
            // Equal times are frequent, and now and then it is long. Events of several partitions to one unit at one
            // time and phase have no order, so what comes from elsewhere has times of its own.
            const auto more = static_cast<Picoseconds>(draw(4) == 0 ? draw(5'000'000) : draw(3) * kGrid);
            Picoseconds at = align_up(seen.at + least + more, kGrid);
            if (least > 0) {
                at += self + 1;
            } else if (at == seen.at) {
                at += kGrid;
            }
            engine->schedule(*units_[to], at, static_cast<Phase>(draw(3)), self * 1'000'000ULL + log[self].size());
        }
    }
    void end_of_elaboration() override {
        for (std::uint32_t i = 0; i < units_.size(); ++i) {
            engine->register_unit(*units_[i], is_switch(i) ? std::nullopt : std::optional(CardId{i / kUnitsPerCard}));
        }
    }
    void start_of_simulation() override {
        for (std::uint32_t i = 0; i < units_.size(); ++i) {
            engine->schedule(*units_[i], i * 37, Phase::wake, i);
        }
    }

    Lookahead lookahead_;
    std::uint64_t seed_;
    std::vector<std::unique_ptr<Member>> units_;
};

Log simulate(Wake wake, const Lookahead& lookahead, std::uint64_t seed, Picoseconds quantum) {
    const SimulationContext simulation;
    EngineParams params;
    params.wake = wake;
    params.quantum = quantum;
    Engine engine("engine", params);
    engine.set_lookahead(lookahead);
    Traffic traffic("traffic", lookahead, seed);
    traffic.engine.bind(engine.port);
    engine.run();
    return traffic.log;
}

}  // namespace

TEST_CASE("partitions: every unit sees what it sees when events come in order of time", "[engine]") {
    const std::uint64_t seed = GENERATE(range(1, 5));
    const auto lookahead = GENERATE(Lookahead{106'750, 306'750, 2}, Lookahead{1, 1, 1}, Lookahead{900'000, 40, 1},
                                    Lookahead{40, 900'000, 4}, Lookahead{0, 0, 1});
    CAPTURE(seed, lookahead.enter, lookahead.leave);
    const Log in_order = simulate(Wake::systemc, lookahead, seed, 1'000'000);
    std::size_t events = 0;
    for (const auto& seen : in_order) {
        events += seen.size();
    }
    CHECK(events > 1'000);
    CHECK(simulate(Wake::calendar, lookahead, seed, 1'000'000) == in_order);
    CHECK(simulate(Wake::calendar, lookahead, seed, 777) == in_order);
}

TEST_CASE("partitions: cards of one package share one, without look-ahead all do", "[engine]") {
    Partitions together;
    together.set_lookahead({10, 10, 2});
    CHECK(together.of_card(CardId{0}) == together.of_card(CardId{1}));
    CHECK(together.of_card(CardId{1}) != together.of_card(CardId{2}));
    CHECK(together.of_card(CardId{4}) != Partitions::kShared);
    for (const Lookahead& none : {Lookahead{}, Lookahead{0, 10, 1}, Lookahead{10, 0, 1}}) {
        Partitions one;
        one.set_lookahead(none);
        CHECK(one.of_card(CardId{7}) == Partitions::kShared);
    }
}

TEST_CASE("partitions: a card runs ahead by the look-ahead and no further", "[engine]") {
    Partitions p;
    p.set_lookahead({100, 50, 1});
    const std::uint32_t a = p.of_card(CardId{0});
    const std::uint32_t b = p.of_card(CardId{1});
    for (Picoseconds at : {0, 149, 150, 151}) {
        p.push(a, {at, 0, 0});
        p.push(b, {at, 0, 1});
    }
    p.push(Partitions::kShared, {99, 0, 2});
    p.push(Partitions::kShared, {100, 0, 2});
    std::vector<std::pair<std::uint64_t, Picoseconds>> seen;
    p.work_until(
        kNever,
        [&](const Event& e) {
            seen.emplace_back(e.tag, e.at);
            return true;
        },
        [](const Event&) {});
    using Seen = std::vector<std::pair<std::uint64_t, Picoseconds>>;
    CHECK(seen == Seen{{2, 99}, {0, 0}, {0, 149}, {1, 0}, {1, 149}, {2, 100}, {0, 150}, {0, 151}, {1, 150}, {1, 151}});
    CHECK(p.earliest() == kNever);
    CHECK(p.size() == 0);
}

TEST_CASE("partitions: an end of the run leaves no card before it", "[engine]") {
    Partitions p;
    p.set_lookahead({100, 100, 1});
    for (std::uint32_t card = 0; card < 3; ++card) {
        for (Picoseconds at = 10; at < 100; at += 10) {
            p.push(p.of_card(CardId{card}), {at + card, 0, card});
        }
    }
    std::vector<Picoseconds> last(3, 0);
    p.work_until(
        kNever,
        [&](const Event& e) {
            last[e.tag] = e.at;
            return e.at != 51 && e.at != 42;  // card 1 ends it, card 2 ends it at an earlier time still
        },
        [](const Event&) {});
    CHECK(last == std::vector<Picoseconds>{90, 51, 42});
    CHECK(p.size() == 9 + 9 + 9 - 9 - 5 - 4);
    CHECK(p.earliest() == 52);
}

TEST_CASE("partitions: an event into what is done already is podsim's bug", "[engine]") {
    Partitions p;
    p.set_lookahead({100, 50, 1});
    const std::uint32_t a = p.of_card(CardId{0});
    const std::uint32_t b = p.of_card(CardId{1});
    p.push(a, {0, 0, 0});
    p.push(b, {120, 0, 0});
    const auto into_the_past = [&](const Event& e) {
        if (e.at == 120) {
            p.push(a, {149, 0, 0});
        }
        return true;
    };
    CHECK_THROWS_AS(p.work_until(kNever, into_the_past, [](const Event&) {}), InternalError);
}
