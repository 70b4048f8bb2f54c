// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Passes what models report on to any number of listeners, each hearing only what it asked for.
#include "models/engine/observer.hpp"

#include <vector>

namespace podsim {

class ObserverHub final : public ObserverIf {
public:
    /// Before the pod is built; `listener` outlives the hub.
    void add(ObserverIf& listener) {
        const Interest wants = listener.interest();
        all_.push_back(&listener);
        if (wants.instructions) {
            instructions_.push_back(&listener);
        }
        if (wants.blocks) {
            blocks_.push_back(&listener);
        }
        if (wants.stores) {
            stores_.push_back(&listener);
        }
    }

    Interest interest() const override { return {!instructions_.empty(), !blocks_.empty(), !stores_.empty()}; }
    void instruction_started(const InstructionEvent& e, Picoseconds at) override {
        tell(instructions_, &ObserverIf::instruction_started, e, at);
    }
    void instruction_ended(const InstructionEvent& e, Picoseconds at, Enabler last) override {
        tell(instructions_, &ObserverIf::instruction_ended, e, at, last);
    }
    void ordered(const OrderEvent& e, Picoseconds at) override { tell(instructions_, &ObserverIf::ordered, e, at); }
    void block_sent(const BlockEvent& e, Picoseconds at) override { tell(blocks_, &ObserverIf::block_sent, e, at); }
    void block_landed(const BlockEvent& e, Picoseconds at) override { tell(blocks_, &ObserverIf::block_landed, e, at); }
    void block_read(const BlockEvent& e, Picoseconds at) override { tell(blocks_, &ObserverIf::block_read, e, at); }
    void store_began(const StoreEvent& e, Picoseconds at) override { tell(stores_, &ObserverIf::store_began, e, at); }
    void store_acknowledged(const StoreEvent& e, Picoseconds at) override {
        tell(stores_, &ObserverIf::store_acknowledged, e, at);
    }
    void flag_left(const StoreEvent& e, Picoseconds at) override { tell(stores_, &ObserverIf::flag_left, e, at); }
    void learned(CoreRef core, Picoseconds at) override { tell(stores_, &ObserverIf::learned, core, at); }
    void phase_entered(CoreRef core, std::string_view phase, bool step, Picoseconds at) override {
        tell(all_, &ObserverIf::phase_entered, core, phase, step, at);
    }

private:
    template <class... Told, class... Values>
    static void tell(const std::vector<ObserverIf*>& listeners, void (ObserverIf::*event)(Told...),
                     const Values&... values) {
        for (ObserverIf* o : listeners) {
            (o->*event)(values...);
        }
    }

    std::vector<ObserverIf*> all_, instructions_, blocks_, stores_;
};

}  // namespace podsim
