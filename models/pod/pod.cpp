// SPDX-License-Identifier: Apache-2.0
#include "models/pod/pod.hpp"

#include <fmt/format.h>

namespace podsim {

Pod::Pod(const sc_core::sc_module_name& name, const Machine& machine, const PodParams& params)
    : sc_module(name),
      machine_(machine),
      table_(machine.core.vector),
      results_(params.payload == PayloadMode::extents),
      engine_("engine", params.engine),
      fabric_("fabric", machine.fabric, params.cards, params.seed) {
    engine_.set_lookahead(fabric_.network().lookahead());
    ObserverIf* const observer = params.observer;
    const ObserverIf::Interest wanted = observer != nullptr ? observer->interest() : ObserverIf::Interest{};
    CoreShared shared;
    shared.params = &machine.core;
    shared.table = &table_;
    shared.results = &results_;
    shared.census = &census_;
    shared.sites = &sites_;
    shared.listeners = {observer, wanted.instructions ? observer : nullptr, wanted.blocks ? observer : nullptr,
                        wanted.stores ? observer : nullptr};
    shared.payload = params.payload;
    shared.polling = params.polling;
    fabric_.engine.bind(engine_.port);
    cards_.reserve(params.cards);
    for (std::uint32_t c = 0; c < params.cards; ++c) {
        const std::string label = fmt::format("card{}", c);
        cards_.push_back(std::make_unique<Card>(label.c_str(), CardId{c}, machine, params.cores_per_card, shared));
        cards_.back()->connect(engine_.port, fabric_.port);
        fabric_.cards[c].bind(cards_.back()->memory.network);
    }
}

std::vector<std::string> Pod::waiting_cores(std::size_t most) const {
    std::vector<std::string> lines;
    for (const auto& card : cards_) {
        for (std::uint32_t c = 0; c < card->cores() && lines.size() < most; ++c) {
            const AivCore& core = card->core(CoreId{c});
            if (!core.finished()) {
                lines.push_back(
                    fmt::format("card {} core {} waits for {}", index(core.self().card), c, core.waits_for()));
            }
        }
    }
    return lines;
}

}  // namespace podsim
