// SPDX-License-Identifier: Apache-2.0
// What data-as-flag rests on: a block lands whole, so a flag in it is only seen together with its data.
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace podsim;
using namespace podsim::test;

namespace {

constexpr std::uint32_t kBlocks = 15;  // a 7 KB row
constexpr std::uint32_t kWords = kBlocks * kBlockBytes / 4;
constexpr std::uint32_t kVersions = 12;
constexpr std::uint32_t kSamples = 60;
constexpr std::uint64_t kLog = std::uint64_t{1} << 20U;

/// A row of which every word is the version's number, over and over, with nothing between one version and the next.
Task<void> write_versions(Aiv& aiv, CardId to) {
    const auto row = aiv.Alloc<std::int32_t>(kWords);
    for (std::uint32_t version = 1; version <= kVersions; ++version) {
        aiv.Duplicate(row, static_cast<std::int32_t>(version), kWords);
        aiv.Sync<HardEvent::V_MTE3>();
        aiv.DataCopy(gm_tensor<std::int32_t>(0, index(to)), row, kWords);
        aiv.Sync<HardEvent::MTE3_V>();
    }
    aiv.End();
    co_return;
}

/// The whole row, again and again, into a log.
Task<void> read_samples(Aiv& aiv, CardId self) {
    const auto row = aiv.Alloc<std::int32_t>(kWords);
    for (std::uint32_t sample = 0; sample < kSamples; ++sample) {
        aiv.DataCopy(row, gm_tensor<std::int32_t>(0, index(self)), kWords);
        aiv.Sync<HardEvent::MTE2_MTE3>();
        aiv.DataCopy(gm_tensor<std::int32_t>(kLog + sample * kWords * 4, index(self)), row, kWords);
        aiv.Sync<HardEvent::MTE3_MTE2>();
    }
    aiv.End();
    co_return;
}

}  // namespace

TEST_CASE("block: a flag in it is only seen together with the whole block, whatever other blocks do", "[mte]") {
    Machine m = machine(GENERATE(as<std::string>{}, "atlas_a3_pod", "tiny_pod"));
    m.fabric.extra_reorder.set(GENERATE(0, 3'000'000));
    const PayloadMode payload = GENERATE(PayloadMode::extents, PayloadMode::copying);
    const CardId far{2};  // another package
    DeviceUnderTest dut(m, {.cards = 3, .payload = payload});
    dut.launch({}, 0, write_versions, far);
    dut.launch({far, CoreId{0}}, 0, read_samples, far);
    dut.run();
    std::size_t torn = 0, mixed = 0;
    std::set<std::int32_t> versions;
    for (std::uint32_t sample = 0; sample < kSamples; ++sample) {
        const auto row = dut.gm_values<std::int32_t>({far, kLog + sample * kWords * 4}, kWords);
        std::set<std::int32_t> in_row;
        for (std::uint32_t block = 0; block < kBlocks; ++block) {
            const std::int32_t* words = row.data() + block * (kBlockBytes / 4);
            const std::int32_t flag = words[kBlockBytes / 4 - 1];  // where block layouts have theirs
            for (std::uint32_t word = 0; word < kBlockBytes / 4; ++word) {
                torn += words[word] != flag ? 1 : 0;
            }
            in_row.insert(flag);
        }
        mixed += in_row.size() > 1 ? 1 : 0;
        versions.insert(in_row.begin(), in_row.end());
    }
    CHECK(torn == 0);
    // Rows, on the other hand, come in pieces: without that the test would prove nothing.
    CHECK(mixed > 0);
    CHECK(versions.size() > 3);
}
