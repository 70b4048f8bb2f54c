// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A fabric on a bench: cards that record what arrives and answer at once.
#include "models/fabric/network.hpp"
#include "tests/support/stub_engine.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace podsim::test {

/// A fictitious fabric with numbers that are easy to add: 10 B/ns links, flits of 10 B, header 8 B, so that
/// 512 B are 520 wire bytes = 52 ns on a trunk; ports write 8 B/ns (64 ns a block) and read 16 B/ns (the wire's
/// 52 ns count).
inline FabricParams bench_params(std::uint32_t nodes, std::uint32_t packages, std::uint32_t dies, std::uint32_t planes,
                                 std::uint32_t l2) {
    FabricParams p;
    p.topology.nodes.set(nodes);
    p.topology.packages_per_node.set(packages);
    p.topology.dies_per_package.set(dies);
    p.topology.planes.set(planes);
    p.topology.l2_switches_per_plane.set(l2);
    p.link_rate.set(10'000);
    p.header_bytes.set(8);
    p.flit_bytes.set(10);
    p.port_write_rate.set(8'000);
    p.port_read_rate.set(16'000);
    p.port_latency.set(100'000);
    p.switch_latency.set(200'000);
    p.span_latency.set(50'000);
    p.sio_rate.set(64'000);
    p.sio_latency.set(30'000);
    p.plane_hash_bytes.set(512);
    p.path_choice.set(PathChoice::by_pair);
    return p;
}

inline constexpr Picoseconds kBenchWrite = 64'000;   ///< 512 B written, card port
inline constexpr Picoseconds kBenchRead = 52'000;    ///< 512 B read, card port
inline constexpr Picoseconds kBenchTrunk = 52'000;   ///< 512 B, switch to switch
inline constexpr Picoseconds kBenchRequest = 1'000;  ///< a flit
inline constexpr Picoseconds kBenchSio = 8'000;      ///< 512 B
inline constexpr Picoseconds kBenchInNode = 100'000 + 200'000 + 100'000;
inline constexpr Picoseconds kBenchAcross = 100'000 + 3 * 200'000 + 2 * 50'000 + 100'000;

struct Landed {
    std::uint32_t source = 0;
    std::uint32_t core = 0;
    std::uint32_t destination = 0;
    std::uint64_t offset = 0;
    std::uint64_t tag = 0;
    Picoseconds at = 0;
    friend bool operator==(const Landed&, const Landed&) = default;
};

struct Completion {
    std::uint64_t tag = 0;
    Picoseconds at = 0;
    bool with_data = false;
    friend bool operator==(const Completion&, const Completion&) = default;
};

class FabricBench final : private RequesterIf {
public:
    FabricBench(const FabricParams& params, std::uint32_t cards, std::uint64_t seed = 1)
        : network(params, cards, seed), cards_(cards) {
        std::vector<BlockSinkIf*> sinks;
        for (std::uint32_t c = 0; c < cards; ++c) {
            cards_[c].bench = this;
            cards_[c].number = c;
            sinks.push_back(&cards_[c]);
        }
        network.attach(engine, std::move(sinks));
    }

    /// Returns the write's tag: running number of requests.
    std::uint64_t write(std::uint32_t from, std::uint32_t to, std::uint64_t offset, Picoseconds at = 0,
                        std::uint32_t core = 0, std::uint32_t bytes = kBlockBytes) {
        return request(BlockPacket::Kind::write, from, to, offset, at, core, bytes);
    }
    std::uint64_t read(std::uint32_t from, std::uint32_t to, std::uint64_t offset, Picoseconds at = 0,
                       std::uint32_t core = 0, std::uint32_t bytes = kBlockBytes) {
        return request(BlockPacket::Kind::read_request, from, to, offset, at, core, bytes);
    }
    /// Time at which the packet of `tag` landed; kNever if it did not.
    Picoseconds landed_at(std::uint64_t tag) const {
        const auto it = std::find_if(landed.begin(), landed.end(), [&](const Landed& l) { return l.tag == tag; });
        return it == landed.end() ? kNever : it->at;
    }
    Picoseconds completed_at(std::uint64_t tag) const {
        const auto it =
            std::find_if(completed_.begin(), completed_.end(), [&](const Completion& c) { return c.tag == tag; });
        return it == completed_.end() ? kNever : it->at;
    }
    const std::vector<Completion>& completions() const { return completed_; }

    StubEngine engine;
    Network network;
    std::vector<Landed> landed;

private:
    struct Card final : BlockSinkIf {
        void arrive(BlockPacket packet, Picoseconds now) override {
            bench->landed.push_back({index(packet.requester_card), index(packet.requester_core), number,
                                     packet.address.offset, packet.tag, now});
            if (packet.kind == BlockPacket::Kind::write) {
                bench->network.acknowledge(packet, now);
            } else {
                const Slice data{nullptr, 0, packet.bytes};
                bench->network.reply(std::move(packet), data, now);
            }
        }
        FabricBench* bench = nullptr;
        std::uint32_t number = 0;
    };

    void completed(std::uint64_t tag, Picoseconds at, BlockData data) override {
        completed_.push_back({tag, at, data.length() > 0});
    }

    std::uint64_t request(BlockPacket::Kind kind, std::uint32_t from, std::uint32_t to, std::uint64_t offset,
                          Picoseconds at, std::uint32_t core, std::uint32_t bytes) {
        BlockPacket packet;
        packet.kind = kind;
        packet.address = {CardId{to}, offset};
        packet.requester_card = CardId{from};
        packet.requester_core = CoreId{core};
        packet.bytes = bytes;
        packet.requester = this;
        packet.tag = next_tag_++;
        const std::uint64_t tag = packet.tag;
        network.send(std::move(packet), at);
        return tag;
    }

    std::vector<Card> cards_;
    std::vector<Completion> completed_;
    std::uint64_t next_tag_ = 0;
};

}  // namespace podsim::test
