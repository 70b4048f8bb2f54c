// SPDX-License-Identifier: Apache-2.0
#include "algorithms/dispatch/row_receiver.hpp"

#include <algorithm>
#include <utility>

namespace podsim {

namespace {
constexpr std::uint8_t kCheckEvent = 4;
constexpr std::uint32_t kCellWords = 8;
}  // namespace

Task<void> RowReceiver::reorder() {
    aiv_.Phase("reorder.copy");
    aiv_.PipeBarrierAll();  // the send buffers are free: UB is laid out anew
    if (!open_) {
        open_buffers();
    }
    if (c_.opt.status() || (c_.opt.token_flags() && !c_.opt.out_of_order)) {
        co_await move_in_order();
    } else {
        co_await move_as_they_come();
    }
    for (std::uint8_t last = 0; last < 2; ++last) {
        aiv_.WaitFlag<HardEvent::MTE3_MTE2>(event(last));
    }
    aiv_.Phase("reorder.drain");
    aiv_.PipeBarrierAll();
}

void RowReceiver::open_buffers() {
    const std::uint32_t bytes = row_.block_flags() ? row_.slot_bytes : align_up(row_.row_bytes, kUbGranule);
    for (std::uint8_t b = 0; b < 2; ++b) {
        moving_[b] = b < c_.buffers ? c_.out[b] : aiv_.Alloc<std::uint8_t>(bytes);
        aiv_.SetFlag<HardEvent::MTE3_MTE2>(event(b));
    }
}

void RowReceiver::open() {
    aiv_.Phase("init.setup");
    open_ = true;
    first_event_ = 4;  // 0 to 3 are the send side's
    open_buffers();
    open_checks();
    c_.prefix = aiv_.Alloc<std::int32_t>(align_up(c_.w.status_entries(c_.args.card), 8U));
}

void RowReceiver::open_checks() {
    watch_ = aiv_.Alloc<std::int32_t>(c_.opt.window() * kCellWords);
    if (!row_.block_flags()) {
        return;
    }
    flags_ = aiv_.Alloc<float>(c_.opt.unit_rows() * row_.sent_blocks * kCellWords);
    if (!c_.opt.epoch) {
        zeros_ = aiv_.Alloc<std::uint8_t>(row_.sent_blocks * kUbGranule);
        aiv_.Duplicate(zeros_.ReinterpretCast<std::int32_t>(), 0, row_.sent_blocks * kCellWords);
        aiv_.Sync<HardEvent::V_MTE3>(kCheckEvent);
    }
}

Task<void> RowReceiver::glance() {
    if (!c_.prefix_of_all) {
        aiv_.RowPhase("flags.soft");
        if (!co_await c_.soft->raised(c_.soft_point(CoreState::SoftPoint::prefix), c_.args.core, c_.role.summer(),
                                      c_.number())) {
            co_return;
        }
        aiv_.RowPhase("address.cumsum");
        const std::uint32_t all = c_.w.status_entries(c_.args.card);
        aiv_.DataCopyPad(c_.prefix, c_.layout.prefix(c_.args.card, c_.args.core), {1, all * 4, 0, 0});
        aiv_.Sync<HardEvent::MTE2_S>(kFlagEvent);
        c_.prefix_of_all = true;
        aiv_.RowPhase("reorder.copy");
        co_await list_units();
    }
    fill_window();
    if (pending_.empty()) {
        co_return;
    }
    aiv_.RowPhase("flags.poll");
    const std::uint32_t bytes = watched_bytes();
    for (std::uint32_t i = 0; i < pending_.size(); ++i) {
        aiv_.Alu(4);  // address, loop
        aiv_.DataCopyPad(watch_[i * kCellWords], watched_word(units_[pending_[i]]), {1, bytes, 0, 0});
    }
    aiv_.Sync<HardEvent::MTE2_S>(kCheckEvent);
    co_await move_arrived();
}

/// One after the other through two buffers: all are there, or each one's token flag is waited for.
Task<void> RowReceiver::move_in_order() {
    co_await list_units();
    for (const Unit& unit : units_) {
        come_to_entries(unit.entries);
        if (c_.opt.token_flags()) {
            co_await wait_token(unit.slot);
        }
        aiv_.Alu(8 + kQueueCalls);  // three output addresses, loop; one queue
        load_row(unit.slot, next_);
        aiv_.Sync<HardEvent::MTE2_MTE3>(next_);
        store_row(unit.out, next_);
        co_await aiv_.CatchUp();
        next_ = static_cast<std::uint8_t>(1 - next_);
    }
    come_to_entries(entries_passed_);
}

void RowReceiver::come_to_entries(std::uint32_t entries) {
    for (std::uint32_t e = 0; e < entries; ++e) {
        aiv_.Alu(24);  // source and local expert: a division; slot base, three output addresses
    }
}

Task<void> RowReceiver::wait_token(GlobalTensor<std::uint8_t> slot) {
    aiv_.RowPhase("flags.poll");
    const auto seen = c_.word.ReinterpretCast<std::int32_t>();
    PollSpec poll;
    poll.what = "PollUntil(token flag)";
    poll.copy = aiv_.PollCopy(seen, slot[row_.flag_at].ReinterpretCast<std::int32_t>(), {1, kUbGranule, 0, 0});
    Aiv::PollCompare(poll, seen, Compare::eq, c_.token_flag_value());
    co_await aiv_.PollUntil(poll);
    aiv_.RowPhase("reorder.copy");
}

void RowReceiver::add(std::uint32_t entry, std::uint32_t first_slot, std::uint32_t rows, std::uint64_t out) {
    const std::uint32_t source = entry % c_.w.cards;
    const std::uint32_t local = entry / c_.w.cards;
    const std::uint32_t most = c_.opt.unit_rows();
    ++entries_passed_;
    for (std::uint32_t at = 0; at < rows; at += most) {
        Unit unit;
        unit.rows = std::min(most, rows - at);
        unit.slot = c_.layout.slot(c_.args.card, c_.half, source, local, first_slot + at);
        unit.out = out + at;
        unit.watched = unit.rows * row_.sent_blocks - 1;
        unit.entries = std::exchange(entries_passed_, 0);
        units_.push_back(unit);
    }
}

/// First entry with rows at or behind output row `row`: binary search in the inclusive sums.
Task<std::uint32_t> RowReceiver::entry_of(std::uint32_t row) {
    std::uint32_t low = 0, high = c_.w.status_entries(c_.args.card);
    while (low < high) {
        const std::uint32_t middle = (low + high) / 2;
        const auto end = static_cast<std::uint32_t>(co_await aiv_.GetValue(c_.prefix, middle));
        aiv_.Alu(4);  // middle, compare, bounds
        if (end > row) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    co_return low;
}

Task<void> RowReceiver::list_units() {
    if (std::exchange(listed_, true)) {
        co_return;
    }
    if (!c_.prefix_of_all) {
        std::uint64_t row = c_.base;
        for (std::uint32_t i = 0; i < c_.entries.count; ++i) {
            add(c_.entries.first + i, 0, c_.counts[i], row);
            row += c_.counts[i];
        }
        co_return;
    }
    const std::uint32_t all = c_.w.status_entries(c_.args.card);
    std::uint32_t entry = c_.entries.first, first = 0, end = 0;  // rows [first, end), from `entry` on
    if (c_.opt.dynamic) {
        const auto rows = static_cast<std::uint32_t>(co_await aiv_.GetValue(c_.prefix, all - 1));
        const Share mine = share_of(rows, c_.args.core, c_.args.cores);
        aiv_.Alu(20);  // a division and its remainder
        first = mine.first;
        end = mine.end();
        entry = mine.count > 0 ? co_await entry_of(first) : all;
    } else if (c_.entries.count > 0) {
        first = entry > 0 ? static_cast<std::uint32_t>(co_await aiv_.GetValue(c_.prefix, entry - 1)) : 0;
        end = static_cast<std::uint32_t>(co_await aiv_.GetValue(c_.prefix, c_.entries.end() - 1));
    }
    std::uint32_t begin = first;  // of the entry
    if (c_.opt.dynamic && entry > 0 && entry < all) {
        begin = static_cast<std::uint32_t>(co_await aiv_.GetValue(c_.prefix, entry - 1));
    } else if (entry == 0) {
        begin = 0;
    }
    for (; first < end; ++entry) {
        const auto stop = static_cast<std::uint32_t>(co_await aiv_.GetValue(c_.prefix, entry));
        aiv_.Alu(4);  // bounds, loop
        const std::uint32_t upto = std::min(stop, end);
        if (upto > first) {
            add(entry, first - begin, upto - first, first);
            first = upto;
        }
        begin = stop;
    }
}

std::int32_t RowReceiver::flag_bits() const {
    return c_.opt.token_flags() ? c_.token_flag_value() : std::bit_cast<std::int32_t>(c_.block_flag_value());
}

GlobalTensor<std::int32_t> RowReceiver::watched_word(const Unit& unit) const {
    const std::uint32_t at = c_.opt.token_flags() ? row_.flag_at : unit.watched * kBlockBytes + BlockPack::kFlagAt;
    return unit.slot[at].ReinterpretCast<std::int32_t>();
}

/// Until any of the first `units` pending ones shows. Flags only grow, so the largest word tells; positive floats
/// order like their bits.
Task<void> RowReceiver::poll(std::uint32_t units) {
    const auto word_of = [&](std::uint32_t i) { return watched_word(units_[pending_[i]]); };
    const std::uint32_t bytes = watched_bytes();
    PollSpec poll;
    poll.what = "PollUntil(row flags)";
    poll.copy = aiv_.PollCopy(watch_, word_of(0), {1, bytes, 0, 0});
    for (std::uint32_t i = 1; i < units; ++i) {
        poll.more.push_back(aiv_.PollCopy(watch_[i * kCellWords], word_of(i), {1, bytes, 0, 0}));
    }
    if (units > 1 && c_.opt.vector_check) {
        poll.chain.push_back(
            aiv_.PollReduceMax(c_.word, watch_.ReinterpretCast<float>(), units * kCellWords, 0, kCellWords));
        Aiv::PollCompare(poll, c_.word.ReinterpretCast<std::int32_t>(), Compare::ge, flag_bits());
    } else {
        Aiv::PollCompare(poll, watch_, Compare::ge, flag_bits());
        poll.words = units;
        poll.word_pitch = kUbGranule;
    }
    co_await aiv_.PollUntil(poll);
}

void RowReceiver::fill_window() {
    while (next_unit_ < units_.size() && pending_.size() < c_.opt.window()) {
        come_to_entries(units_[next_unit_].entries);
        pending_.push_back(next_unit_++);
    }
}

Task<void> RowReceiver::move_as_they_come() {
    co_await list_units();
    if (!open_) {
        open_checks();
    }
    while (true) {
        fill_window();
        if (pending_.empty()) {
            co_return;
        }
        aiv_.RowPhase("flags.poll");
        co_await poll(static_cast<std::uint32_t>(pending_.size()));
        co_await move_arrived();
    }
}

/// Of the watched units those whose words, now in UB, show that they may be whole.
Task<void> RowReceiver::move_arrived() {
    std::size_t kept = 0;
    for (std::uint32_t i = 0; i < pending_.size(); ++i) {
        const std::size_t unit = pending_[i];
        const std::int32_t word = co_await aiv_.GetValue(watch_, i * kCellWords);
        aiv_.Alu(3);  // compare, list, loop
        bool moved = false;
        if (word >= flag_bits()) {
            moved = co_await move(units_[unit]);
        }
        if (!moved) {
            pending_[kept++] = unit;
        }
    }
    pending_.resize(kept);
    aiv_.Sync<HardEvent::S_MTE2>(kCheckEvent);  // the words have been read
}

/// Moves a unit whose watched flag has come; false when another of its blocks is still on its way.
Task<bool> RowReceiver::move(Unit& unit) {
    const bool check_first = c_.opt.chunks && row_.block_flags();
    if (check_first && !co_await whole(unit)) {
        co_return false;
    }
    for (std::uint32_t r = 0; r < unit.rows; ++r) {
        const auto slot = unit.slot[std::uint64_t{r} * row_.slot_bytes];
        const std::uint8_t b = next_;
        aiv_.RowPhase("reorder.copy");
        aiv_.Alu(8 + kQueueCalls);  // three output addresses, loop; one queue
        load_row(slot, b);
        if (row_.block_flags()) {
            if (!check_first) {
                aiv_.RowPhase("flags.check");
                bool complete = false;
                if (c_.opt.vector_check) {
                    aiv_.Sync<HardEvent::MTE2_V>(b);
                    gather_flags(moving_[b]);
                    complete = co_await all_set(flags_, row_.sent_blocks, kCellWords);
                } else {
                    aiv_.Sync<HardEvent::MTE2_S>(b);
                    const auto words = moving_[b][BlockPack::kFlagAt].ReinterpretCast<float>();
                    complete = co_await all_set(words, row_.sent_blocks, kBlockBytes / 4);
                }
                if (!complete) {
                    if (c_.opt.vector_check) {
                        unit.watched = co_await missing(row_.sent_blocks);
                    } else {
                        unit.watched = scanned_;
                    }
                    aiv_.Sync<HardEvent::S_MTE3>(out_event(b));
                    aiv_.SetFlag<HardEvent::MTE3_MTE2>(event(b));  // the buffer is free again
                    co_return false;
                }
                aiv_.RowPhase("reorder.copy");
                aiv_.Sync<HardEvent::S_V>(kCheckEvent);  // the flags have been read
            }
            aiv_.Sync<HardEvent::MTE2_V>(b);
            if (row_.layout == BlockLayout::striped_504) {
                pack_.restore(moving_[b]);
            }
            aiv_.Sync<HardEvent::V_MTE3>(out_event(b));
        }
        aiv_.Sync<HardEvent::MTE2_MTE3>(out_event(b));
        store_row(unit.out + r, b);
        if (row_.block_flags() && !c_.opt.epoch) {
            aiv_.RowPhase("flags.clear");
            clear_flags(slot);
        }
        co_await aiv_.CatchUp();
        next_ = static_cast<std::uint8_t>(1 - next_);
    }
    aiv_.RowPhase("flags.poll");
    co_return true;
}

/// All flags of a chunk, read without its data.
Task<bool> RowReceiver::whole(Unit& unit) {
    aiv_.RowPhase("flags.check");
    const std::uint32_t blocks = unit.rows * row_.sent_blocks;
    aiv_.Sync<HardEvent::V_MTE2>(kCheckEvent);  // the flags before these have been read
    const auto words = unit.slot[BlockPack::kFlagAt].ReinterpretCast<float>();
    aiv_.DataCopyPad(flags_, words, {blocks, 4, kBlockBytes - 4, 0});
    bool complete = false;
    if (c_.opt.vector_check) {
        aiv_.Sync<HardEvent::MTE2_V>(kCheckEvent);
        complete = co_await all_set(flags_, blocks, kCellWords);
    } else {
        aiv_.Sync<HardEvent::MTE2_S>(kCheckEvent);
        complete = co_await all_set(flags_, blocks, kCellWords);
        aiv_.Sync<HardEvent::S_MTE2>(kCheckEvent);
    }
    if (!complete) {
        if (c_.opt.vector_check) {
            unit.watched = co_await missing(blocks);
        } else {
            unit.watched = scanned_;
        }
    }
    co_return complete;
}

/// The last word of each block of a row in UB, a granule each.
void RowReceiver::gather_flags(LocalTensor<std::uint8_t> blocks) {
    const auto from = blocks[BlockPack::kFlagAt].ReinterpretCast<float>();
    aiv_.Copy(flags_[kCellWords - 1], from, VectorPieces{row_.sent_blocks, 1, kUbGranule, kBlockBytes});
    aiv_.PipeBarrier<Pipe::v>();
}

/// Are the flags of all blocks there, `pitch` words apart? Old ones are smaller: the sum is right when all are.
Task<bool> RowReceiver::all_set(LocalTensor<float> words, std::uint32_t blocks, std::uint32_t pitch) {
    const float flag = c_.block_flag_value();
    if (!c_.opt.vector_check) {
        for (scanned_ = 0; scanned_ < blocks; ++scanned_) {
            const float word = co_await aiv_.GetValue(words, scanned_ * pitch);
            aiv_.Alu(3);  // address, compare, loop
            if (word != flag) {
                co_return false;
            }
        }
        co_return true;
    }
    const std::uint32_t lane = c_.opt.chunks ? 0 : kCellWords - 1;
    aiv_.Sync<HardEvent::S_V>(kCheckEvent);  // the sum before has been read
    aiv_.ReduceSum(c_.word, words, blocks * pitch, lane, pitch);
    aiv_.Sync<HardEvent::V_S>(kCheckEvent);
    const float sum = co_await aiv_.GetValue(c_.word, 0);
    aiv_.Alu(2);
    co_return sum == flag* static_cast<float>(blocks);
}

/// The first block without its flag.
Task<std::uint32_t> RowReceiver::missing(std::uint32_t blocks) {
    const std::uint32_t lane = c_.opt.chunks ? 0 : kCellWords - 1;
    std::uint32_t b = 0;
    for (; b + 1 < blocks; ++b) {
        const float word = co_await aiv_.GetValue(flags_, b * kCellWords + lane);
        aiv_.Alu(3);  // address, compare, loop
        if (word != c_.block_flag_value()) {
            break;
        }
    }
    aiv_.Sync<HardEvent::S_V>(kCheckEvent);
    co_return b;
}

void RowReceiver::load_row(GlobalTensor<std::uint8_t> from, std::uint8_t b) {
    aiv_.WaitFlag<HardEvent::MTE3_MTE2>(event(b));
    if (row_.block_flags()) {
        aiv_.DataCopyPad(moving_[b], from, {1, row_.slot_bytes, 0, 0});
    } else {
        // Each row is read once: the real kernel turns the L2 hint off here.
        aiv_.DataCopyPad(moving_[b], from, {1, row_.row_bytes, 0, 0}, CacheHint::bypass_l2);
    }
}

void RowReceiver::store_row(std::uint64_t out, std::uint8_t b) {
    const LocalTensor<std::uint8_t> from = moving_[b];
    aiv_.DataCopyPad(c_.layout.out_triple(c_.args.card, out).ReinterpretCast<std::uint8_t>(), from[row_.triple_at],
                     {1, 12, 0, 0});
    if (c_.w.quant == Quant::int8_dynamic) {
        aiv_.DataCopyPad(c_.layout.out_scale(c_.args.card, out).ReinterpretCast<std::uint8_t>(), from[row_.scale_at],
                         {1, 4, 0, 0});
    }
    store_values(out, from);
    aiv_.SetFlag<HardEvent::MTE3_MTE2>(event(b));
}

void RowReceiver::store_values(std::uint64_t out, LocalTensor<std::uint8_t> from) {
    const auto to = c_.layout.out_row(c_.args.card, out);
    if (row_.layout != BlockLayout::packed_480) {
        aiv_.DataCopyPad(to, from, {1, row_.value_bytes, 0, 0});
        return;
    }
    // The copy out leaves the flags behind.
    const std::uint32_t whole = row_.value_bytes / RowLayout::kPackedBytes;
    const std::uint32_t rest = row_.value_bytes % RowLayout::kPackedBytes;
    if (whole > 0) {
        aiv_.DataCopyPad(to, from, {whole, RowLayout::kPackedBytes, 1, 0});
    }
    if (rest > 0) {
        aiv_.DataCopyPad(to[std::uint64_t{whole} * RowLayout::kPackedBytes], from[whole * kBlockBytes],
                         {1, rest, 0, 0});
    }
}

void RowReceiver::clear_flags(GlobalTensor<std::uint8_t> slot) {
    // The row has been read: its last granules may go as a whole, which a store of less would not make cheaper.
    aiv_.DataCopyPad(slot[kBlockBytes - kUbGranule], zeros_,
                     {row_.sent_blocks, kUbGranule, 0, kBlockBytes - kUbGranule});
}

}  // namespace podsim
