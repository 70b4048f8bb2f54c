// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What crosses the HCCS fabric, and the two faces of it: the card side sends, the memory side receives.
#include "models/engine/payload.hpp"
#include "models/engine/systemc.hpp"
#include "models/engine/units.hpp"

#include <cstdint>

namespace podsim {

/// Told when a remote request it made is complete. Called as soon as the instant is known, which may be
/// before that instant: `at` is when it counts.
class RequesterIf {
public:
    virtual ~RequesterIf() = default;
    /// A store was acknowledged (data empty; told ahead of `at`) or a read's data is back at the card (data set; `at`
    /// is now).
    virtual void completed(std::uint64_t tag, Picoseconds at, BlockData data) = 0;
};

/// One request of at most 512 B, inside one 512 B line.
struct BlockPacket {
    enum class Kind : std::uint8_t { write, read_request, read_reply };
    Kind kind = Kind::write;
    GmAddress address;        ///< of the memory written or read; address.card is the far card
    CardId requester_card{};  ///< card whose core made the request
    CoreId requester_core{};
    std::uint32_t bytes = 0;  ///< payload bytes: of the write, or those to be read
    BlockData data;           ///< write: what to store; read_reply: what was read
    RequesterIf* requester = nullptr;
    std::uint64_t tag = 0;  ///< given back to the requester
    Picoseconds sent_at = 0;
};

/// The fabric as seen from a card (sc_port on the card's MTE engines and on its memory side).
class FabricIf : public virtual sc_core::sc_interface {
public:
    /// Takes a request at `now` into the card's port queue of the plane its address hashes to (or onto the
    /// die-to-die link, for the other die of the package). Never refuses: queues are unbounded here, the
    /// bound is the requester's number of requests in flight.
    virtual void send(BlockPacket packet, Picoseconds now) = 0;
    /// The far memory holds the block since `landed_at`: acknowledge the store to its requester.
    virtual void acknowledge(const BlockPacket& packet, Picoseconds landed_at) = 0;
    /// The far memory has read the block at `read_at`: carry it back to its requester.
    virtual void reply(BlockPacket packet, BlockData data, Picoseconds read_at) = 0;
};

/// A card as seen from the fabric (bound to the card's memory side).
class BlockSinkIf : public virtual sc_core::sc_interface {
public:
    /// A write or read request reaches the card at `now` (phase land). The card answers through
    /// FabricIf::acknowledge or FabricIf::reply, at this instant or later.
    virtual void arrive(BlockPacket packet, Picoseconds now) = 0;
};

}  // namespace podsim
