// SPDX-License-Identifier: Apache-2.0
#pragma once
/// An EngineIf without SystemC: the order of events by the book, (time, phase, unit, per-unit sequence).
#include "models/engine/engine_if.hpp"
#include "models/engine/error.hpp"

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>

namespace podsim::test {

class StubEngine final : public EngineIf {
public:
    void register_unit(Unit& unit, std::optional<CardId> /*home*/) override {
        const auto id = static_cast<std::uint32_t>(units_.size());
        check(units_.emplace(&unit, State{id, 0}).second, "a unit registers once");
    }
    void schedule(Unit& unit, Picoseconds at, Phase phase, std::uint64_t tag) override {
        check(at >= now_, "no event in the past");
        State& state = units_.at(&unit);
        queue_.emplace(Key{at, phase, state.id, state.sequence++}, Call{&unit, tag});
    }
    Picoseconds now() const override { return now_; }
    std::size_t pending() const override { return queue_.size(); }

    /// Handles events up to and including `until`.
    void run(Picoseconds until = kNever) {
        while (!queue_.empty() && std::get<0>(queue_.begin()->first) <= until) {
            const auto node = queue_.extract(queue_.begin());
            now_ = std::get<0>(node.key());
            ++events_;
            node.mapped().unit->on_event(now_, std::get<1>(node.key()), node.mapped().tag);
        }
    }
    std::uint64_t events() const { return events_; }

private:
    using Key = std::tuple<Picoseconds, Phase, std::uint32_t, std::uint64_t>;
    struct State {
        std::uint32_t id;
        std::uint64_t sequence;
    };
    struct Call {
        Unit* unit;
        std::uint64_t tag;
    };
    std::unordered_map<const Unit*, State> units_;
    std::map<Key, Call> queue_;
    Picoseconds now_ = 0;
    std::uint64_t events_ = 0;
};

}  // namespace podsim::test
