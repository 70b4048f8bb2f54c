// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/fabric.hpp"

#include <algorithm>
#include <string>

namespace podsim {

std::uint64_t SwitchModule::wire_bytes_out() const {
    std::uint64_t sum = 0;
    const RoutingTables& routes = network_.routes();
    for (std::size_t i = 0; i < routes.links.size(); ++i) {
        if (routes.links[i].from == vertex_) {
            sum += network_.counters(i).wire_bytes;
        }
    }
    return sum;
}

Fabric::Fabric(const sc_core::sc_module_name& name, const FabricParams& params, std::uint32_t cards_used,
               std::uint64_t seed)
    : sc_module(name), cards("cards", cards_used), network_(params, cards_used, seed) {
    port.bind(network_);
    const RoutingTables& routes = network_.routes();
    std::vector<bool> used(routes.vertex_names.size(), false);
    for (const LinkSpec& link : routes.links) {
        used[link.to] = used[link.to] || link.kind == LinkKind::card_up || link.kind == LinkKind::trunk;
    }
    for (std::uint32_t vertex = 0; vertex < used.size(); ++vertex) {
        if (used[vertex]) {
            // A dot separates levels of SystemC's hierarchy.
            std::string flat = routes.vertex_names[vertex];
            std::replace(flat.begin(), flat.end(), '.', '_');
            switches_.push_back(std::make_unique<SwitchModule>(flat.c_str(), network_, vertex));
        }
    }
}

void Fabric::end_of_elaboration() {
    std::vector<BlockSinkIf*> sinks;
    sinks.reserve(cards.size());
    for (auto& card : cards) {
        sinks.push_back(dynamic_cast<BlockSinkIf*>(card.get_interface()));
    }
    network_.attach(*dynamic_cast<EngineIf*>(engine.get_interface()), std::move(sinks));
}

}  // namespace podsim
