// SPDX-License-Identifier: Apache-2.0
// A card's memory: lines, L2 and HBM bandwidth, hits and misses, visibility, the data cache, the TLM door.
#include "models/pod/tlm_memory_port.hpp"
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <vector>

using namespace podsim;
using namespace podsim::test;

namespace {

std::string either() { return GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"); }

Task<void> read_once(Aiv& aiv, std::uint64_t offset, std::uint32_t bytes, CacheHint hint) {
    aiv.DataCopy(LocalTensor<std::uint8_t>{0, bytes}, gm_tensor<std::uint8_t>(offset), bytes, hint);
    aiv.End();
    co_return;
}

}  // namespace

TEST_CASE("memory: requests of k cores to one line follow each other", "[memory]") {
    const Machine m = machine(either());
    const std::uint32_t k = GENERATE(2U, 5U, 12U);
    const bool same_line = GENERATE(true, false);
    DeviceUnderTest dut(m, {.cores = k});
    dut.preset({}, random_bytes(std::size_t{k} * 512, 1));
    for (std::uint32_t c = 0; c < k; ++c) {
        dut.launch({{}, CoreId{c}}, 0, read_once, std::uint64_t{same_line ? c * 32 : c * 512}, 32U, CacheHint::normal);
    }
    dut.run();
    // In other lines the L2's bandwidth sets the pace; in one line each but the first takes it a conflict's service.
    const Picoseconds carried = rate_ps(32, m.memory.l2_bandwidth.peek());
    const Picoseconds conflict = m.memory.conflict_service.peek();
    REQUIRE(conflict > carried);
    std::vector<Picoseconds> took;
    for (std::size_t i = 0; i < k; ++i) {
        const auto& copy = dut.instruction("DataCopy", i);
        took.push_back(copy.ended - copy.started);
    }
    std::sort(took.begin(), took.end());
    for (std::uint32_t i = 0; i < k; ++i) {
        const Picoseconds waits = i == 0 ? 0 : same_line ? carried + i * conflict : i * carried;
        CHECK(took[i] == hit(m) + piece_ps(m, 32) + waits);
    }
    CHECK(dut.memory().statistics().same_line_waits == (same_line ? k - 1 : 0));
}

TEST_CASE("memory: a core's own pieces of a line follow each other freely", "[memory]") {
    const Machine m = machine(either());
    const std::uint32_t bursts = GENERATE(2U, 4U, 16U);
    const std::uint32_t bytes = 512 / bursts;
    DeviceUnderTest dut(m, {.cores = 1});
    dut.preset({}, random_bytes(512, 1));
    dut.launch(
        {{}, CoreId{0}}, 0,
        [](Aiv& aiv, std::uint32_t blocks, std::uint32_t each) -> Task<void> {
            aiv.DataCopyPad(LocalTensor<std::uint8_t>{0, 512}, gm_tensor<std::uint8_t>(0), {blocks, each, 0, 0});
            aiv.End();
            co_return;
        },
        bursts, bytes);
    dut.run();
    const auto& copy = dut.instruction("DataCopyPad", 0);
    const MilliCycles each = std::max(MilliCycles{1000} * bytes / m.core.mte.in_bytes_per_cycle.peek(),  //
                                      m.core.mte.burst_min.peek());
    CHECK(copy.ended - copy.started == hit(m) + cycles_ps(m, (bursts - 1) * each) + cycles_ps(m, each));
    CHECK(dut.memory().statistics().same_line_waits == 0);
}

TEST_CASE("memory: a store on its way to the L2 keeps nobody waiting", "[memory]") {
    // The store leaves its core first and arrives later than the read of another line does.
    const Machine m = machine(either());
    DeviceUnderTest dut(m, {.cores = 2});
    dut.preset({}, random_bytes(1024, 1));
    const Picoseconds lead = m.memory.noc_latency.peek() / 2;
    const Picoseconds begin = m.memory.noc_latency.peek() * 4;
    dut.launch({{}, CoreId{0}}, begin, [](Aiv& aiv) -> Task<void> {
        aiv.DataCopy(gm_tensor<std::uint8_t>(0), LocalTensor<std::uint8_t>{0, 512}, 512);
        aiv.End();
        co_return;
    });
    dut.launch({{}, CoreId{1}}, begin - lead, read_once, std::uint64_t{512}, 512U, CacheHint::normal);
    dut.run();
    for (const auto& i : dut.recorder.instructions) {
        if (i.pipe == Pipe::mte2) {
            CHECK(i.ended - i.started == hit(m) + piece_ps(m, 512));
        }
    }
}

TEST_CASE("memory: first a miss, then a hit, and a bypassing read always goes to HBM", "[memory]") {
    const Machine m = machine(either());
    DeviceUnderTest dut(m);
    dut.preset({}, random_bytes(512, 1), false);
    dut.launch_one([](Aiv& aiv) -> Task<void> {
        for (const CacheHint hint :
             {CacheHint::bypass_l2, CacheHint::normal, CacheHint::normal, CacheHint::bypass_l2}) {
            aiv.DataCopy(LocalTensor<std::uint8_t>{0, 512}, gm_tensor<std::uint8_t>(0), 512, hint);
            aiv.PipeBarrierAll();
        }
        aiv.End();
        co_return;
    });
    dut.run();
    REQUIRE(rate_ps(512, m.memory.hbm_bandwidth.peek()) <
            m.memory.l2_read_latency.peek() + m.memory.hbm_extra_latency.peek());
    const Picoseconds on_hit = hit(m) + piece_ps(m, 512);
    const Picoseconds expected[] = {on_hit + m.memory.hbm_extra_latency.peek(),
                                    on_hit + m.memory.hbm_extra_latency.peek(), on_hit,
                                    on_hit + m.memory.hbm_extra_latency.peek()};
    for (std::size_t i = 0; i < 4; ++i) {
        const auto& copy = dut.instruction("DataCopy", i);
        CHECK(copy.ended - copy.started == expected[i]);
    }
    CHECK(dut.memory().statistics().hbm_bytes == 3 * 512);
}

TEST_CASE("memory: a line leaves the L2 when as many others have come", "[memory]") {
    Machine m = machine(either());
    const std::uint32_t lines = 16;
    m.memory.l2_bytes.set(lines * 512);
    DeviceUnderTest dut(m);
    dut.preset({}, random_bytes(64 * 512, 1), false);
    dut.launch_one(
        [](Aiv& aiv, std::uint32_t n) -> Task<void> {
            const auto read = [&aiv](std::uint64_t line) {
                aiv.DataCopy(LocalTensor<std::uint8_t>{0, 512}, gm_tensor<std::uint8_t>(line * 512), 512);
                aiv.PipeBarrierAll();
            };
            for (std::uint64_t line = 0; line < n; ++line) {
                read(line);  // all miss, all fit
            }
            read(0);  // hit
            read(n);  // miss: the oldest goes
            read(n - 1);
            read(1);  // both hit
            read(0);  // miss
            aiv.End();
            co_return;
        },
        lines);
    dut.run();
    CHECK(dut.memory().statistics().hbm_bytes == (lines + 2) * 512);
    const auto took = [&](std::size_t i) {
        const auto& copy = dut.instruction("DataCopy", i);
        return copy.ended - copy.started;
    };
    const Picoseconds on_hit = hit(m) + piece_ps(m, 512);
    const Picoseconds on_miss = on_hit + m.memory.hbm_extra_latency.peek();
    CHECK(took(lines - 1) == on_miss);
    CHECK(took(lines) == on_hit);
    CHECK(took(lines + 1) == on_miss);
    CHECK(took(lines + 2) == on_hit);
    CHECK(took(lines + 3) == on_hit);
    CHECK(took(lines + 4) == on_miss);
}

TEST_CASE("memory: many cores share the bandwidth of L2, and of HBM", "[memory]") {
    Machine m = machine(either());
    const bool hits = GENERATE(true, false);
    const std::uint32_t k = m.core.aiv_per_card.peek();
    // One core asks for at most bound * 512 B a round trip; slow the shared side down until it is the bound.
    (hits ? m.memory.l2_bandwidth : m.memory.hbm_bandwidth).set(100'000);
    const std::uint32_t bytes = 32 * 1024;
    DeviceUnderTest dut(m, {.cores = k});
    dut.preset({}, random_bytes(std::size_t{k} * bytes, 1), hits);
    for (std::uint32_t c = 0; c < k; ++c) {
        dut.launch({{}, CoreId{c}}, 0, read_once, std::uint64_t{c} * bytes, bytes, CacheHint::normal);
    }
    dut.run();
    Picoseconds first = kNever;
    Picoseconds last = 0;
    for (const auto& copy : dut.recorder.instructions) {
        first = std::min(first, copy.started);
        last = std::max(last, copy.ended);
    }
    // All requests one after the other, from the first one's arrival, plus what a lone one takes besides.
    const Picoseconds serial = k * (bytes / 512) * rate_ps(512, 100'000);
    const Picoseconds lone = hit(m) + piece_ps(m, 512) + m.memory.hbm_extra_latency.peek();
    CHECK(last - first >= serial);
    CHECK(last - first <= serial + lone);
}

TEST_CASE("memory: a store is visible exactly at its instant, and whole", "[memory]") {
    const Machine m = machine(either());
    const Picoseconds offset = GENERATE(-1, 0, 1);
    const Picoseconds begin = 1'000'000;
    const auto writer = [](Aiv& aiv) -> Task<void> {
        aiv.Duplicate(LocalTensor<std::uint16_t>{0, 512}, std::uint16_t{0x0202}, 512);
        aiv.Sync<HardEvent::V_MTE3>();
        aiv.DataCopy(gm_tensor<std::uint16_t>(0), LocalTensor<std::uint16_t>{0, 512}, 512);
        aiv.End();
        co_return;
    };
    const auto reader = [](Aiv& aiv) -> Task<void> {
        aiv.DataCopy(LocalTensor<std::uint8_t>{0, 512}, gm_tensor<std::uint8_t>(0), 512);
        aiv.Sync<HardEvent::MTE2_MTE3>();
        aiv.DataCopy(gm_tensor<std::uint8_t>(65536), LocalTensor<std::uint8_t>{0, 512}, 512);
        aiv.End();
        co_return;
    };
    Picoseconds started = 0;
    {
        DeviceUnderTest alone(m);
        alone.launch({}, begin, writer);
        alone.run();
        started = alone.instruction("DataCopy").started;
    }
    const Picoseconds lands = started + m.memory.noc_latency.peek() + m.memory.l2_write_latency.peek();
    // The reader samples a copy issue and one NoC way after its start.
    const Picoseconds sample = cycles_ps(m, m.core.scalar.copy_issue.peek()) + m.memory.noc_latency.peek();
    DeviceUnderTest dut(m, {.cores = 2});
    dut.preset({}, std::vector<std::uint8_t>(1024, 1));
    dut.launch({{}, CoreId{0}}, begin, writer);
    dut.launch({{}, CoreId{1}}, lands - sample + offset, reader);
    dut.run();
    REQUIRE(dut.recorder.landed.size() >= 2);
    CHECK(dut.recorder.landed[0].at == lands);
    CHECK(dut.recorder.landed[0].event.bytes == 512);
    const std::uint8_t expected = offset < 0 ? 1 : 2;
    CHECK(dut.gm_values<std::uint8_t>({{}, 65536}, 512) == std::vector<std::uint8_t>(512, expected));
}

TEST_CASE("memory: scalar loads go through the data cache, coherent with nobody", "[memory]") {
    const Machine m = machine(either());
    DeviceUnderTest dut(m, {.cores = 2});
    dut.preset({}, std::vector<std::int32_t>(256, 1));
    dut.launch({{}, CoreId{0}}, 0, [](Aiv& aiv) -> Task<void> {
        const auto word = gm_tensor<std::int32_t>(0);
        aiv.Phase("miss");
        const std::int32_t first = co_await aiv.LoadGm(word);
        aiv.Phase("hit");
        const std::int32_t again = co_await aiv.LoadGm(word[1]);
        aiv.Phase("wait");
        aiv.Alu(100'000);  // the other core stores meanwhile
        const std::int32_t stale = co_await aiv.LoadGm(word);
        aiv.Phase("clean");
        aiv.DataCacheCleanAndInvalid(word);
        aiv.Phase("cleaned");
        const std::int32_t fresh = co_await aiv.LoadGm(word);
        aiv.Phase(first == 1 && again == 1 && stale == 1 && fresh == 7 ? "right" : "wrong");
        // A store stays in the cache until it is cleaned.
        aiv.StoreGm(word[64], 9);
        aiv.Alu(100'000);
        const std::int32_t own = co_await aiv.LoadGm(word[64]);
        aiv.Phase(own == 9 ? "own right" : "own wrong");
        aiv.DataCacheCleanAndInvalid(word[64]);
        aiv.Phase("written back");
        aiv.End();
    });
    dut.launch({{}, CoreId{1}}, 1'000'000, [](Aiv& aiv) -> Task<void> {
        aiv.Duplicate(LocalTensor<std::int32_t>{0, 8}, 7, 8);
        aiv.Sync<HardEvent::V_MTE3>();
        aiv.DataCopy(gm_tensor<std::int32_t>(0), LocalTensor<std::int32_t>{0, 8}, 8);
        aiv.End();
        co_return;
    });
    dut.run();
    CHECK_NOTHROW(dut.at("right"));
    CHECK_NOTHROW(dut.at("own right"));
    CHECK(dut.between("miss", "hit") == m.core.scalar.gm_load_miss.peek());
    CHECK(dut.between("hit", "wait") == cycles_ps(m, m.core.scalar.gm_load_hit.peek()));
    CHECK(dut.between("clean", "cleaned") == m.core.scalar.dcci.peek());
    const auto stored = std::find_if(dut.recorder.landed.begin(), dut.recorder.landed.end(),
                                     [](const auto& b) { return b.event.core == CoreId{0}; });
    REQUIRE(stored != dut.recorder.landed.end());
    CHECK(stored->at > dut.at("own right"));
    CHECK(stored->event.bytes == m.core.scalar.cache_line.peek());
    CHECK(dut.gm_values<std::int32_t>({{}, 256}, 1)[0] == 9);
}

TEST_CASE("memory: a dirty line pushed out of the data cache is written back", "[memory]") {
    const Machine m = machine(either());
    const std::uint32_t lines = m.core.scalar.cache_bytes.peek() / m.core.scalar.cache_line.peek();
    DeviceUnderTest dut(m);
    dut.launch_one(
        [](Aiv& aiv, std::uint32_t n, std::uint32_t size) -> Task<void> {
            aiv.StoreGm(gm_tensor<std::int32_t>(0), 5);
            for (std::uint32_t i = 1; i < n; ++i) {
                const std::int32_t value = co_await aiv.LoadGm(gm_tensor<std::int32_t>(std::uint64_t{i} * size));
                static_cast<void>(value);
            }
            aiv.Phase("full");
            const std::int32_t one_more = co_await aiv.LoadGm(gm_tensor<std::int32_t>(std::uint64_t{n} * size));
            aiv.Phase(one_more == 0 ? "loaded" : "wrong");
            aiv.End();
        },
        lines, m.core.scalar.cache_line.peek());
    dut.run();
    REQUIRE(dut.recorder.landed.size() == 1);
    CHECK(dut.recorder.landed[0].at >= dut.at("full"));
    CHECK(dut.gm_values<std::int32_t>({}, 1)[0] == 5);
}

namespace {

/// A SystemC model from outside that speaks TLM-2.0.
class Initiator final : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<Initiator> socket{"socket"};

    Initiator(const sc_core::sc_module_name& name, std::function<void(Initiator&)> body)
        : sc_module(name), body_(std::move(body)) {
        SC_HAS_PROCESS(Initiator);
        SC_THREAD(run);
    }
    /// Returns the delay the transport added.
    Picoseconds access(tlm::tlm_command command, std::uint64_t address, std::vector<std::uint8_t>& data,
                       tlm::tlm_response_status expected = tlm::TLM_OK_RESPONSE, unsigned streaming = 0) {
        tlm::tlm_generic_payload transaction;
        transaction.set_command(command);
        transaction.set_address(address);
        transaction.set_data_ptr(data.data());
        transaction.set_data_length(static_cast<unsigned>(data.size()));
        transaction.set_streaming_width(streaming == 0 ? static_cast<unsigned>(data.size()) : streaming);
        const auto before = static_cast<Picoseconds>(sc_core::sc_time_stamp().value());
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        socket->b_transport(transaction, delay);
        CHECK(transaction.get_response_status() == expected);
        sc_core::wait(delay);
        return static_cast<Picoseconds>(sc_core::sc_time_stamp().value()) - before;
    }

private:
    void run() { body_(*this); }
    std::function<void(Initiator&)> body_;
};

}  // namespace

TEST_CASE("memory: an outside initiator writes and reads back with the memory's timing", "[memory]") {
    Machine m = machine(either());
    m.memory.partial_store_extra.set(0);
    const Wake wake = GENERATE(Wake::calendar, Wake::systemc);
    DeviceUnderTest dut(m, {.wake = wake});
    TlmMemoryPort door("door");
    door.memory.bind(dut.memory().cores);
    Picoseconds wrote = 0;
    Picoseconds read = 0;
    std::vector<std::uint8_t> data(1300);
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = static_cast<std::uint8_t>(i * 7 + 1);
    }
    std::vector<std::uint8_t> back(data.size());
    std::vector<std::uint8_t> from_core(32);
    Initiator outside("outside", [&](Initiator& self) {
        wrote = self.access(tlm::TLM_WRITE_COMMAND, 100, data);
        read = self.access(tlm::TLM_READ_COMMAND, 100, back);
        sc_core::wait(50, sc_core::SC_US);
        static_cast<void>(self.access(tlm::TLM_READ_COMMAND, 1'000'000, from_core));
        std::vector<std::uint8_t> four(4);
        static_cast<void>(self.access(tlm::TLM_IGNORE_COMMAND, 0, four, tlm::TLM_COMMAND_ERROR_RESPONSE));
        static_cast<void>(self.access(tlm::TLM_READ_COMMAND, 0, four, tlm::TLM_BURST_ERROR_RESPONSE, 2));
        tlm::tlm_generic_payload debug;
        debug.set_read();
        debug.set_address(100);
        debug.set_data_ptr(four.data());
        debug.set_data_length(4);
        CHECK(self.socket->transport_dbg(debug) == 4);
        CHECK(std::equal(four.begin(), four.end(), data.begin()));
    });
    outside.socket.bind(door.socket);
    // A core of the card sees what was written from outside, and the outside what the core writes.
    dut.launch({}, 20'000'000, [](Aiv& aiv) -> Task<void> {
        aiv.DataCopyPad(LocalTensor<std::uint8_t>{0, 1312}, gm_tensor<std::uint8_t>(100), {1, 1300, 0, 0});
        aiv.Sync<HardEvent::MTE2_MTE3>();
        aiv.DataCopyPad(gm_tensor<std::uint8_t>(1'000'000), LocalTensor<std::uint8_t>{0, 1312}, {1, 1300, 0, 0});
        aiv.End();
        co_return;
    });
    dut.run();
    CHECK(back == data);
    CHECK(dut.gm_values<std::uint8_t>({{}, 1'000'000}, 1300) == data);
    CHECK(std::equal(from_core.begin(), from_core.end(), data.begin()));
    // 100 … 1399 touches three lines: 412, 512 and 376 B, served one after the other by the L2's bandwidth.
    const Picoseconds queue = rate_ps(412, m.memory.l2_bandwidth.peek()) + rate_ps(512, m.memory.l2_bandwidth.peek());
    CHECK(wrote == 2 * m.memory.noc_latency.peek() + m.memory.l2_write_latency.peek() + queue);
    CHECK(read == hit(m) + queue);
}
