// SPDX-License-Identifier: Apache-2.0
// A random kernel gives the same bytes and times in every mode of running it: payloads shared or copied,
// calendar or SystemC events, elided or explicit polls.
#include "models/engine/random.hpp"
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <string>
#include <vector>

using namespace podsim;
using namespace podsim::test;

namespace {

constexpr std::uint32_t kCores = 3;
constexpr std::uint64_t kRegion = 1 << 18;

/// Copies, computes and stores at random, with and without the flags it would need.
Task<void> wild(Aiv& aiv, std::uint64_t seed, std::uint32_t cards) {
    const std::uint64_t who = index(aiv.self().card) * 100 + index(aiv.self().core);
    std::uint64_t n = 0;
    std::array<bool, 3> pending{};
    const auto draw = [seed, who](std::uint64_t i, std::uint64_t bound) {
        return random_below(seed, RandomStream::sampling, who, i, bound);
    };
    for (int step = 0; step < 150; ++step) {
        const auto ub = static_cast<std::uint32_t>(32 * draw(++n, 512));
        const auto other = static_cast<std::uint32_t>(32 * draw(++n, 512));
        const auto count = static_cast<std::uint32_t>(8 * (1 + draw(++n, 100)));
        const auto card = static_cast<std::uint32_t>(draw(++n, cards));
        const std::uint64_t gm = draw(++n, kRegion);
        const GlobalTensor<std::uint8_t> far{{CardId{card}, gm}};
        const GlobalTensor<float> words{{CardId{card}, gm / 4 * 4}};
        const auto which = draw(++n, 10);
        const auto blocks = static_cast<std::uint32_t>(1 + draw(++n, 4));
        const std::uint64_t gm_gap = draw(++n, 700);
        const std::uint64_t ub_gap = draw(++n, 3);
        if (which < 2) {
            aiv.DataCopyPad(LocalTensor<std::uint8_t>{ub, 8192}, far, {blocks, count, gm_gap, ub_gap});
        } else if (which < 4) {
            aiv.DataCopyPad(far, LocalTensor<std::uint8_t>{ub, 8192}, {blocks, count + 3, ub_gap, gm_gap});
        } else if (which == 4) {
            aiv.DataCopy(words, LocalTensor<float>{ub, count}, count);
        } else if (which == 5) {
            aiv.Max(LocalTensor<std::int32_t>{ub, count}, LocalTensor<std::int32_t>{other, count},
                    LocalTensor<std::int32_t>{ub, count}, count);
        } else if (which == 6) {
            aiv.Copy(LocalTensor<std::int32_t>{ub, count}, LocalTensor<std::int32_t>{other, count}, count);
        } else if (which == 7) {
            aiv.Cast(LocalTensor<std::int32_t>{ub, count}, LocalTensor<std::int16_t>{other, count}, Round::none, count);
        } else if (which == 8) {
            const auto place = static_cast<std::uint32_t>(draw(++n, 8));
            aiv.SetValue(LocalTensor<std::uint32_t>{ub, 8}, place, static_cast<std::uint32_t>(n * 2654435761U));
            const std::uint32_t value = co_await aiv.GetValue(LocalTensor<std::uint32_t>{other, 8}, 3);
            aiv.Alu(1 + value % 50);
        } else {
            aiv.PipeBarrierAll();
        }
        const auto order = draw(++n, 6);
        if (order < 3 && pending[order]) {
            aiv.PipeBarrierAll();  // a flag may not be set again before it was waited for
            pending = {};
        }
        if (order == 0) {
            aiv.Sync<HardEvent::MTE2_V>(1);
        } else if (order == 1) {
            aiv.Sync<HardEvent::V_MTE3>(2);
        } else if (order == 2) {
            aiv.Sync<HardEvent::MTE3_MTE2>(3);
        } else if (order == 3) {
            aiv.PipeBarrier<Pipe::v>();
        }
        if (order < 3) {
            pending[order] = true;
        }
    }
    aiv.SyncAll();
    aiv.DataCopy(GlobalTensor<std::uint8_t>{{aiv.self().card, kRegion * 2 + index(aiv.self().core) * 32'768}},
                 LocalTensor<std::uint8_t>{0, 32'768}, 32'768);
    aiv.End();
}

struct Outcome {
    std::vector<Picoseconds> ends;
    std::vector<std::byte> bytes;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome outcome(const Machine& m, std::uint64_t seed, DutOptions options) {
    options.cards = m.fabric.topology.cards_per_node() + 1 > 6 ? 3 : m.fabric.topology.cards_per_node() + 1;
    options.cores = kCores;
    DeviceUnderTest dut(m, options);
    for (std::uint32_t card = 0; card < options.cards; ++card) {
        dut.preset({CardId{card}, 0}, random_bytes(kRegion + 8192, card));
        for (std::uint32_t core = 0; core < kCores; ++core) {
            dut.launch({CardId{card}, CoreId{core}}, core * 777, wild, seed, options.cards);
        }
    }
    dut.run();
    Outcome o;
    for (std::uint32_t card = 0; card < options.cards; ++card) {
        for (std::uint32_t core = 0; core < kCores; ++core) {
            CHECK(dut.core({CardId{card}, CoreId{core}}).finished());
            o.ends.push_back(dut.end({CardId{card}, CoreId{core}}));
        }
        const auto bytes = dut.gm({CardId{card}, 0}, kRegion * 2 + kCores * 32'768);
        o.bytes.insert(o.bytes.end(), bytes.begin(), bytes.end());
    }
    return o;
}

}  // namespace

TEST_CASE("modes: shared payloads, copies, calendar and SystemC events agree", "[modes]") {
    Machine m = machine(GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"));
    if (GENERATE(false, true)) {
        m.core.translation.walk.set(310'000);
        m.core.instructions.miss.set(70'000);
    }
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        CAPTURE(seed);
        const Outcome reference = outcome(m, seed, {});
        CHECK(outcome(m, seed, {.payload = PayloadMode::copying}) == reference);
        CHECK(outcome(m, seed, {.wake = Wake::systemc}) == reference);
        CHECK(outcome(m, seed, {}) == reference);
    }
}
