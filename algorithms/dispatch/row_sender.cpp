// SPDX-License-Identifier: Apache-2.0
#include "algorithms/dispatch/row_sender.hpp"

#include "algorithms/dispatch/ub_footprint.hpp"

#include <algorithm>
#include <utility>

namespace podsim {

namespace {
constexpr std::uint8_t kStageEvent = 4;
}

Task<void> RowSender::send_rows() {
    if (c_.opt.receives_meanwhile()) {
        receiver_.open();
    }
    const std::uint32_t mark = aiv_.UbMark();
    open_buffers();
    const std::uint32_t shared = c_.shared_senders();
    const std::uint32_t moe = c_.role.senders - shared;
    if (c_.opt.shared_bitmap) {
        co_await slots_.await_maps();
    }
    aiv_.Phase("transfer.send");
    if (c_.role.sender < moe || moe == 0) {  // a lone core serves both
        if (c_.opt.vector_bitmap && !c_.opt.shared_bitmap) {
            co_await send_own_experts(std::max(moe, 1U));
        } else {
            co_await send_share(std::max(moe, 1U));
        }
    }
    if (c_.role.sender >= moe) {
        const Share mine = share_of(c_.args.tokens * c_.w.shared_copies(), c_.role.sender - moe, shared);
        for (std::uint32_t i = mine.first; i < mine.end(); ++i) {
            const std::uint32_t token = i % c_.args.tokens;
            const std::uint32_t s = i / c_.args.tokens;
            aiv_.RowPhase("transfer.send");
            aiv_.Alu(20);  // two divisions
            const Copy copy{token, c_.w.top_k + s, c_.w.card_of_shared(c_.args.card, s), 0, token};
            co_await send_row(copy);
        }
    }
    if (c_.opt.early_counts || c_.opt.block_flags()) {
        // All has left: the receive side needs the room.
        close();
        aiv_.FreeTo(mark);
        c_.buffers = 0;
    }
}

Task<void> RowSender::send_share(std::uint32_t senders) {
    const Share mine = share_of(c_.selections, c_.role.sender, senders);
    for (std::uint32_t i = mine.first; i < mine.end(); ++i) {
        const std::uint32_t ahead = (i - mine.first) % RowSlots::kAhead;
        if (c_.opt.shared_bitmap && ahead == 0) {
            aiv_.RowPhase("address.slot");
            co_await slots_.look_up(i, std::min(RowSlots::kAhead, mine.end() - i));
        }
        co_await send_selection(i, ahead);
    }
}

Task<void> RowSender::send_selection(std::uint32_t i, std::uint32_t ahead) {
    aiv_.RowPhase("address.slot");
    const std::int32_t expert = co_await aiv_.GetValue(c_.ids, i);
    aiv_.Alu(2);  // dropped? next
    if (expert < 0) {
        co_return;
    }
    const auto id = static_cast<std::uint32_t>(expert);
    std::uint32_t slot = 0;
    if (c_.opt.shared_bitmap) {
        slot = slots_.looked_up(ahead);
    } else if (i > 0) {
        slot = co_await c_.counter->among(c_.ids, expert, i);
    }
    aiv_.RowPhase("transfer.send");
    aiv_.Alu(30);  // token, k, rank, local expert: three divisions; slot address: four multiply-adds
    const Copy copy{i / c_.w.top_k, i % c_.w.top_k, c_.w.card_of_expert(id), c_.w.local_of_expert(id), slot};
    co_await send_row(copy);
}

/// Whole experts, equally many each; those left over are shared by groups of cores, slot by slot.
Task<void> RowSender::send_own_experts(std::uint32_t senders) {
    aiv_.RowPhase("address.slot");
    const std::uint32_t each = c_.w.experts / senders;
    const std::uint32_t rest = c_.w.experts % senders;
    const std::uint32_t me = c_.role.sender;
    aiv_.Alu(30);  // three divisions
    const std::uint32_t owned = each + (rest > 0 ? 1 : 0);
    if (c_.selections == 0) {
        co_return;
    }
    const std::uint32_t pitch = c_.layout.map_bytes();
    const auto maps = aiv_.Alloc<std::uint8_t>(owned * pitch);
    const auto expert_of = [&](std::uint32_t i) { return i < each ? me * each + i : senders * each + me % rest; };
    for (std::uint32_t i = 0; i < owned; ++i) {
        aiv_.Alu(4);  // expert, map
        slots_.compare(maps[i * pitch], expert_of(i));
    }
    aiv_.Sync<HardEvent::V_S>(kFlagEvent);
    for (std::uint32_t n = 0; n < owned; ++n) {
        const std::uint32_t i = (n + c_.args.card) % owned;  // cards begin at different destinations
        const bool common = i >= each;
        const std::uint32_t members = common ? (senders - me % rest + rest - 1) / rest : 1;
        co_await send_expert(expert_of(i), maps[i * pitch], common ? me / rest : 0, members);
    }
}

Task<void> RowSender::send_expert(std::uint32_t expert, LocalTensor<std::uint8_t> map, std::uint32_t member,
                                  std::uint32_t members) {
    std::uint32_t slot = 0;
    for (std::uint32_t word = 0; word < c_.map_words(); ++word) {
        aiv_.RowPhase("address.slot");
        std::uint64_t bits = co_await aiv_.GetValue(map.ReinterpretCast<std::uint64_t>(), word);
        aiv_.Alu(3);  // any? loop
        for (; bits != 0; bits &= bits - 1, ++slot) {
            aiv_.RowPhase("address.slot");
            aiv_.Alu(6);  // first set bit, clear it, whose turn
            if (slot % members != member) {
                continue;
            }
            const std::uint32_t i = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
            aiv_.RowPhase("transfer.send");
            aiv_.Alu(30);  // token, k, rank, local expert: three divisions; slot address: four multiply-adds
            const Copy copy{i / c_.w.top_k, i % c_.w.top_k, c_.w.card_of_expert(expert), c_.w.local_of_expert(expert),
                            slot};
            co_await send_row(copy);
        }
    }
}

Task<void> RowSender::send_row(const Copy& copy) {
    co_await c_.window_of(copy.card);
    aiv_.Alu(2 * kQueueCalls);  // in and out queue
    const std::uint8_t b = next_buffer_;
    next_buffer_ = static_cast<std::uint8_t>((b + 1) % c_.buffers);
    const LocalTensor<std::uint8_t> out = c_.out[b];
    if (c_.staged()) {
        co_await stage(copy, b);
    } else if (quantizer_) {
        aiv_.WaitFlag<HardEvent::V_MTE2>(next_input_);
        co_await quantize(copy, out, b);
    } else {
        // Rows travel as they are: in from GM, out from the same buffer. What V does to it comes before MTE3.
        aiv_.WaitFlag<HardEvent::MTE3_MTE2>(b);
        aiv_.WaitFlag<HardEvent::MTE3_S>(b);
        load(copy, out);
        if (row_.block_flags()) {
            aiv_.Sync<HardEvent::MTE2_V>(b);
            co_await pack_.finish(out);
            aiv_.Sync<HardEvent::V_MTE3>(b);
        } else {
            aiv_.Sync<HardEvent::MTE2_MTE3>(b);
        }
    }
    if (row_.layout != BlockLayout::packed_480) {
        if (!quantizer_) {
            await_rows_before();
        }
        set_triple(out[row_.triple_at], copy);
    }
    aiv_.Sync<HardEvent::S_MTE3>(b);
    const auto slot_address = c_.layout.slot(copy.card, c_.half, c_.args.card, copy.local, copy.slot);
    const std::uint32_t bytes = row_.block_flags() ? row_.slot_bytes : row_.row_bytes;
    aiv_.DataCopyPad(slot_address, out, {1, bytes, 0, 0});
    if (c_.opt.token_flags()) {
        send_token_flag(slot_address);
    }
    aiv_.SetFlag<HardEvent::MTE3_S>(b);
    if (quantizer_ || c_.staged()) {
        aiv_.SetFlag<HardEvent::MTE3_V>(b);
    } else {
        aiv_.SetFlag<HardEvent::MTE3_MTE2>(b);
    }
    if (c_.opt.receives_meanwhile()) {
        co_await receiver_.glance();
        aiv_.RowPhase("transfer.send");
    }
}

void RowSender::load(const Copy& copy, LocalTensor<std::uint8_t> to) {
    aiv_.DataCopyPad(to, c_.layout.token(c_.args.card, copy.token).ReinterpretCast<std::uint8_t>(),
                     {1, c_.w.hidden * 2, 0, 0});
}

Task<void> RowSender::quantize(const Copy& copy, LocalTensor<std::uint8_t> to, std::uint8_t b) {
    const std::uint8_t in = next_input_;
    next_input_ = static_cast<std::uint8_t>((in + 1) % inputs_);
    aiv_.DataCopyPad(in_[in], c_.layout.token(c_.args.card, copy.token), {1, c_.w.hidden * 2, 0, 0});
    aiv_.Sync<HardEvent::MTE2_V>(in);
    if (!c_.staged()) {
        aiv_.WaitFlag<HardEvent::MTE3_V>(b);
    }
    Aiv& aiv = aiv_;
    const float scale = co_await quantizer_->quantize(in_[in], to.ReinterpretCast<std::int8_t>(),
                                                      [&aiv, in] { aiv.SetFlag<HardEvent::V_MTE2>(in); });
    staged_scale_ = scale;
    if (c_.staged()) {
        co_return;
    }
    if (row_.block_flags()) {
        if (!c_.opt.vector_pack) {
            aiv_.WaitFlag<HardEvent::MTE3_S>(b);
        }
        co_await pack_.finish(to);
        if (c_.opt.vector_pack) {
            aiv_.WaitFlag<HardEvent::MTE3_S>(b);
        }
    } else {
        // The row that had the buffer before has left it, before its scale is overwritten.
        aiv_.WaitFlag<HardEvent::MTE3_S>(b);
    }
    await_rows_before();
    aiv_.SetValue(to[row_.scale_at].ReinterpretCast<float>(), 0, scale);
    aiv_.Sync<HardEvent::V_MTE3>(b);
}

/// Through the plain buffer: the row comes into it unless it is there, and goes on to the blocks.
Task<void> RowSender::stage(const Copy& copy, std::uint8_t b) {
    const bool packed = row_.layout == BlockLayout::packed_480;
    if (!c_.opt.quantize_once || copy.token != staged_token_) {
        aiv_.Alu(2);  // another token
        if (quantizer_) {
            aiv_.WaitFlag<HardEvent::V_MTE2>(next_input_);
            co_await quantize(copy, plain_, b);
        } else {
            aiv_.Sync<HardEvent::V_MTE2>(kStageEvent);  // the row before has been copied on
            load(copy, plain_);
            aiv_.Sync<HardEvent::MTE2_V>(kStageEvent);
        }
        staged_token_ = copy.token;
    }
    aiv_.WaitFlag<HardEvent::MTE3_S>(b);
    aiv_.WaitFlag<HardEvent::MTE3_V>(b);
    const LocalTensor<std::uint8_t> out = c_.out[b];
    if (packed) {
        aiv_.Sync<HardEvent::V_S>(kStageEvent);  // the row before has been copied on
        await_rows_before();
        const std::uint32_t scale_at = align_up(row_.value_bytes, kUbGranule);
        if (quantizer_) {
            aiv_.SetValue(plain_[scale_at].ReinterpretCast<float>(), 0, staged_scale_);
        }
        set_triple(plain_[scale_at + kUbGranule], copy);
        aiv_.Sync<HardEvent::S_V>(kStageEvent);
        aiv_.PipeBarrier<Pipe::v>();
        pack_.spread(plain_, out);
    } else {
        aiv_.PipeBarrier<Pipe::v>();
        aiv_.Copy(out.ReinterpretCast<std::int32_t>(), plain_.ReinterpretCast<std::int32_t>(), row_.value_bytes / 4);
    }
    if (row_.block_flags()) {
        co_await pack_.finish(out);
    }
    if (!packed && quantizer_) {
        await_rows_before();
        aiv_.SetValue(out[row_.scale_at].ReinterpretCast<float>(), 0, staged_scale_);
    }
    aiv_.Sync<HardEvent::V_MTE3>(b);
}

/// As production's kernels with a triple have it: the scalar unit waits for MTE3, rows leave one at a time.
void RowSender::await_rows_before() {
    if (c_.opt.fill_after_all) {
        aiv_.Sync<HardEvent::MTE3_S>(kStageEvent);
    }
}

void RowSender::set_triple(LocalTensor<std::uint8_t> at, const Copy& copy) {
    const auto triple = at.ReinterpretCast<std::int32_t>();
    aiv_.SetValue(triple, 0, static_cast<std::int32_t>(c_.args.card));
    aiv_.SetValue(triple, 1, static_cast<std::int32_t>(copy.token));
    aiv_.SetValue(triple, 2, static_cast<std::int32_t>(copy.k));
}

/// Row, barrier, flag: without the barrier nothing orders the flag behind the row's blocks.
void RowSender::send_token_flag(GlobalTensor<std::uint8_t> slot) {
    if (c_.opt.token_barrier) {
        aiv_.PipeBarrier<Pipe::mte3>();
    }
    aiv_.DataCopyPad(slot[row_.flag_at], flag_.ReinterpretCast<std::uint8_t>(), {1, kUbGranule, 0, 0},
                     Announces{slot.address, row_.row_bytes});
}

/// As many rows in flight as wanted, or as UB has room for, as the real kernel falls back to one queue buffer.
void RowSender::open_buffers() {
    open_ = true;
    const bool quantized = c_.w.quant == Quant::int8_dynamic;
    const SendBuffers plan(c_, aiv_.UbLeft());
    c_.buffers = static_cast<std::uint8_t>(plan.rows);
    inputs_ = static_cast<std::uint8_t>(plan.inputs);
    if (quantized) {
        quantizer_.emplace(aiv_, c_.w.hidden);
    }
    if (c_.staged()) {
        plain_ = aiv_.Alloc<std::uint8_t>(plan.plain_bytes);
    }
    if (c_.opt.token_flags()) {
        flag_ = aiv_.Alloc<std::int32_t>(kRecordWords);
        aiv_.Duplicate(flag_, c_.token_flag_value(), kRecordWords);
        aiv_.Sync<HardEvent::V_MTE3>(kFlagEvent);
    }
    for (std::uint8_t b = 0; b < c_.buffers; ++b) {
        if (quantized && b < inputs_) {
            in_[b] = aiv_.Alloc<bfloat16>(c_.w.hidden);
        }
        c_.out[b] = aiv_.Alloc<std::uint8_t>(plan.out_bytes);
        if (quantized && b < inputs_) {
            aiv_.SetFlag<HardEvent::V_MTE2>(b);  // buffers start out free
        }
        aiv_.SetFlag<HardEvent::MTE3_S>(b);
        if (quantized || c_.staged()) {
            aiv_.SetFlag<HardEvent::MTE3_V>(b);
        } else {
            aiv_.SetFlag<HardEvent::MTE3_MTE2>(b);
        }
        if (row_.block_flags() && c_.opt.vector_pack) {
            pack_.prepare(c_.out[b]);
        }
    }
    if (row_.block_flags() && !quantized) {
        aiv_.Sync<HardEvent::V_MTE2>(kStageEvent);
    }
}

void RowSender::close() {
    if (!std::exchange(open_, false)) {
        return;
    }
    aiv_.RowPhase("transfer.drain");
    for (std::uint8_t b = 0; b < c_.buffers; ++b) {
        if (quantizer_ && b < inputs_) {
            aiv_.WaitFlag<HardEvent::V_MTE2>(b);
        }
        aiv_.WaitFlag<HardEvent::MTE3_S>(b);
        if (quantizer_ || c_.staged()) {
            aiv_.WaitFlag<HardEvent::MTE3_V>(b);
        } else {
            aiv_.WaitFlag<HardEvent::MTE3_MTE2>(b);
        }
    }
}

}  // namespace podsim
