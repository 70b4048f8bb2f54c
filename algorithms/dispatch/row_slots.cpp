// SPDX-License-Identifier: Apache-2.0
#include "algorithms/dispatch/row_slots.hpp"

#include <algorithm>

namespace podsim {

void RowSlots::compare(LocalTensor<std::uint8_t> map, std::uint32_t expert) {
    c_.aiv.CompareScalar(map, c_.ids, static_cast<std::int32_t>(expert), Compare::eq, c_.map_words() * 64);
}

Task<std::uint32_t> RowSlots::ones(LocalTensor<std::uint8_t> map, std::uint32_t bits) {
    const auto words = map.ReinterpretCast<std::uint64_t>();
    std::uint32_t sum = 0;
    for (std::uint32_t at = 0; at < bits; at += 64) {
        std::uint64_t word = co_await c_.aiv.GetValue(words, at / 64);
        c_.aiv.Alu(3);  // count of set bits, sum, loop
        if (bits - at < 64) {
            c_.aiv.Alu(2);  // mask
            word &= (std::uint64_t{1} << (bits - at)) - 1;
        }
        sum += static_cast<std::uint32_t>(std::popcount(word));
    }
    co_return sum;
}

void RowSlots::share(LocalTensor<std::uint8_t> maps, std::uint32_t first, std::uint32_t count) {
    if (count > 0) {
        c_.aiv.Sync<HardEvent::V_MTE3>(kFlagEvent);
        c_.aiv.DataCopyPad(c_.layout.expert_map(c_.args.card, first), maps, {1, count * c_.layout.map_bytes(), 0, 0});
        c_.aiv.PipeBarrier<Pipe::mte3>();  // maps before their flag
    }
    c_.soft->raise(c_.soft_point(CoreState::SoftPoint::maps), c_.args.core, 0, c_.role.senders, c_.number());
}

Task<void> RowSlots::await_maps() {
    c_.aiv.Phase("flags.soft");
    co_await c_.soft->wait(c_.soft_point(CoreState::SoftPoint::maps), c_.args.core, c_.role.first_counter,
                           c_.role.counters, c_.number());
    near_ = c_.aiv.Alloc<std::uint8_t>(kAhead * c_.layout.map_bytes());
}

Task<void> RowSlots::look_up(std::uint32_t first, std::uint32_t count) {
    const std::uint32_t pitch = c_.layout.map_bytes();
    std::int32_t experts[kAhead];
    c_.aiv.Sync<HardEvent::S_MTE2>(kFlagEvent);  // the maps before these have been read
    for (std::uint32_t i = 0; i < count; ++i) {
        experts[i] = co_await c_.aiv.GetValue(c_.ids, first + i);
        c_.aiv.Alu(4);  // dropped? address
        if (experts[i] >= 0) {
            // Only what lies before the selection.
            const std::uint32_t bytes = align_up(ceil_div(first + i + 1, 8U), kUbGranule);
            c_.aiv.DataCopyPad(near_[i * pitch],
                               c_.layout.expert_map(c_.args.card, static_cast<std::uint32_t>(experts[i])),
                               {1, std::min(bytes, pitch), 0, 0});
        }
    }
    c_.aiv.Sync<HardEvent::MTE2_S>(kFlagEvent);
    for (std::uint32_t i = 0; i < count; ++i) {
        slots_[i] = experts[i] < 0 ? 0 : co_await ones(near_[i * pitch], first + i);
    }
}

}  // namespace podsim
