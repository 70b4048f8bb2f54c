// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How long a packet occupies a link, by the kind of link and packet: tables, so that the hot path divides
/// nothing.
#include "models/engine/units.hpp"
#include "models/fabric/fabric_if.hpp"
#include "models/fabric/fabric_params.hpp"
#include "models/fabric/routing_tables.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace podsim {

/// Kind and payload size of a packet in one number.
enum class PacketClass : std::uint16_t {};

constexpr std::uint32_t kSizes = kBlockBytes + 1;
constexpr PacketClass packet_class(BlockPacket::Kind kind, std::uint32_t bytes) {
    return static_cast<PacketClass>(static_cast<std::uint32_t>(kind) * kSizes + bytes);
}

struct Service {
    Picoseconds time = 0;
    std::uint32_t payload_bytes = 0;
    std::uint32_t wire_bytes = 0;
};

/// Service of every packet class on one kind of link at one rate scale.
///
/// Wire bytes = payload and header rounded up to whole flits; a read request is a header. A trunk takes the
/// wire time; a card port (either end) takes the longer of the wire time and payload / port rate, for writes
/// and read replies each with its own port rate. SIO has no flits: payload (a request: its header) / rate.
class LinkTiming {
public:
    LinkTiming(const FabricParams& params, LinkKind kind, double rate_scale);
    const Service& of(PacketClass c) const { return services_[static_cast<std::size_t>(c)]; }

private:
    std::vector<Service> services_;
};

/// Each distinct timing once.
class LinkTimings {
public:
    explicit LinkTimings(const FabricParams& params) : params_(params) {}
    const LinkTiming& get(LinkKind kind, double rate_scale);

private:
    const FabricParams& params_;
    std::map<std::pair<LinkKind, double>, std::unique_ptr<LinkTiming>> timings_;
};

}  // namespace podsim
