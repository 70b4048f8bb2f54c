// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a hardware unit sees of the event engine.
///
/// Order of events is part of the model: (time, phase, unit id, per-unit sequence). Unit ids are given in
/// elaboration order, so the order never depends on which event happened to be scheduled first elsewhere.
#include "models/engine/systemc.hpp"
#include "models/engine/units.hpp"

#include <optional>

namespace podsim {

/// Within one instant, blocks land before memory is sampled, and memory is sampled before units wake.
enum class Phase : std::uint8_t {
    land = 0,    ///< a block lands in memory, a store is acknowledged
    sample = 1,  ///< a read takes the memory's contents
    wake = 2,    ///< a unit goes on, issues work
};

/// A piece of hardware that is woken by the engine.
class Unit {
public:
    Unit() = default;
    Unit(const Unit&) = delete;
    Unit& operator=(const Unit&) = delete;
    virtual ~Unit() = default;

    /// Called once for every scheduled event, in event order. `tag` is what schedule() was given.
    virtual void on_event(Picoseconds now, Phase phase, std::uint64_t tag) = 0;

    std::uint32_t unit_id() const { return unit_id_; }

private:
    friend class Engine;
    std::uint32_t unit_id_ = 0;
    std::uint32_t partition_ = 0;
    std::uint64_t next_sequence_ = 0;
};

/// The engine as units see it (reached through an sc_port).
class EngineIf : public virtual sc_core::sc_interface {
public:
    /// Gives `unit` its stable id. Call during elaboration, in a deterministic order. `home` is the card whose other
    /// units it acts on at once; units of different cards, and those of none (the fabric's), act on each other only
    /// by events some time ahead (see Lookahead).
    virtual void register_unit(Unit& unit, std::optional<CardId> home) = 0;
    /// Wakes `unit` at `at` (>= now) in `phase`. Events of one unit, time and phase keep their order.
    virtual void schedule(Unit& unit, Picoseconds at, Phase phase, std::uint64_t tag) = 0;
    /// The instant of the event being handled.
    virtual Picoseconds now() const = 0;
    /// Events waiting in all: a lone poll loop sees from this that nothing will ever change again.
    virtual std::size_t pending() const { return 0; }
};

}  // namespace podsim
