// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/link_timing.hpp"

#include "models/engine/error.hpp"

#include <algorithm>
#include <cmath>

namespace podsim {

namespace {

constexpr std::uint32_t kKinds = 3;

std::uint64_t scaled(std::uint64_t rate, double scale) {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(static_cast<double>(rate) * scale)));
}

}  // namespace

LinkTiming::LinkTiming(const FabricParams& params, LinkKind kind, double rate_scale) {
    // peek: whether a rate mattered is known from the traffic, see Network::note_parameter_use.
    const std::uint64_t link_rate = scaled(params.link_rate.peek(), rate_scale);
    const std::uint64_t write_rate = scaled(params.port_write_rate.peek(), rate_scale);
    const std::uint64_t read_rate = scaled(params.port_read_rate.peek(), rate_scale);
    const std::uint64_t sio_rate = scaled(params.sio_rate.peek(), rate_scale);
    const std::uint32_t header = params.header_bytes.peek();
    const std::uint32_t flit = params.flit_bytes.peek();
    check(flit > 0, "flit_bytes is positive");

    const bool card_port = kind == LinkKind::card_up || kind == LinkKind::card_down;
    services_.resize(std::size_t{kKinds} * kSizes);
    for (std::uint32_t k = 0; k < kKinds; ++k) {
        const auto packet_kind = static_cast<BlockPacket::Kind>(k);
        for (std::uint32_t bytes = 0; bytes < kSizes; ++bytes) {
            Service& service = services_[static_cast<std::size_t>(packet_class(packet_kind, bytes))];
            const bool request = packet_kind == BlockPacket::Kind::read_request;
            service.payload_bytes = request ? 0 : bytes;
            if (kind == LinkKind::sio) {
                service.wire_bytes = request ? header : bytes;
                service.time = service_time(service.wire_bytes, sio_rate);
            } else {
                service.wire_bytes = align_up(service.payload_bytes + header, flit);
                service.time = service_time(service.wire_bytes, link_rate);
                if (card_port && !request) {
                    const bool write = packet_kind == BlockPacket::Kind::write;
                    service.time = std::max(service.time, service_time(bytes, write ? write_rate : read_rate));
                }
            }
            // Arrivals on one link are strictly in order.
            service.time = std::max<Picoseconds>(1, service.time);
        }
    }
}

const LinkTiming& LinkTimings::get(LinkKind kind, double rate_scale) {
    auto& timing = timings_[{kind, rate_scale}];
    if (!timing) {
        timing = std::make_unique<LinkTiming>(params_, kind, rate_scale);
    }
    return *timing;
}

}  // namespace podsim
