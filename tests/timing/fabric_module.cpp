// SPDX-License-Identifier: Apache-2.0
// The fabric as a SystemC module under the real engine, in both ways of waking.
#include "models/engine/engine.hpp"
#include "models/fabric/fabric.hpp"
#include "tests/support/fabric_bench.hpp"
#include "tests/support/simulation_context.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace podsim;
using namespace podsim::test;

namespace {

/// A card as a module: sends a few rows when the simulation starts, acknowledges what comes.
class TrafficCard final : public sc_core::sc_module, private BlockSinkIf, private RequesterIf, private Unit {
public:
    sc_core::sc_port<FabricIf> fabric{"fabric"};
    sc_core::sc_port<EngineIf> engine{"engine"};
    sc_core::sc_export<BlockSinkIf> memory{"memory"};

    TrafficCard(const sc_core::sc_module_name& name, std::uint32_t number, std::uint32_t cards,
                std::vector<Landed>& log)
        : sc_module(name), number_(number), cards_(cards), log_(log) {
        memory.bind(*this);
    }
    std::vector<Completion> completions;

private:
    void end_of_elaboration() override { engine->register_unit(*this, std::nullopt); }
    void start_of_simulation() override { engine->schedule(*this, number_ * 700, Phase::wake, 0); }

    void on_event(Picoseconds now, Phase, std::uint64_t tag) override {
        for (std::uint64_t block = 0; block < 14; ++block) {
            BlockPacket packet;
            packet.kind = block == 13 ? BlockPacket::Kind::read_request : BlockPacket::Kind::write;
            packet.address = {CardId{(number_ + 1 + static_cast<std::uint32_t>(tag)) % cards_},
                              (number_ * 14 + block) * kBlockBytes};
            packet.requester_card = CardId{number_};
            packet.bytes = kBlockBytes;
            packet.requester = this;
            packet.tag = tag * 100 + block;
            fabric->send(std::move(packet), now);
        }
        if (tag + 2 < cards_) {
            engine->schedule(*this, now + 150'000, Phase::wake, tag + 1);
        }
    }
    void arrive(BlockPacket packet, Picoseconds now) override {
        log_.push_back({index(packet.requester_card), 0, number_, packet.address.offset, packet.tag, now});
        if (packet.kind == BlockPacket::Kind::write) {
            fabric->acknowledge(packet, now);
        } else {
            const Slice data{nullptr, 0, packet.bytes};
            fabric->reply(std::move(packet), data, now);
        }
    }
    void completed(std::uint64_t tag, Picoseconds at, BlockData data) override {
        completions.push_back({tag, at, data.length() > 0});
    }

    std::uint32_t number_;
    std::uint32_t cards_;
    std::vector<Landed>& log_;
};

std::vector<Landed> simulate(Wake wake, const FabricParams& params, std::uint32_t cards) {
    std::vector<Landed> log;
    SimulationContext simulation;
    EngineParams engine_params;
    engine_params.wake = wake;
    Engine engine("engine", engine_params);
    Fabric fabric("fabric", params, cards, 1);
    fabric.engine.bind(engine.port);
    std::vector<std::unique_ptr<TrafficCard>> modules;
    for (std::uint32_t c = 0; c < cards; ++c) {
        modules.push_back(std::make_unique<TrafficCard>(("card" + std::to_string(c)).c_str(), c, cards, log));
        modules.back()->fabric.bind(fabric.port);
        modules.back()->engine.bind(engine.port);
        fabric.cards[c].bind(modules.back()->memory);
    }
    engine.run();
    for (const auto& card : modules) {
        CHECK(card->completions.size() == (cards - 1) * 14);
    }
    CHECK(fabric.network().packets_in_flight() == 0);
    const auto* l1 = dynamic_cast<SwitchModule*>(sc_core::sc_find_object("fabric.l1_n0_p0"));
    REQUIRE(l1 != nullptr);
    CHECK(l1->wire_bytes_out() > 0);
    return log;
}

}  // namespace

TEST_CASE("fabric: as a module it is the same under the calendar and under SystemC's events", "[fabric]") {
    FabricParams params = bench_params(2, 2, 2, 3, 2);
    SECTION("default") {}
    SECTION("ordered and reordered") {
        params.network_in_order.set(true);
        params.noc_first_packet_order.set(true);
        params.extra_reorder.set(300'000);
    }
    const auto calendar = simulate(Wake::calendar, params, 8);
    CHECK(calendar.size() == 8 * 7 * 14);
    CHECK(calendar == simulate(Wake::systemc, params, 8));
}
