// SPDX-License-Identifier: Apache-2.0
// Rules of the hardware a kernel can break: refused as its error, naming its line.
#include "models/engine/error.hpp"
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace podsim;
using namespace podsim::test;

namespace {

const char kHere[] = "tests/unit/aicore_kernel_errors.cpp:";

/// What the run of `kernel` is refused with.
template <class Kernel>
std::string refusal(Kernel kernel, std::uint64_t gm_bytes = 1 << 20) {
    DeviceUnderTest dut(machine("tiny_pod"), {.cards = 2, .gm_bytes = gm_bytes});
    dut.launch({CardId{1}, CoreId{0}}, 0, kernel);
    try {
        dut.run();
    } catch (const KernelError& error) {
        CHECK(error.code() == ExitCode::kernel_wrong);
        return error.what();
    }
    return "";
}

using ByteTensor = LocalTensor<std::uint8_t>;
GlobalTensor<std::uint8_t> own(std::uint64_t offset) { return gm_tensor<std::uint8_t>(offset, 1); }

}  // namespace

TEST_CASE("kernel error: names the kernel's line, card and core", "[kernel-error]") {
    const int line = __LINE__ + 2;
    const std::string text = refusal([](Aiv& aiv) -> Task<void> {
        aiv.DataCopy(ByteTensor{16, 64}, own(0), 64);
        co_return;
    });
    CHECK_THAT(text, Catch::Contains(kHere + std::to_string(line) + ": card 1 core 0: DataCopy"));
    CHECK_THAT(text, Catch::Contains("32 B"));
}

TEST_CASE("kernel error: Unified Buffer over budget", "[kernel-error]") {
    // tiny_pod has 98,304 B.
    CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                   const auto all = aiv.Alloc<float>(98'304 / 4);
                   static_cast<void>(all);
                   const auto more = aiv.Alloc<std::uint8_t>(1);
                   static_cast<void>(more);
                   co_return;
               }),
               Catch::Contains(kHere) && Catch::Contains("98304"));
    CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                   const auto whole = aiv.Alloc<std::uint8_t>(98'304);
                   aiv.FreeAll();
                   const auto again = aiv.Alloc<std::uint8_t>(33);
                   const auto next = aiv.Alloc<std::uint8_t>(33);
                   const bool right =
                       whole.offset == 0 && again.offset == 0 && next.offset == 64 && aiv.UbLeft() == 98'304 - 128;
                   aiv.DataCopy(ByteTensor{right ? 98'304U : 0U, 64}, own(0), 64);
                   co_return;
               }),
               Catch::Contains("98368") && Catch::Contains("98304"));
}

TEST_CASE("kernel error: a flag that announces memory of another card than it goes to", "[kernel-error]") {
    CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                   aiv.DataCopyPad(own(0), ByteTensor{0, 64}, {1, 32, 0, 0},
                                   Announces{gm_tensor<std::uint8_t>(512, 0).address, 64});
                   co_return;
               }),
               Catch::Contains(kHere) && Catch::Contains("a flag on card 1 announces memory of card 0"));
}

TEST_CASE("kernel error: copies", "[kernel-error]") {
    SECTION("no whole granule") {
        CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                       aiv.DataCopy(ByteTensor{0, 64}, own(0), 40);
                       co_return;
                   }),
                   Catch::Contains(kHere) && Catch::Contains("40 B"));
    }
    SECTION("misaligned UB, either way") {
        CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                       aiv.DataCopyPad(own(0), ByteTensor{8, 64}, {1, 5, 0, 0});
                       co_return;
                   }),
                   Catch::Contains(kHere) && Catch::Contains("UB offset 8"));
    }
    SECTION("empty") {
        CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                       aiv.DataCopy(ByteTensor{0, 64}, own(0), 0);
                       co_return;
                   }),
                   Catch::Contains(kHere) && Catch::Contains("empty"));
        CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                       aiv.DataCopyPad(ByteTensor{0, 64}, own(0), {0, 32, 0, 0});
                       co_return;
                   }),
                   Catch::Contains(kHere) && Catch::Contains("empty"));
    }
    SECTION("beyond UB, by stride") {
        CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                       aiv.DataCopyPad(ByteTensor{0, 64}, own(0), {4, 32, 0, 1023});
                       co_return;
                   }),
                   Catch::Contains(kHere) && Catch::Contains("98336"));
    }
    SECTION("beyond GM, and the last byte that is not") {
        CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                       aiv.DataCopyPad(own((1 << 20) - 5), ByteTensor{0, 32}, {1, 5, 0, 0});
                       aiv.DataCopyPad(own((1 << 20) - 5), ByteTensor{0, 32}, {1, 6, 0, 0});
                       co_return;
                   }),
                   Catch::Contains(kHere) && Catch::Contains("0xffffb..0x100001") &&
                       Catch::Contains("MTE DDR address out of range"));
    }
    SECTION("a card that is not there") {
        CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                       aiv.DataCopy(gm_tensor<std::uint8_t>(0, 2), ByteTensor{0, 32}, 32);
                       co_return;
                   }),
                   Catch::Contains(kHere) && Catch::Contains("card 2"));
    }
}

TEST_CASE("kernel error: vector operands", "[kernel-error]") {
    CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                   aiv.Add(LocalTensor<float>{0, 64}, LocalTensor<float>{260, 64}, LocalTensor<float>{512, 64}, 64);
                   co_return;
               }),
               Catch::Contains(kHere) && Catch::Contains("Add") && Catch::Contains("260"));
    CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                   aiv.Duplicate(LocalTensor<float>{0, 64}, 1.0F, 98'304 / 4 + 1);
                   co_return;
               }),
               Catch::Contains(kHere) && Catch::Contains("98308"));
    CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                   aiv.Duplicate(LocalTensor<float>{0, 64}, 1.0F, 0);
                   co_return;
               }),
               Catch::Contains(kHere) && Catch::Contains("0 elements"));
    CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                   aiv.Abs(LocalTensor<std::int32_t>{0, 64}, LocalTensor<std::int32_t>{512, 64}, 64);
                   co_return;
               }),
               Catch::Contains(kHere) && Catch::Contains("Abs") && Catch::Contains("int32_t"));
}

TEST_CASE("kernel error: flags and scalar accesses", "[kernel-error]") {
    CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                   aiv.SetFlag<HardEvent::MTE2_V>(7);
                   aiv.WaitFlag<HardEvent::MTE2_V>(8);
                   co_return;
               }),
               Catch::Contains(kHere) && Catch::Contains("event id 8"));
    CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                   aiv.SetValue(LocalTensor<float>{0, 8}, 98'304 / 4, 1.0F);
                   co_return;
               }),
               Catch::Contains(kHere) && Catch::Contains("98304"));
    CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                   const std::int64_t value = co_await aiv.GetValue(LocalTensor<std::int64_t>{4, 8}, 0);
                   static_cast<void>(value);
               }),
               Catch::Contains(kHere) && Catch::Contains("aligned"));
    CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                   const std::int32_t value = co_await aiv.LoadGm(gm_tensor<std::int32_t>(0, 0));
                   static_cast<void>(value);
               }),
               Catch::Contains(kHere) && Catch::Contains("own card"));
    CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                   aiv.StoreGm(gm_tensor<std::int64_t>(60, 1), std::int64_t{1});
                   co_return;
               }),
               Catch::Contains(kHere) && Catch::Contains("aligned"));
    CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                   aiv.StoreGm(gm_tensor<std::int64_t>(1 << 20, 1), std::int64_t{1});
                   co_return;
               }),
               Catch::Contains(kHere) && Catch::Contains("out of range"));
}

TEST_CASE("kernel error: a flag set twice before its wait is lost on hardware", "[kernel-error]") {
    const int line = __LINE__ + 6;
    const std::string text = refusal([](Aiv& aiv) -> Task<void> {
        aiv.SetFlag<HardEvent::V_S>(2);
        aiv.SetFlag<HardEvent::V_S>(2);
        aiv.Duplicate(LocalTensor<float>{0, 64}, 1.0F, 64);
        aiv.PipeBarrierAll();
        aiv.WaitFlag<HardEvent::V_S>(2);
        aiv.End();
        co_return;
    });
    CHECK_THAT(text, Catch::Contains(kHere + std::to_string(line)) && Catch::Contains("WaitFlag"));
}

TEST_CASE("kernel error: thrown late, after values, all the same", "[kernel-error]") {
    CHECK_THAT(refusal([](Aiv& aiv) -> Task<void> {
                   for (std::uint32_t i = 0; i < 50; ++i) {
                       const float value = co_await aiv.GetValue(LocalTensor<float>{0, 8}, i % 8);
                       aiv.Alu(value == 0 ? 10 : 20);
                       aiv.DataCopy(own(0), ByteTensor{0, 64}, 64);
                   }
                   aiv.DataCopy(own(0), ByteTensor{1, 64}, 64);
                   aiv.End();
               }),
               Catch::Contains(kHere) && Catch::Contains("UB offset 1"));
}

TEST_CASE("kernel error: a kernel that forgets End does not finish", "[kernel-error]") {
    DeviceUnderTest dut(machine("tiny_pod"));
    dut.launch_one([](Aiv& aiv) -> Task<void> {
        aiv.Alu(1);
        co_return;
    });
    dut.run();
    CHECK_FALSE(dut.core().finished());
    REQUIRE(dut.pod().waiting_cores(3).size() == 1);
    CHECK_THAT(dut.pod().waiting_cores(3)[0], Catch::Contains("End"));
}
