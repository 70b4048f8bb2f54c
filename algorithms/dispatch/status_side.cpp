// SPDX-License-Identifier: Apache-2.0
#include "algorithms/dispatch/status_side.hpp"

#include <algorithm>

namespace podsim {

Task<std::uint32_t> StatusSide::count_of(std::uint32_t expert, LocalTensor<std::uint8_t> map) {
    if (c_.opt.vector_bitmap) {
        co_return co_await slots_.ones(map, c_.selections);
    }
    co_return co_await c_.counter->among(c_.ids, static_cast<std::int32_t>(expert), c_.selections);
}

Task<void> StatusSide::count_experts() {
    aiv_.Phase("address.count");
    const Share mine = c_.my_destinations();
    const std::uint32_t shared = c_.shared_destinations();
    const std::uint32_t pitch = c_.layout.map_bytes();
    const std::uint32_t first = std::max(mine.first, shared);  // MoE experts: [first, end)
    const std::uint32_t experts = mine.end() > first ? mine.end() - first : 0;
    LocalTensor<std::uint8_t> maps;
    if (c_.opt.vector_bitmap && c_.selections > 0 && experts > 0) {
        maps = aiv_.Alloc<std::uint8_t>(experts * pitch);
        for (std::uint32_t i = 0; i < experts; ++i) {
            aiv_.Alu(2);
            slots_.compare(maps[i * pitch], first - shared + i);
        }
        aiv_.Sync<HardEvent::V_S>(kFlagEvent);
    }
    if (c_.opt.shared_bitmap) {
        slots_.share(maps, first - shared, c_.selections > 0 ? experts : 0);
    }
    for (std::uint32_t d = mine.first; d < mine.end(); ++d) {
        const std::uint32_t record = (d - mine.first) * kRecordWords;
        std::uint32_t count = 0;
        if (d < shared) {
            const std::uint32_t s = d / c_.w.cards_per_shared_expert();
            count = c_.w.card_of_shared(c_.args.card, s) == d ? c_.args.tokens : 0;
            aiv_.Alu(20);  // which of the shared expert's ranks is mine: two divisions
        } else if (c_.selections > 0) {
            count = co_await count_of(d - shared, maps[maps.count > 0 ? (d - first) * pitch : 0]);
        }
        aiv_.SetValue(c_.records.ReinterpretCast<float>(), record + kFlagWord, c_.flag_target());
        aiv_.SetValue(c_.records, record + kCountWord, static_cast<std::int32_t>(count));
    }
}

/// Window bases of all cards that a run of destinations lies on, in UB: a count core has dozens of them, and two
/// dependent loads for each would take longer than all the rest.
LocalTensor<std::uint64_t> StatusSide::windows_of(Share destinations) {
    const std::uint32_t first = c_.card_of_destination(destinations.first);
    const std::uint32_t cards = c_.card_of_destination(destinations.end() - 1) - first + 1;
    const auto bases = aiv_.Alloc<std::uint64_t>(cards * kUbGranule / 8);
    aiv_.DataCopyPad(bases, c_.layout.relation(c_.args.card, first), {cards, 8, kBlockBytes - 8, 0});
    aiv_.Sync<HardEvent::MTE2_S>(kFlagEvent);
    return bases;
}

Task<void> StatusSide::send(Share destinations, bool rows) {
    aiv_.Sync<HardEvent::S_MTE3>();
    const bool bulk = c_.opt.early_counts && destinations.count > 0;
    const LocalTensor<std::uint64_t> windows = bulk ? windows_of(destinations) : LocalTensor<std::uint64_t>{};
    const std::uint32_t shared = c_.shared_destinations();
    for (std::uint32_t d = destinations.first; d < destinations.end(); ++d) {
        const bool is_shared = d < shared;
        const std::uint32_t card = is_shared ? d : c_.w.card_of_expert(d - shared);
        const std::uint32_t local = is_shared ? 0 : c_.w.local_of_expert(d - shared);
        const std::uint32_t entry = local * c_.w.cards + c_.args.card;
        aiv_.Alu(16);  // rank and local expert: a division; cell address
        if (bulk) {
            co_await aiv_.GetValue(windows, (card - c_.card_of_destination(destinations.first)) * kUbGranule / 8);
            aiv_.Alu(4);  // own rank or another's; add the half
        } else {
            co_await c_.window_of(card);
        }
        const auto cell = rows ? c_.layout.rows_status(card, c_.half, entry) : c_.layout.status(card, c_.half, entry);
        // Of two sets of cells the second one says that rows are there.
        const bool announces = c_.opt.status() && rows == c_.opt.early_counts;
        const Announces slots = announces ? c_.layout.slots(card, c_.half, c_.args.card, local) : Announces{};
        aiv_.DataCopyPad(cell, c_.records[(d - destinations.first) * kRecordWords], {1, kRecordBytes, 0, 0}, slots);
    }
}

Task<void> StatusSide::send_status() {
    aiv_.Phase("flags.send");
    co_await send(c_.my_destinations(), false);
}

Task<void> StatusSide::send_rows_status() {
    aiv_.Phase("flags.send");
    const Share mine = share_of(c_.destinations(), c_.args.core, c_.args.cores);
    if (mine.count == 0) {
        co_return;
    }
    aiv_.PipeBarrierAll();  // records are free
    aiv_.Duplicate(c_.records.ReinterpretCast<float>(), c_.flag_target(), mine.count * kRecordWords);
    aiv_.Sync<HardEvent::V_MTE3>(kFlagEvent);
    co_await send(mine, true);
}

Task<void> StatusSide::wait_status() { co_await wait(false); }
Task<void> StatusSide::wait_rows_status() { co_await wait(true); }

Task<void> StatusSide::wait(bool rows) {
    const Share& entries = c_.entries;
    if (entries.count == 0) {
        co_return;
    }
    aiv_.Phase("flags.poll");
    // Records leave UB before arrivals take their place.
    aiv_.Sync<HardEvent::MTE3_MTE2>(kStoreEvent);
    const std::uint32_t n = entries.count;
    const auto cells = rows ? c_.layout.rows_status(c_.args.card, c_.half, entries.first)
                            : c_.layout.status(c_.args.card, c_.half, entries.first);
    const auto flags = aiv_.Alloc<float>(align_up(n, 8U));
    PollSpec poll;
    poll.copy = aiv_.PollCopy(c_.records, cells, c_.status_cells(n));
    const auto words = c_.records.ReinterpretCast<float>();
    poll.chain.push_back(aiv_.PollGatherMask(flags, words, n * kRecordWords, kFlagWord, kRecordWords));
    poll.chain.push_back(aiv_.PollReduceSum(c_.word, flags, n, 0, 1));
    Aiv::PollCompare(poll, c_.word, Compare::eq, c_.flag_target() * static_cast<float>(n));
    co_await aiv_.PollUntil(poll);
    if (!c_.opt.epoch) {
        aiv_.Phase("flags.clear");
        for (std::uint32_t i = 0; i < n; ++i) {
            aiv_.SetValue(words, i * kRecordWords + kFlagWord, 0.0F);
        }
        aiv_.Sync<HardEvent::S_V>();  // cumsum matrix gathers the counts from these records
        aiv_.Sync<HardEvent::S_MTE3>();
        aiv_.DataCopyPad(cells, c_.records, {n, kRecordBytes, 0, c_.layout.status_stride() - kRecordBytes});
    }
}

}  // namespace podsim
