// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/network.hpp"

namespace podsim {

LinkCounters Network::counters(std::size_t link) const {
    LinkCounters counters = links_[link].counters();
    counters.first_start = first_start_[link];
    return counters;
}

std::vector<LinkStatistics> Network::link_statistics() const {
    std::vector<LinkStatistics> all;
    all.reserve(links_.size());
    for (std::size_t i = 0; i < links_.size(); ++i) {
        const LinkSpec& spec = tables_.links[i];
        all.push_back({tables_.vertex_names[spec.from], tables_.vertex_names[spec.to], spec.kind, spec.plane,
                       spec.rate_scale, spec.latency, counters(i)});
    }
    return all;
}

PortStatistics Network::port_statistics(CardId card, PlaneId plane) const {
    const CardPort& port = tables_.port(index(card), index(plane));
    PortStatistics statistics;
    if (port.up != kNoLink) {
        statistics.out = counters(port.up);
        statistics.in = counters(port.down);
    }
    return statistics;
}

FabricTotals Network::totals() const {
    FabricTotals totals;
    totals.plane_bytes.assign(tables_.planes, 0);
    totals.plane_wire_bytes.assign(tables_.planes, 0);
    for (const Link& link : links_) {
        const LinkCounters counters = link.counters();
        if (link.kind() == LinkKind::sio) {
            totals.sio_bytes += counters.payload_bytes;
        } else if (link.kind() == LinkKind::card_up) {
            totals.plane_bytes[link.plane()] += counters.payload_bytes;
            totals.plane_wire_bytes[link.plane()] += counters.wire_bytes;
            totals.wire_bytes += counters.wire_bytes;
        } else {
            continue;
        }
        totals.blocks += counters.blocks;
        totals.bytes += counters.payload_bytes;
    }
    return totals;
}

void Network::note_parameter_use() const {
    bool planes = false;
    bool trunks = false;
    bool sio = false;
    for (const Link& link : links_) {
        const bool carried = link.counters().packets > 0;
        planes = planes || (carried && link.kind() == LinkKind::card_up);
        trunks = trunks || (carried && link.kind() == LinkKind::trunk);
        sio = sio || (carried && link.kind() == LinkKind::sio);
    }
    if (planes) {
        for (const auto* rate : {&params_.link_rate, &params_.port_write_rate}) {
            static_cast<void>(rate->get());
        }
        static_cast<void>(params_.header_bytes.get());
        static_cast<void>(params_.flit_bytes.get());
        static_cast<void>(params_.port_latency.get());
        static_cast<void>(params_.plane_hash_bytes.get());
    }
    if (reads_) {
        static_cast<void>(params_.port_read_rate.get());
    }
    if (trunks) {
        static_cast<void>(params_.span_latency.get());
        static_cast<void>(params_.path_choice.get());
    }
    if (sio) {
        static_cast<void>(params_.sio_rate.get());
        static_cast<void>(params_.sio_latency.get());
    }
}

}  // namespace podsim
