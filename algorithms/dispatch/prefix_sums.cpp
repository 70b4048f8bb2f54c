// SPDX-License-Identifier: Apache-2.0
#include "algorithms/dispatch/prefix_sums.hpp"

#include "algorithms/dispatch/ub_footprint.hpp"

#include <algorithm>

namespace podsim {

using SoftPoint = CoreState::SoftPoint;

Task<void> PrefixSums::sum_counts() {
    if (c_.opt.sums == Sums::matrix) {
        co_await sum_by_matrix();
    } else {
        co_await sum_replicated();
    }
    aiv_.Phase("address.cumsum");
    if (!c_.prefix_of_all) {
        co_await own_counts();
    }
}

/// Running sums of the core's few entries, on the scalar unit.
Task<void> PrefixSums::own_counts() {
    c_.prefix = aiv_.Alloc<std::int32_t>(std::max(c_.entries.count, 8U));
    std::uint32_t sum = c_.base;
    c_.counts.clear();
    for (std::uint32_t i = 0; i < c_.entries.count; ++i) {
        const auto count = static_cast<std::uint32_t>(co_await aiv_.GetValue(my_counts_, i));
        aiv_.Alu(2);  // running sum, loop
        sum += count;
        c_.counts.push_back(count);
        aiv_.SetValue(c_.prefix, i, static_cast<std::int32_t>(sum));
    }
}

/// Counts as float (exact) to inclusive sums as int32.
LocalTensor<std::int32_t> PrefixSums::running_sums(LocalTensor<float> counts, std::uint32_t n) {
    const auto sums = aiv_.Alloc<float>(align_up(n, 8U));
    aiv_.PipeBarrier<Pipe::v>();
    aiv_.CumSum(sums, counts, n);
    aiv_.PipeBarrier<Pipe::v>();
    const auto whole = counts.ReinterpretCast<std::int32_t>();
    aiv_.Cast(whole, sums, Round::rint, n);
    return whole;
}

/// v1: every core reads all F status cells and sums the prefix up to its own start.
Task<void> PrefixSums::sum_replicated() {
    aiv_.Phase("flags.barrier");
    co_await c_.barrier(SoftPoint::sums);
    aiv_.Phase("address.cumsum");
    const std::uint32_t all = c_.w.status_entries(c_.args.card);
    // In pieces, where UB cannot hold all cells at once.
    const std::uint32_t piece = cells_at_once(aiv_.UbLeft(), all, all * 4);
    const auto cells = aiv_.Alloc<std::int32_t>(piece * kRecordWords);
    const auto dense = aiv_.Alloc<std::int32_t>(align_up(all, 8U));
    for (std::uint32_t at = 0; at < all; at += piece) {
        const std::uint32_t n = std::min(piece, all - at);
        aiv_.DataCopyPad(cells, c_.layout.status(c_.args.card, c_.half, at), c_.status_cells(n));
        aiv_.Sync<HardEvent::MTE2_V>();
        aiv_.GatherMask(dense[at], cells, n * kRecordWords, kCountWord, kRecordWords);
        aiv_.Sync<HardEvent::V_MTE2>(kFlagEvent);
    }
    c_.base = 0;
    if (c_.opt.dynamic) {
        // All sums are wanted, not only those before the own entries.
        const auto counts = aiv_.Alloc<float>(align_up(all, 8U));
        aiv_.PipeBarrier<Pipe::v>();
        aiv_.Cast(counts, dense, Round::none, all);
        c_.prefix = running_sums(counts, all);
        c_.prefix_of_all = true;
        aiv_.Sync<HardEvent::V_S>();
        co_return;
    }
    const Share& entries = c_.entries;
    if (entries.first > 0) {
        aiv_.PipeBarrier<Pipe::v>();
        aiv_.ReduceSum(c_.word, dense.ReinterpretCast<float>(), entries.first);
        aiv_.Sync<HardEvent::V_S>();
        c_.base = static_cast<std::uint32_t>(co_await aiv_.GetValue(c_.word.ReinterpretCast<std::int32_t>(), 0));
    } else {
        aiv_.Sync<HardEvent::V_S>();
    }
    my_counts_ = dense[entries.first];
}

/// v2: a core's total goes to every core through an N x N matrix of cells 512 B apart.
Task<void> PrefixSums::sum_by_matrix() {
    aiv_.Phase("address.cumsum");
    const DispatchArgs& args = c_.args;
    const std::uint32_t n = c_.entries.count;
    const std::uint32_t rows = std::min(c_.w.status_entries(args.card), args.cores);
    const auto dense = aiv_.Alloc<std::int32_t>(std::max(align_up(n, 8U), 8U));
    const auto cells = aiv_.Alloc<std::int32_t>(rows * kRecordWords);
    std::int32_t total = 0;
    if (n > 0) {
        // The clear of the flags has read the records before V may touch their neighbours' banks.
        aiv_.GatherMask(dense, c_.records, n * kRecordWords, kCountWord, kRecordWords);
        aiv_.PipeBarrier<Pipe::v>();
        aiv_.ReduceSum(c_.word, dense.ReinterpretCast<float>(), n);
        aiv_.Sync<HardEvent::V_S>();
        total = co_await aiv_.GetValue(c_.word.ReinterpretCast<std::int32_t>(), 0);
        aiv_.Sync<HardEvent::S_V>();
        aiv_.Duplicate(cells, total, rows * kRecordWords);
        aiv_.Sync<HardEvent::V_MTE3>(kFlagEvent);
        aiv_.DataCopyPad(c_.layout.matrix(args.card, args.core, 0), cells,
                         {rows, kRecordBytes, 0, kBlockBytes - kRecordBytes});
    }
    aiv_.Phase("transfer.drain");
    aiv_.PipeBarrierAll();
    aiv_.Phase("flags.barrier");
    co_await c_.barrier(SoftPoint::matrix);
    aiv_.Phase("address.cumsum");
    c_.base = 0;
    if (args.core > 0 && n > 0) {
        const std::uint64_t pitch = static_cast<std::uint64_t>(args.cores) * kBlockBytes;
        aiv_.DataCopyPad(cells, c_.layout.matrix(args.card, 0, args.core),
                         {args.core, kRecordBytes, pitch - kRecordBytes, 0});
        aiv_.Sync<HardEvent::MTE2_V>();
        const auto sums = aiv_.Alloc<float>(align_up(args.core, 8U));
        aiv_.GatherMask(sums, cells.ReinterpretCast<float>(), args.core * kRecordWords, 0, kRecordWords);
        aiv_.PipeBarrier<Pipe::v>();
        aiv_.ReduceSum(c_.word, sums, args.core);
        aiv_.Sync<HardEvent::V_S>();
        c_.base = static_cast<std::uint32_t>(co_await aiv_.GetValue(c_.word.ReinterpretCast<std::int32_t>(), 0));
    }
    my_counts_ = dense;
}

Task<void> PrefixSums::sum_early() {
    const DispatchArgs& args = c_.args;
    const std::uint32_t all = c_.w.status_entries(args.card);
    aiv_.Phase("flags.poll");
    // What is left after the sums' own tensors holds the cells, piece by piece.
    const std::uint32_t piece = cells_at_once(aiv_.UbLeft(), all, 4 * align_up(all, 8U) * 2);
    const auto cells = aiv_.Alloc<std::int32_t>(piece * kRecordWords);
    const auto flags = aiv_.Alloc<float>(align_up(piece, 8U));
    const auto dense = aiv_.Alloc<std::int32_t>(align_up(all, 8U));
    const auto words = cells.ReinterpretCast<float>();
    for (std::uint32_t at = 0; at < all; at += piece) {
        const std::uint32_t n = std::min(piece, all - at);
        const auto from = c_.layout.status(args.card, c_.half, at);
        aiv_.Phase("flags.poll");
        aiv_.Sync<HardEvent::MTE3_MTE2>(kStoreEvent);
        PollSpec poll;
        poll.copy = aiv_.PollCopy(cells, from, c_.status_cells(n));
        poll.chain.push_back(aiv_.PollGatherMask(flags, words, n * kRecordWords, kFlagWord, kRecordWords));
        poll.chain.push_back(aiv_.PollReduceSum(c_.word, flags, n, 0, 1));
        Aiv::PollCompare(poll, c_.word, Compare::eq, c_.flag_target() * static_cast<float>(n));
        co_await aiv_.PollUntil(poll);
        aiv_.Phase("address.cumsum");
        aiv_.GatherMask(dense[at], cells, n * kRecordWords, kCountWord, kRecordWords);
        if (!c_.opt.epoch) {
            aiv_.Phase("flags.clear");
            aiv_.PipeBarrier<Pipe::v>();
            aiv_.Duplicate(words, 0.0F, n * kRecordWords);
            aiv_.Sync<HardEvent::V_MTE3>(kFlagEvent);
            aiv_.DataCopyPad(from, cells, {n, kRecordBytes, 0, c_.layout.status_stride() - kRecordBytes});
        }
    }
    aiv_.Phase("address.cumsum");
    const auto counts = aiv_.Alloc<float>(align_up(all, 8U));
    aiv_.PipeBarrier<Pipe::v>();
    aiv_.Cast(counts, dense, Round::none, all);
    // `dense` has been read: its place takes the sums.
    aiv_.PipeBarrier<Pipe::v>();
    const auto sums = dense.ReinterpretCast<float>();
    aiv_.CumSum(sums, counts, all);
    aiv_.PipeBarrier<Pipe::v>();
    const auto prefix = counts.ReinterpretCast<std::int32_t>();
    aiv_.Cast(prefix, sums, Round::rint, all);
    aiv_.Sync<HardEvent::V_MTE3>(kFlagEvent);
    for (std::uint32_t core = 0; core < args.cores; ++core) {
        aiv_.Alu(2);  // address, loop
        aiv_.DataCopyPad(c_.layout.prefix(args.card, core), prefix, {1, all * 4, 0, 0});
    }
    if (c_.opt.soft_sync) {
        aiv_.PipeBarrier<Pipe::mte3>();  // sums before their flags
        aiv_.Phase("flags.soft");
        c_.soft->raise(c_.soft_point(SoftPoint::prefix), args.core, 0, args.cores, c_.number());
    }
    aiv_.Phase("address.publish");
    aiv_.DataCopyPad(c_.layout.ep_recv_counts(args.card, 0), prefix, {1, all * 4, 0, 0});
    aiv_.Sync<HardEvent::V_S>(kFlagEvent);
    co_await token_nums(prefix);
}

/// expertTokenNums from the ends of the experts' ranges, as a run of int64 in UB.
Task<void> PrefixSums::token_nums(LocalTensor<std::int32_t> prefix_of_all) {
    const std::uint32_t local = c_.w.local_experts(c_.args.card);
    const auto nums = aiv_.Alloc<std::int64_t>(align_up(local, 4U));
    for (std::uint32_t e = 0; e < local; ++e) {
        const std::int32_t end = co_await aiv_.GetValue(prefix_of_all, (e + 1) * c_.w.cards - 1);
        aiv_.Alu(2);  // address, loop
        aiv_.SetValue(nums, e, static_cast<std::int64_t>(end));
    }
    aiv_.Sync<HardEvent::S_MTE3>(kFlagEvent);
    aiv_.DataCopyPad(c_.layout.expert_token_nums(c_.args.card, 0), nums, {1, local * 8, 0, 0});
}

Task<void> PrefixSums::take_early() {
    if (c_.prefix_of_all) {  // taken between sends
        co_return;
    }
    const DispatchArgs& args = c_.args;
    const std::uint32_t all = c_.w.status_entries(args.card);
    if (c_.opt.soft_sync) {
        aiv_.Phase("flags.soft");
        co_await c_.soft->wait(c_.soft_point(SoftPoint::prefix), args.core, c_.role.summer(), 1, c_.number());
    }
    aiv_.Phase("address.cumsum");
    if (c_.prefix.count == 0) {
        c_.prefix = aiv_.Alloc<std::int32_t>(align_up(all, 8U));
    }
    c_.prefix_of_all = true;
    aiv_.DataCopyPad(c_.prefix, c_.layout.prefix(args.card, args.core), {1, all * 4, 0, 0});
    aiv_.Sync<HardEvent::MTE2_S>(kFlagEvent);
}

Task<void> PrefixSums::publish() {
    aiv_.Phase("address.publish");
    const DispatchArgs& args = c_.args;
    const std::uint32_t local_experts = c_.w.local_experts(args.card);
    const std::uint32_t entries = c_.w.status_entries(args.card);
    const std::uint32_t last_core = std::min(entries, args.cores) - 1;
    if (c_.prefix_of_all) {
        // Every core has all sums: one of them stores them.
        if (args.core == last_core) {
            aiv_.Sync<HardEvent::V_MTE3>(kFlagEvent);
            aiv_.DataCopyPad(c_.layout.ep_recv_counts(args.card, 0), c_.prefix, {1, entries * 4, 0, 0});
            co_await token_nums(c_.prefix);
        }
        co_return;
    }
    if (c_.entries.count > 0) {
        aiv_.Sync<HardEvent::S_MTE3>();
        aiv_.DataCopyPad(c_.layout.ep_recv_counts(args.card, c_.entries.first), c_.prefix,
                         {1, c_.entries.count * 4, 0, 0});
    }
    if (local_experts > 1) {
        aiv_.PipeBarrierAll();
        aiv_.Phase("flags.barrier");
        if (!c_.opt.soft_sync) {
            aiv_.SyncAll();
        } else {  // all cores to the one that goes on
            c_.soft->raise(c_.soft_point(SoftPoint::publish), args.core, last_core, 1, c_.number());
            if (args.core == last_core) {
                co_await c_.soft->wait(c_.soft_point(SoftPoint::publish), args.core, 0, args.cores, c_.number());
            }
        }
        aiv_.Phase("address.publish");
    }
    if (args.core != last_core) {
        co_return;
    }
    for (std::uint32_t e = 0; e < local_experts; ++e) {
        std::int32_t end = 0;
        if (local_experts > 1) {
            const auto cell = c_.layout.ep_recv_counts(args.card, (e + 1) * c_.w.cards - 1);
            aiv_.DataCacheCleanAndInvalid(cell);
            end = co_await aiv_.LoadGm(cell);
        } else {
            end = co_await aiv_.GetValue(c_.prefix, c_.entries.count - 1);
        }
        aiv_.Alu(2);  // address, loop
        aiv_.StoreGm(c_.layout.expert_token_nums(args.card, e), static_cast<std::int64_t>(end));
    }
    for (std::uint32_t e = 0; e < local_experts; e += 8) {
        aiv_.DataCacheCleanAndInvalid(c_.layout.expert_token_nums(args.card, e));
    }
}

}  // namespace podsim
