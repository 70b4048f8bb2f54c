// SPDX-License-Identifier: Apache-2.0
// MTE across the fabric: round trips, requests in flight, acknowledgement.
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace podsim;
using namespace podsim::test;

namespace {

std::string either() { return GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"); }

/// Time a packet occupies a link: wire bytes are whole flits; a card port also takes payload / port rate.
struct Links {
    explicit Links(const Machine& m) : f(m.fabric) {}
    Picoseconds wire(std::uint32_t payload) const {
        const std::uint32_t flits = (payload + f.header_bytes.peek() + f.flit_bytes.peek() - 1) / f.flit_bytes.peek();
        return rate_ps(std::uint64_t{flits} * f.flit_bytes.peek(), f.link_rate.peek());
    }
    Picoseconds port_write(std::uint32_t bytes) const {
        return std::max(wire(bytes), rate_ps(bytes, f.port_write_rate.peek()));
    }
    Picoseconds port_read(std::uint32_t bytes) const {
        return std::max(wire(bytes), rate_ps(bytes, f.port_read_rate.peek()));
    }
    /// Inside a node: two ports and a switch. Across: three switches and two spans.
    Picoseconds latency(bool across) const {
        return 2 * f.port_latency.peek() + (across ? 3 : 1) * f.switch_latency.peek() +
               (across ? 2 * f.span_latency.peek() : 0);
    }
    const FabricParams& f;
};

enum class Far : std::uint8_t { package, node, across };

CardId peer(const Machine& m, Far where) {
    switch (where) {
        case Far::package:
            return CardId{1};
        case Far::node:
            return CardId{2};
        default:
            return CardId{m.fabric.topology.cards_per_node()};
    }
}

/// Store of one request: send to landing, landing to acknowledgement.
struct Trip {
    Picoseconds out = 0, back = 0;
};
Trip store_trip(const Machine& m, Far where, std::uint32_t bytes) {
    const Links links(m);
    if (where == Far::package) {
        const Picoseconds sio = m.fabric.sio_latency.peek();
        return {rate_ps(bytes, m.fabric.sio_rate.peek()) + sio + m.memory.l2_write_latency.peek(), sio};
    }
    const bool across = where == Far::across;
    return {2 * links.port_write(bytes) + (across ? 2 * links.wire(bytes) : 0) + links.latency(across) +
                m.memory.l2_write_latency.peek(),
            links.latency(across)};
}
Picoseconds read_trip(const Machine& m, Far where, std::uint32_t bytes) {
    const Links links(m);
    if (where == Far::package) {
        return rate_ps(m.fabric.header_bytes.peek(), m.fabric.sio_rate.peek()) +
               rate_ps(bytes, m.fabric.sio_rate.peek()) + 2 * m.fabric.sio_latency.peek() +
               m.memory.l2_read_latency.peek();
    }
    const bool across = where == Far::across;
    const int hops = across ? 4 : 2;
    return hops * links.wire(0) + 2 * links.port_read(bytes) + (across ? 2 * links.wire(bytes) : 0) +
           2 * links.latency(across) + m.memory.l2_read_latency.peek();
}

Task<void> store(Aiv& aiv, CardId to, std::uint32_t bytes) {
    aiv.DataCopy(GlobalTensor<std::uint8_t>{{to, 0}}, LocalTensor<std::uint8_t>{0, bytes}, bytes);
    aiv.PipeBarrierAll();
    aiv.Phase("done");
    aiv.End();
    co_return;
}
Task<void> load(Aiv& aiv, CardId from, std::uint32_t bytes) {
    aiv.DataCopy(LocalTensor<std::uint8_t>{0, bytes}, GlobalTensor<std::uint8_t>{{from, 0}}, bytes);
    aiv.PipeBarrierAll();
    aiv.Phase("done");
    aiv.End();
    co_return;
}

Far anywhere() { return GENERATE(Far::package, Far::node, Far::across); }

DutOptions cards_for(const Machine& m) { return {.cards = m.fabric.topology.cards_per_node() + 1}; }

}  // namespace

TEST_CASE("mte: a remote store is complete when its acknowledgement is back", "[mte]") {
    const Machine m = machine(either());
    const Far where = anywhere();
    const std::uint32_t bytes = GENERATE(32U, 512U);
    DeviceUnderTest dut(m, cards_for(m));
    dut.launch_one(store, peer(m, where), bytes);
    dut.run();
    const auto& copy = dut.instruction("DataCopy");
    const Trip trip = store_trip(m, where, bytes);
    REQUIRE(dut.recorder.landed.size() == 1);
    CHECK(dut.recorder.landed[0].at == copy.started + trip.out);
    CHECK(dut.recorder.landed[0].event.remote);
    CHECK(dut.at("done") == copy.started + trip.out + trip.back + cycles_ps(m, m.core.barrier_all.peek()));
}

TEST_CASE("mte: a remote read is complete when the data is back", "[mte]") {
    const Machine m = machine(either());
    const Far where = anywhere();
    const std::uint32_t bytes = GENERATE(32U, 512U);
    DeviceUnderTest dut(m, cards_for(m));
    dut.preset({peer(m, where), 0}, random_bytes(bytes, 3));
    dut.launch_one(load, peer(m, where), bytes);
    dut.run();
    const auto& copy = dut.instruction("DataCopy");
    CHECK(dut.at("done") == copy.started + read_trip(m, where, bytes) + cycles_ps(m, m.core.barrier_all.peek()));
}

TEST_CASE("mte: the remote bound is apart from the local one and limits a core's rate", "[mte]") {
    Machine m = machine(either());
    const std::uint32_t bound = GENERATE(1U, 2U);
    m.core.mte.remote_in_flight.set(bound);
    m.fabric.sio_rate.set(1'000'000'000);  // a link that is no bound
    const std::uint32_t blocks = 32;
    DeviceUnderTest dut(m, cards_for(m));
    dut.launch_one(store, CardId{1}, blocks * 512);
    dut.run();
    const auto& copy = dut.instruction("DataCopy");
    // Little's law: `bound` blocks a round trip.
    const Trip trip = store_trip(m, Far::package, 512);
    const MilliCycles each =
        std::max(MilliCycles{512'000} / m.core.mte.out_bytes_per_cycle.peek(), m.core.mte.burst_min.peek());
    REQUIRE(cycles_ps(m, bound * each) < trip.out + trip.back);
    CHECK(copy.ended - copy.started == (blocks / bound) * (trip.out + trip.back) + cycles_ps(m, (bound - 1) * each));
    std::size_t most = 0;
    for (const auto& sent : dut.recorder.sent) {
        const auto open = std::count_if(dut.recorder.sent.begin(), dut.recorder.sent.end(), [&](const auto& other) {
            return other.at <= sent.at && sent.at < other.at + trip.out + trip.back;
        });
        most = std::max(most, static_cast<std::size_t>(open));
    }
    CHECK(most == bound);
}

TEST_CASE("mte: an MTE3 event of a remote store, at read or at acknowledgement", "[mte]") {
    Machine m = machine(either());
    const Mte3Event when = GENERATE(Mte3Event::at_read, Mte3Event::at_acknowledge);
    m.core.mte.mte3_event.set(when);
    const Far where = anywhere();
    DeviceUnderTest dut(m, cards_for(m));
    dut.launch_one(
        [](Aiv& aiv, CardId to) -> Task<void> {
            aiv.DataCopy(GlobalTensor<std::uint8_t>{{to, 0}}, LocalTensor<std::uint8_t>{0, 512}, 512);
            aiv.SetFlag<HardEvent::MTE3_S>(0);
            aiv.WaitFlag<HardEvent::MTE3_S>(0);
            aiv.Phase("seen");
            aiv.PipeBarrier<Pipe::mte3>();
            aiv.DataCopy(GlobalTensor<std::uint8_t>{{to, 512}}, LocalTensor<std::uint8_t>{0, 512}, 512);
            aiv.End();
            co_return;
        },
        peer(m, where));
    dut.run();
    const auto& copy = dut.instruction("DataCopy");
    const Trip trip = store_trip(m, where, 512);
    const Picoseconds issue = cycles_ps(m, m.core.scalar.flag_issue.peek());
    const MilliCycles each =
        std::max(MilliCycles{512'000} / m.core.mte.out_bytes_per_cycle.peek(), m.core.mte.burst_min.peek());
    const Picoseconds fires = copy.started + (when == Mte3Event::at_read ? cycles_ps(m, each) : trip.out + trip.back);
    CHECK(dut.at("seen") == std::max(fires + cycles_ps(m, m.core.flag_hop.peek()), copy.started + issue) + issue);
    // The barrier waits for the acknowledgement either way.
    const Picoseconds reached = dut.at("seen") + issue;
    CHECK(dut.instruction("DataCopy", 1).started >= copy.started + trip.out + trip.back + issue);
    CHECK(dut.instruction("DataCopy", 1).started ==
          std::max(std::max(copy.started + trip.out + trip.back, reached) + issue,
                   reached + cycles_ps(m, m.core.scalar.copy_issue.peek())));
}

TEST_CASE("mte: remote reads and stores move the right bytes, strided too", "[mte]") {
    const Machine m = machine(either());
    const Far where = anywhere();
    DeviceUnderTest dut(m, cards_for(m));
    const CardId far = peer(m, where);
    const auto bytes = random_bytes(16384, 9);
    dut.preset({far, 0}, bytes);
    dut.launch_one(
        [](Aiv& aiv, CardId card) -> Task<void> {
            // 7 bursts of 700 B, 1100 apart in the far memory, dense by granules in UB, to the own card in reverse.
            aiv.DataCopyPad(LocalTensor<std::uint8_t>{0, 8192}, GlobalTensor<std::uint8_t>{{card, 100}},
                            {7, 700, 400, 0});
            aiv.Sync<HardEvent::MTE2_MTE3>();
            for (std::uint32_t i = 0; i < 7; ++i) {
                aiv.DataCopyPad(gm_tensor<std::uint8_t>((6 - i) * 700), LocalTensor<std::uint8_t>{i * 704, 704},
                                {1, 700, 0, 0});
            }
            aiv.DataCopyPad(GlobalTensor<std::uint8_t>{{card, 65536 + 33}}, LocalTensor<std::uint8_t>{0, 8192},
                            {7, 700, 1, 55});
            aiv.End();
            co_return;
        },
        far);
    dut.run();
    for (std::size_t i = 0; i < 7; ++i) {
        const std::vector<std::byte> burst(bytes.begin() + static_cast<std::ptrdiff_t>(100 + i * 1100),
                                           bytes.begin() + static_cast<std::ptrdiff_t>(100 + i * 1100 + 700));
        CHECK(dut.gm({CardId{0}, (6 - i) * 700}, 700) == burst);
    }
    // The last copy reads bursts 736 apart in UB (granules of 700 B, and one more between them) …
    std::vector<std::byte> ub(8192);
    for (std::size_t i = 0; i < 7; ++i) {
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(100 + i * 1100), 700,
                    ub.begin() + static_cast<std::ptrdiff_t>(i * 704));
    }
    for (std::size_t i = 0; i < 7; ++i) {
        const auto begin = ub.begin() + static_cast<std::ptrdiff_t>(i * 736);
        CHECK(dut.gm({far, 65536 + 33 + i * 755}, 700) == std::vector<std::byte>(begin, begin + 700));
    }
}
