// SPDX-License-Identifier: Apache-2.0
/// The hazard checker on small kernels: a right one is clean; with one flag or barrier left out, exactly the
/// two lines that are no longer ordered are named.
#include "sim/observe/hazards.hpp"
#include "tests/support/device_under_test.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace podsim;
using namespace podsim::test;

namespace {

constexpr std::uint32_t kCount = 64;

/// What is left out of a kernel.
enum class Fault { none, mte2_v, v_barrier, v_mte3, mte3_mte2, v_mte2, v_s, s_v, s_mte3, mte2_s, mte2_mte3, mte3_v };

/// Lines of the kernel at hand, noted by the kernel itself.
struct Lines {
    std::uint32_t first = 0, second = 0;
};

template <class Kernel, class... Args>
std::vector<Hazard> hazards_of(Kernel kernel, Args... args) {
    HazardDetector detector(1, 1);
    DutOptions options;
    options.listener = &detector;
    DeviceUnderTest dut(machine("atlas_a3_pod"), options);
    dut.launch_one(kernel, args...);
    dut.run();
    REQUIRE(dut.core().finished());
    return detector.hazards();
}

void check_one(const std::vector<Hazard>& found, HazardKind kind, Pipe first, Pipe second, const Lines& lines) {
    REQUIRE(found.size() == 1);
    const Hazard& h = found.front();
    CHECK(name_of(h.kind) == name_of(kind));
    CHECK(name_of(h.first.pipe) == name_of(first));
    CHECK(name_of(h.second.pipe) == name_of(second));
    CHECK(h.first.line == lines.first);
    CHECK(h.second.line == lines.second);
    CHECK(h.first.file.ends_with("observe_hazards.cpp"));
    CHECK(h.second.file.ends_with("observe_hazards.cpp"));
    CHECK(h.to > h.from);
}

/// GM -> UB -> two vector operations -> UB -> GM, twice, through the same buffers.
Task<void> stream(Aiv& aiv, Fault fault, Lines* lines) {
    const auto in = aiv.Alloc<float>(kCount);
    const auto work = aiv.Alloc<float>(kCount);
    const auto out = aiv.Alloc<float>(kCount);
    const auto gm = gm_tensor<float>(0);
    const bool mte3_v = fault != Fault::mte3_v;
    std::uint32_t copy_in = 0, cast = 0, scale = 0, copy_out = 0;
    for (std::uint32_t turn = 0; turn < 2; ++turn) {
        copy_in = __LINE__ + 1;
        aiv.DataCopy(in, gm[turn * kCount], kCount);
        if (fault != Fault::mte2_v) {
            aiv.Sync<HardEvent::MTE2_V>(0);
        }
        if (turn > 0 && mte3_v) {
            aiv.WaitFlag<HardEvent::MTE3_V>(2);
        }
        cast = __LINE__ + 1;
        aiv.Adds(work, in, 1.0F, kCount);
        if (fault != Fault::v_mte2) {
            aiv.Sync<HardEvent::V_MTE2>(1);
        }
        if (fault != Fault::v_barrier) {
            aiv.PipeBarrier<Pipe::v>();
        }
        scale = __LINE__ + 1;
        aiv.Muls(out, work, 2.0F, kCount);
        aiv.PipeBarrier<Pipe::v>();
        if (fault != Fault::v_mte3) {
            aiv.Sync<HardEvent::V_MTE3>(0);
        }
        copy_out = __LINE__ + 1;
        aiv.DataCopy(gm[4096 + turn * kCount], out, kCount);
        if (turn == 0 && mte3_v) {
            aiv.SetFlag<HardEvent::MTE3_V>(2);
        }
    }
    switch (fault) {
        case Fault::mte2_v:
            *lines = {copy_in, cast};
            break;
        case Fault::v_mte2:
            *lines = {cast, copy_in};
            break;
        case Fault::v_barrier:
            *lines = {cast, scale};
            break;
        case Fault::v_mte3:
            *lines = {scale, copy_out};
            break;
        default:
            *lines = {copy_out, scale};
            break;
    }
    aiv.End();
    co_return;
}

/// A value through the scalar unit and back, and a scalar store that leaves by MTE3 and comes by MTE2.
Task<void> scalar(Aiv& aiv, Fault fault, Lines* lines) {
    const auto in = aiv.Alloc<float>(kCount);
    const auto sum = aiv.Alloc<float>(8);
    const auto cell = aiv.Alloc<float>(8);
    const auto gm = gm_tensor<float>(0);
    aiv.Duplicate(in, 1.0F, kCount);
    aiv.PipeBarrier<Pipe::v>();
    const std::uint32_t reduce = __LINE__ + 1;
    aiv.ReduceSum(sum, in, kCount);
    if (fault != Fault::v_s) {
        aiv.Sync<HardEvent::V_S>();
    }
    const std::uint32_t load = __LINE__ + 1;
    const float value = co_await aiv.GetValue(sum, 0);
    if (fault != Fault::s_v) {
        aiv.Sync<HardEvent::S_V>();
    }
    aiv.PipeBarrier<Pipe::v>();
    const std::uint32_t again = __LINE__ + 1;
    aiv.Duplicate(sum, 0.0F, 8);
    const std::uint32_t store = __LINE__ + 1;
    aiv.SetValue(cell, 0, value);
    if (fault != Fault::s_mte3) {
        aiv.Sync<HardEvent::S_MTE3>();
    }
    const std::uint32_t leave = __LINE__ + 1;
    aiv.DataCopy(gm, cell, 8);
    if (fault != Fault::mte3_mte2) {
        aiv.Sync<HardEvent::MTE3_MTE2>();
    }
    const std::uint32_t come = __LINE__ + 1;
    aiv.DataCopy(cell, gm[64], 8);
    if (fault != Fault::mte2_s) {
        aiv.Sync<HardEvent::MTE2_S>();
    }
    const std::uint32_t look = __LINE__ + 1;
    co_await aiv.GetValue(cell, 0);
    if (fault != Fault::mte2_mte3) {
        aiv.Sync<HardEvent::MTE2_MTE3>();
    }
    const std::uint32_t forward = __LINE__ + 1;
    aiv.DataCopy(gm[128], cell, 8);
    switch (fault) {
        case Fault::v_s:
            *lines = {reduce, load};
            break;
        case Fault::s_v:
            *lines = {load, again};
            break;
        case Fault::s_mte3:
            *lines = {store, leave};
            break;
        case Fault::mte3_mte2:
            *lines = {leave, come};
            break;
        case Fault::mte2_s:
            *lines = {come, look};
            break;
        default:
            *lines = {come, forward};
            break;
    }
    aiv.End();
}

}  // namespace

TEST_CASE("hazards: a stream with all its flags has none, each flag left out is found", "[observe]") {
    Lines lines;
    CHECK(hazards_of(stream, Fault::none, &lines).empty());
    const auto without = [&lines](Fault fault) { return hazards_of(stream, fault, &lines); };
    check_one(without(Fault::mte2_v), HazardKind::raw, Pipe::mte2, Pipe::v, lines);
    check_one(without(Fault::v_mte2), HazardKind::war, Pipe::v, Pipe::mte2, lines);
    check_one(without(Fault::v_barrier), HazardKind::raw, Pipe::v, Pipe::v, lines);
    check_one(without(Fault::v_mte3), HazardKind::raw, Pipe::v, Pipe::mte3, lines);
    check_one(without(Fault::mte3_v), HazardKind::war, Pipe::mte3, Pipe::v, lines);
}

TEST_CASE("hazards: scalar loads and stores need flags of their own", "[observe]") {
    Lines lines;
    CHECK(hazards_of(scalar, Fault::none, &lines).empty());
    const auto without = [&lines](Fault fault) { return hazards_of(scalar, fault, &lines); };
    check_one(without(Fault::v_s), HazardKind::raw, Pipe::v, Pipe::s, lines);
    check_one(without(Fault::s_v), HazardKind::war, Pipe::s, Pipe::v, lines);
    check_one(without(Fault::mte2_s), HazardKind::raw, Pipe::mte2, Pipe::s, lines);
}

TEST_CASE("hazards: MTE3 reads a buffer that MTE2 fills again", "[observe]") {
    Lines lines;
    auto found = hazards_of(scalar, Fault::mte3_mte2, &lines);
    // The scalar store is not ordered with the copy in either: it was, through MTE3.
    REQUIRE(found.size() == 2);
    CHECK(std::any_of(found.begin(), found.end(), [&](const Hazard& h) {
        return h.kind == HazardKind::war && h.first.line == lines.first && h.second.line == lines.second;
    }));
    CHECK(std::any_of(found.begin(), found.end(), [&](const Hazard& h) {
        return h.kind == HazardKind::waw && h.first.pipe == Pipe::s && h.second.line == lines.second;
    }));
    found = hazards_of(scalar, Fault::s_mte3, &lines);
    REQUIRE(found.size() == 3);  // nothing that touches the cell later is ordered with the store, either
    CHECK(std::any_of(found.begin(), found.end(), [&](const Hazard& h) {
        return h.kind == HazardKind::raw && h.first.line == lines.first && h.second.line == lines.second;
    }));
}

TEST_CASE("hazards: what the scalar unit waited for is done before what it issues next", "[observe]") {
    Lines lines;
    // No MTE2_MTE3 flag, but MTE2_S came before the copy out was issued.
    CHECK(hazards_of(scalar, Fault::mte2_mte3, &lines).empty());
}

TEST_CASE("hazards: barriers and polls order", "[observe]") {
    CHECK(hazards_of([](Aiv& aiv) -> Task<void> {
              const auto a = aiv.Alloc<float>(kCount);
              const auto gm = gm_tensor<float>(0);
              aiv.DataCopy(a, gm, kCount);
              aiv.PipeBarrierAll();
              aiv.Muls(a, a, 2.0F, kCount);
              aiv.SyncAll();
              aiv.SetValue(a, 3, 1.0F);
              aiv.PipeBarrierAll();
              aiv.DataCopy(gm, a, kCount);
              aiv.End();
              co_return;
          }).empty());
    CHECK(hazards_of([](Aiv& aiv) -> Task<void> {
              const auto cell = aiv.Alloc<float>(8);
              const auto sum = aiv.Alloc<float>(8);
              PollSpec poll;
              poll.copy = aiv.PollCopy(cell, gm_tensor<float>(0), {1, 32, 0, 0});
              poll.chain.push_back(aiv.PollReduceSum(sum, cell, 8, 0, 1));
              Aiv::PollCompare(poll, sum, Compare::eq, 0.0F);
              aiv.Duplicate(cell, 1.0F, 8);
              co_await aiv.PollUntil(poll);
              aiv.Muls(sum, cell, 2.0F, 8);
              aiv.End();
          }).empty());
}

TEST_CASE("hazards: a poll does not wait for MTE3", "[observe]") {
    const auto kernel = [](Aiv& aiv, bool flag) -> Task<void> {
        const auto cell = aiv.Alloc<float>(8);
        PollSpec poll;
        poll.copy = aiv.PollCopy(cell, gm_tensor<float>(0), {1, 32, 0, 0});
        Aiv::PollCompare(poll, cell, Compare::eq, 0.0F);
        aiv.DataCopy(gm_tensor<float>(4096), cell, 8);
        if (flag) {
            aiv.Sync<HardEvent::MTE3_MTE2>();
        }
        co_await aiv.PollUntil(poll);
        aiv.End();
    };
    CHECK(hazards_of(kernel, true).empty());
    const auto found = hazards_of(kernel, false);
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == HazardKind::war);
    CHECK(found[0].first.pipe == Pipe::mte3);
    CHECK(found[0].second.what == "PollUntil");
}

TEST_CASE("hazards: a flag stands for what its pipe had begun, not for what came after SetFlag", "[observe]") {
    // MTE2 fires its flag late, when both copies are under way; only the first is covered.
    const auto found = hazards_of([](Aiv& aiv) -> Task<void> {
        const auto a = aiv.Alloc<float>(1024);
        const auto b = aiv.Alloc<float>(1024);
        const auto gm = gm_tensor<float>(0);
        aiv.DataCopy(a, gm, 1024);
        aiv.SetFlag<HardEvent::MTE2_V>(0);
        aiv.DataCopy(b, gm[1024], 1024);
        aiv.WaitFlag<HardEvent::MTE2_V>(0);
        aiv.Adds(a, a, 1.0F, 1024);
        aiv.Adds(b, b, 1.0F, 1024);
        aiv.End();
        co_return;
    });
    REQUIRE(found.size() == 2);  // the sum reads and writes
    for (const Hazard& h : found) {
        CHECK(h.first.pipe == Pipe::mte2);
        CHECK(h.second.pipe == Pipe::v);
        CHECK(h.from == 4096);
        CHECK(h.to == 8192);
    }
}

TEST_CASE("hazards: strided copies touch their bursts, not the gaps", "[observe]") {
    const auto kernel = [](Aiv& aiv, std::uint32_t word) -> Task<void> {
        const auto a = aiv.Alloc<std::uint8_t>(512);
        aiv.DataCopyPad(a, gm_tensor<std::uint8_t>(0), {4, 64, 0, 2});  // bursts of 64 B, 64 B apart
        aiv.SetValue(a.ReinterpretCast<std::int32_t>(), word, 7);
        aiv.End();
        co_return;
    };
    CHECK(hazards_of(kernel, 16U).empty());
    CHECK(hazards_of(kernel, 63U).empty());
    const auto found = hazards_of(kernel, 32U);
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == HazardKind::waw);
    CHECK(found[0].from == 128);
    CHECK(found[0].to == 132);
}

TEST_CASE("hazards: one pair of lines is one entry with a count", "[observe]") {
    const auto found = hazards_of([](Aiv& aiv) -> Task<void> {
        const auto a = aiv.Alloc<float>(kCount);
        for (int turn = 0; turn < 5; ++turn) {
            aiv.DataCopy(a, gm_tensor<float>(0), kCount);
            aiv.Adds(a, a, 1.0F, kCount);
            aiv.PipeBarrierAll();
        }
        aiv.End();
        co_return;
    });
    REQUIRE(found.size() == 2);  // the sum reads and writes what the copy writes
    CHECK(found[0].count == 5);
    CHECK(found[1].count == 5);
}

TEST_CASE("hazards: seldom-used orders: a wait issued before its set, a set kept through a barrier", "[observe]") {
    CHECK(hazards_of([](Aiv& aiv) -> Task<void> {
              const auto a = aiv.Alloc<float>(kCount);
              const auto gm = gm_tensor<float>(0);
              aiv.Duplicate(a, 1.0F, kCount);
              aiv.WaitFlag<HardEvent::V_MTE3>(0);
              aiv.SetFlag<HardEvent::V_MTE3>(0);
              aiv.DataCopy(gm, a, kCount);
              aiv.SetFlag<HardEvent::MTE3_V>(1);
              aiv.PipeBarrierAll();
              aiv.WaitFlag<HardEvent::MTE3_V>(1);
              aiv.Duplicate(a, 2.0F, kCount);
              aiv.End();
              co_return;
          }).empty());
}
