// SPDX-License-Identifier: Apache-2.0
// UB in simulated time: writes replace at their instant, reads take what is there, missing flags corrupt.
#include "models/aicore/unified_buffer.hpp"
#include "models/engine/random.hpp"
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace podsim;
using namespace podsim::test;

namespace {

std::vector<std::byte> read(UbIf& ub, std::uint32_t offset, std::uint32_t length, Picoseconds now) {
    Content content;
    ub.read(offset, length, now, content);
    std::vector<std::byte> out(length);
    copy_bytes(content, out);
    return out;
}
PayloadMode mode() { return GENERATE(PayloadMode::extents, PayloadMode::copying); }

}  // namespace

TEST_CASE("ub: a write replaces at its instant, not before", "[ub]") {
    const SimulationContext simulation;
    UnifiedBuffer buffer("ub", mode());
    UbIf& ub = *buffer.port.operator->();
    const std::vector<std::byte> zeros(64);
    const auto first = random_bytes(64, 1);
    const auto second = random_bytes(64, 2);
    ub.write(128, {make_bytes(first), 0, 64}, 1000);
    ub.write(128, {make_bytes(second), 0, 64}, 2000);
    CHECK(read(ub, 128, 64, 999) == zeros);
    CHECK(read(ub, 128, 64, 1000) == first);
    CHECK(read(ub, 128, 64, 1999) == first);
    CHECK(read(ub, 128, 64, 2000) == second);
}

TEST_CASE("ub: of two writes the later one wins, and at one instant the one given last", "[ub]") {
    const SimulationContext simulation;
    UnifiedBuffer buffer("ub", mode());
    UbIf& ub = *buffer.port.operator->();
    const auto a = random_bytes(64, 1);
    const auto b = random_bytes(64, 2);
    ub.write(0, {make_bytes(a), 0, 64}, 3000);  // given first, done last
    ub.write(0, {make_bytes(b), 0, 64}, 2000);
    CHECK(read(ub, 0, 64, 5000) == a);
    ub.write(64, {make_bytes(a), 0, 64}, 6000);
    ub.write(64, {make_bytes(b), 0, 64}, 6000);
    CHECK(read(ub, 64, 64, 6000) == b);
}

TEST_CASE("ub: random overlapping writes against a flat array", "[ub]") {
    const SimulationContext simulation;
    UnifiedBuffer buffer("ub", mode());
    UbIf& ub = *buffer.port.operator->();
    const std::uint64_t seed = GENERATE(1, 2, 3, 4);
    const auto draw = [seed](std::uint64_t n, std::uint64_t bound) {
        return random_below(seed, RandomStream::sampling, 9, n, bound);
    };
    constexpr std::uint32_t kSize = 6144;  // three pages
    std::vector<std::byte> flat(kSize);
    std::multimap<Picoseconds, std::pair<std::uint32_t, std::vector<std::byte>>> pending;  // keeps equal keys in order
    Picoseconds now = 0;
    std::uint64_t n = 0;
    for (int step = 0; step < 3000; ++step) {
        const auto offset = static_cast<std::uint32_t>(draw(++n, kSize));
        const std::uint64_t most = draw(++n, 10) == 0 ? 5000 : 700;
        const auto length = static_cast<std::uint32_t>(1 + draw(++n, std::min<std::uint64_t>(kSize - offset, most)));
        if (draw(++n, 3) != 0) {
            auto bytes = random_bytes(length, seed * 10'000 + static_cast<std::uint64_t>(step));
            const Picoseconds at = now + static_cast<Picoseconds>(draw(++n, 300));
            if (draw(++n, 5) == 0) {  // zeros without a payload
                std::fill(bytes.begin(), bytes.end(), std::byte{0});
                ub.write(offset, {nullptr, 0, length}, at);
            } else if (draw(++n, 2) == 0) {  // as a row comes that is cut into blocks
                const PayloadRef whole = make_bytes(bytes);
                for (std::uint32_t from = 0; from < length;) {
                    const auto piece = static_cast<std::uint32_t>(1 + draw(++n, length - from));
                    const bool copied = draw(++n, 2) == 0;
                    const auto begin = bytes.begin() + from;
                    ub.write(offset + from,
                             copied ? Slice{make_bytes({begin, begin + piece}), 0, piece} : Slice{whole, from, piece},
                             at);
                    from += piece;
                }
            } else {
                ub.write(offset, {make_bytes(bytes), 0, length}, at);
            }
            pending.emplace(at, std::pair(offset, std::move(bytes)));
        } else {
            now += static_cast<Picoseconds>(draw(++n, 100));
            while (!pending.empty() && pending.begin()->first <= now) {
                const auto& [where, bytes] = pending.begin()->second;
                std::copy(bytes.begin(), bytes.end(), flat.begin() + where);
                pending.erase(pending.begin());
            }
            const auto begin = flat.begin() + offset;
            REQUIRE(read(ub, offset, length, now) == std::vector<std::byte>(begin, begin + length));
        }
    }
}

namespace {

/// Copies 2048 fp32 in and doubles them, with or without the flag between.
Task<void> doubled(Aiv& aiv, bool flag) {
    const LocalTensor<float> x{0, 2048};
    const LocalTensor<float> y{8192, 2048};
    aiv.Duplicate(x, 1.0F, 2048);
    aiv.PipeBarrierAll();
    aiv.DataCopy(x, gm_tensor<float>(0), 2048);
    if (flag) {
        aiv.SetFlag<HardEvent::MTE2_V>(0);
        aiv.WaitFlag<HardEvent::MTE2_V>(0);
    }
    aiv.Add(y, x, x, 2048);
    aiv.Sync<HardEvent::V_MTE3>();
    aiv.DataCopy(gm_tensor<float>(65536), y, 2048);
    aiv.End();
    co_return;
}

}  // namespace

TEST_CASE("ub: V without a flag computes on what was there before the copy", "[ub]") {
    const bool flag = GENERATE(true, false);
    DeviceUnderTest dut(machine(GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod")), {.payload = mode()});
    dut.preset({}, std::vector<float>(2048, 21.0F));
    dut.launch_one(doubled, flag);
    dut.run();
    CHECK(dut.gm_values<float>({{}, 65536}, 2048) == std::vector<float>(2048, flag ? 42.0F : 2.0F));
}

TEST_CASE("ub: MTE3 without a flag sends what was there before the result", "[ub]") {
    const bool flag = GENERATE(true, false);
    DeviceUnderTest dut(machine(GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod")), {.payload = mode()});
    dut.launch_one(
        [](Aiv& aiv, bool with_flag) -> Task<void> {
            aiv.Duplicate(LocalTensor<float>{0, 2048}, 5.0F, 2048);
            if (with_flag) {
                aiv.Sync<HardEvent::V_MTE3>();
            }
            aiv.DataCopy(gm_tensor<float>(0), LocalTensor<float>{0, 2048}, 2048);
            aiv.End();
            co_return;
        },
        flag);
    dut.run();
    CHECK(dut.gm_values<float>({}, 2048) == std::vector<float>(2048, flag ? 5.0F : 0.0F));
}

TEST_CASE("ub: overwriting a buffer MTE3 has taken is no harm, before it is", "[ub]") {
    // MTE3 takes its source when it starts: the next write by V must wait for that, which MTE3_V at read says.
    Machine m = machine("tiny_pod");
    m.core.mte.mte3_event.set(Mte3Event::at_read);
    DeviceUnderTest dut(m, {.payload = mode()});
    dut.launch_one([](Aiv& aiv) -> Task<void> {
        const LocalTensor<float> x{0, 2048};
        for (std::uint32_t i = 0; i < 5; ++i) {
            aiv.Duplicate(x, static_cast<float>(i), 2048);
            aiv.Sync<HardEvent::V_MTE3>();
            aiv.DataCopy(gm_tensor<float>(i * 8192), x, 2048);
            aiv.Sync<HardEvent::MTE3_V>(1);
        }
        aiv.End();
        co_return;
    });
    dut.run();
    for (std::uint32_t i = 0; i < 5; ++i) {
        CHECK(dut.gm_values<float>({{}, i * 8192}, 2048) == std::vector<float>(2048, static_cast<float>(i)));
    }
}
