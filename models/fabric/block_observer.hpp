// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Watching packets on their way through the fabric; free when nobody does (one null pointer test a hop).
#include "models/engine/units.hpp"
#include "models/fabric/fabric_if.hpp"

#include <cstdint>

namespace podsim {

/// One packet's use of one link, known as soon as the packet is queued there.
struct LinkUse {
    std::uint32_t link = 0;   ///< index into Network::link_statistics()
    Picoseconds queued = 0;   ///< arrival at the link
    Picoseconds started = 0;  ///< service began; started - queued was spent behind other packets
    Picoseconds freed = 0;    ///< service ended
    Picoseconds arrives = 0;  ///< at the far end
};

class BlockObserverIf {
public:
    virtual ~BlockObserverIf() = default;
    /// The packet enters the fabric at card `from`.
    virtual void sent(const BlockPacket& packet, CardId from, CardId to, Picoseconds at) = 0;
    virtual void hop(const BlockPacket& packet, const LinkUse& use) = 0;
    /// The packet is handed to card `to`; it reached that card's port at `arrived` (earlier than `at` where
    /// an ordering guarantee held it back).
    virtual void landed(const BlockPacket& packet, CardId from, CardId to, Picoseconds arrived, Picoseconds at) = 0;
};

}  // namespace podsim
