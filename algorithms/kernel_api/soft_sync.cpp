// SPDX-License-Identifier: Apache-2.0
#include "algorithms/kernel_api/soft_sync.hpp"

namespace podsim {

namespace {
constexpr std::uint32_t kCell = 32;
}

void SoftSync::raise(const SoftCells& point, std::uint32_t self, std::uint32_t first, std::uint32_t waiters,
                     std::uint32_t number) {
    aiv_.Sync<HardEvent::MTE3_V>(kEvent);  // an earlier raise has left the cells
    aiv_.Duplicate(sent_, static_cast<float>(number), waiters * kWords);
    aiv_.Sync<HardEvent::V_MTE3>(kEvent);
    aiv_.Alu(4);  // address of the first cell: two multiply-adds
    const auto to = point.cells[(first * point.pitch + self * kCell) / sizeof(float)];
    aiv_.DataCopyPad(to, sent_, {waiters, kCell, 0, point.pitch - kCell});
}

Task<void> SoftSync::wait(const SoftCells& point, std::uint32_t self, std::uint32_t first, std::uint32_t raisers,
                          std::uint32_t number) {
    const auto from = point.cells[(self * point.pitch + first * kCell) / sizeof(float)];
    PollSpec poll;
    poll.what = "PollUntil(soft sync)";
    poll.copy = aiv_.PollCopy(seen_, from, {1, raisers * kCell, 0, 0});
    if (raisers == 1) {
        Aiv::PollCompare(poll, seen_, Compare::eq, static_cast<float>(number));
    } else {
        poll.chain.push_back(aiv_.PollReduceSum(sum_, seen_, raisers * kWords, 0, kWords));
        Aiv::PollCompare(poll, sum_, Compare::eq, static_cast<float>(number) * static_cast<float>(raisers));
    }
    co_await aiv_.PollUntil(poll);
}

Task<bool> SoftSync::raised(const SoftCells& point, std::uint32_t self, std::uint32_t raiser, std::uint32_t number) {
    aiv_.Sync<HardEvent::S_MTE2>(kEvent);  // the look before has been taken
    aiv_.DataCopyPad(seen_, point.cells[(self * point.pitch + raiser * kCell) / sizeof(float)], {1, kCell, 0, 0});
    aiv_.Sync<HardEvent::MTE2_S>(kEvent);
    const float found = co_await aiv_.GetValue(seen_, 0);
    aiv_.Alu(2);
    co_return found == static_cast<float>(number);
}

}  // namespace podsim
