// SPDX-License-Identifier: Apache-2.0
/// The coarse-grained Dispatch: send everything, SyncAll, flags, wait for all flags, SyncAll, sum, reorder.
/// Closest to the article's baseline (dispatch_kernels.md §2; where v1 and v2 differ, options say which).
/// Step by step with phases: docs/kernels.md.
#include "algorithms/dispatch/dispatch_args.hpp"
#include "algorithms/dispatch/expert_count.hpp"
#include "algorithms/dispatch/row_quantizer.hpp"
#include "algorithms/kernel_api/aiv.hpp"
#include "algorithms/kernel_api/registry.hpp"

#include <algorithm>
#include <optional>

namespace podsim {

namespace {

constexpr std::uint32_t kRecordWords = 8;  ///< a status record: 32 B
constexpr std::uint32_t kRecordBytes = 32;
constexpr std::uint32_t kFlagWord = 0;
constexpr std::uint32_t kCountWord = 1;

class Baseline {
public:
    Baseline(Aiv& aiv, const DispatchArgs& args)
        : aiv_(aiv),
          args_(args),
          w_(*args.workload),
          layout_(*args.layout),
          row_(layout_.row()),
          token_flags_(args.options->choice("sync_mode") == "token_flag"),
          token_barrier_(args.options->flag("token_barrier")),
          epoch_(args.options->choice("flag_reset") == "epoch"),
          matrix_(args.options->choice("cumsum") == "matrix"),
          selections_(args.tokens * w_.top_k),
          entries_(share_of(w_.status_entries(args.card), args.core, args.cores)) {}

    Task<void> run() {
        co_await begin();
        if (token_flags_) {
            // A token flag says nothing of how many tokens come: counts go first. Their sums, and the barrier in
            // them, come before the rows too, so that rows are awaited one by one while others are on their way.
            co_await count_experts();
            co_await send_status();
            co_await wait_status();
            co_await sum_counts();
            aiv_.Phase("transfer.send");
            co_await send_rows();
        } else {
            co_await send_rows();
            co_await count_experts();
            aiv_.Phase("transfer.drain");
            aiv_.PipeBarrierAll();
            aiv_.Phase("flags.barrier");
            aiv_.SyncAll();
            co_await send_status();
            co_await wait_status();
            co_await sum_counts();
        }
        co_await reorder();
        co_await publish();
        aiv_.End();
    }

private:
    // ---- init ---------------------------------------------------------------------------------------
    Task<void> begin() {
        aiv_.Phase("init.setup");
        // Tiling data from GM into registers and stack: one load a cache line.
        for (std::uint32_t at = 0; at < DispatchLayout::kTilingBytes; at += aiv_.machine().scalar.cache_line.get()) {
            co_await aiv_.LoadGm(layout_.tiling(args_.card)[at / 8]);
        }
        aiv_.Alu(100);  // members from tiling, work splits (four divisions), queue and buffer set-up
        const auto selector = layout_.selector(args_.card, args_.core);
        aiv_.DataCacheCleanAndInvalid(selector);
        calls_ = co_await aiv_.LoadGm(selector);
        aiv_.Alu(3);  // parity, epoch, increment
        aiv_.StoreGm(selector, calls_ + 1);
        aiv_.DataCacheCleanAndInvalid(selector);
        half_ = calls_ % 2;
        ids_ = aiv_.Alloc<std::int32_t>(std::max(selections_, 8U));
        records_ = aiv_.Alloc<std::int32_t>(std::max(most_records(), 1U) * kRecordWords);
        counter_.emplace(aiv_, std::max(selections_, 8U));
        word_ = aiv_.Alloc<float>(8);
        if (selections_ > 0) {
            aiv_.Phase("address.routing");
            aiv_.DataCopyPad(ids_, layout_.expert_ids(args_.card), {1, selections_ * 4, 0, 0});
            aiv_.Sync<HardEvent::MTE2_V>();
            aiv_.Sync<HardEvent::MTE2_S>();
        }
    }

    // ---- rows out -----------------------------------------------------------------------------------
    /// Tail cores serve shared experts in proportion to their copies; the others split the (token, k) list.
    std::uint32_t shared_cores() const {
        if (w_.shared_copies() == 0) {
            return 0;
        }
        return std::max(1U, args_.cores * w_.shared_experts / (w_.top_k + w_.shared_experts));
    }

    Task<void> send_rows() {
        open_buffers();
        const std::uint32_t shared = shared_cores();
        const std::uint32_t moe = args_.cores - shared;
        if (args_.core < moe || moe == 0) {  // a lone core serves both
            const Share mine = share_of(selections_, args_.core, std::max(moe, 1U));
            for (std::uint32_t i = mine.first; i < mine.end(); ++i) {
                co_await send_selection(i);
            }
        }
        if (args_.core >= moe) {
            const Share mine = share_of(args_.tokens * w_.shared_copies(), args_.core - moe, shared);
            for (std::uint32_t i = mine.first; i < mine.end(); ++i) {
                const std::uint32_t token = i % args_.tokens;
                const std::uint32_t s = i / args_.tokens;
                aiv_.Phase("transfer.send");
                aiv_.Alu(20);  // two divisions
                co_await send_row(token, w_.top_k + s, w_.card_of_shared(args_.card, s), 0, token);
            }
        }
        close_buffers();
    }

    Task<void> send_selection(std::uint32_t i) {
        aiv_.Phase("address.slot");
        const std::int32_t expert = co_await aiv_.GetValue(ids_, i);
        aiv_.Alu(2);  // dropped? next
        if (expert < 0) {
            co_return;
        }
        const auto id = static_cast<std::uint32_t>(expert);
        const std::uint32_t slot = i == 0 ? 0 : co_await counter_->among(ids_, expert, i);
        aiv_.Phase("transfer.send");
        aiv_.Alu(30);  // token, k, rank, local expert: three divisions; slot address: four multiply-adds
        co_await send_row(i / w_.top_k, i % w_.top_k, w_.card_of_expert(id), w_.local_of_expert(id), slot);
    }

    Task<void> send_row(std::uint32_t token, std::uint32_t k, std::uint32_t card, std::uint32_t local,
                        std::uint32_t slot) {
        co_await window_of(card);
        aiv_.Alu(2 * kQueueCalls);  // in and out queue
        const std::uint8_t b = next_buffer_;
        next_buffer_ = static_cast<std::uint8_t>((b + 1) % buffers_);
        const LocalTensor<std::uint8_t> out = out_[b];
        aiv_.WaitFlag<HardEvent::V_MTE2>(b);
        if (quantizer_) {
            aiv_.DataCopyPad(in_[b], layout_.token(args_.card, token), {1, w_.hidden * 2, 0, 0});
            aiv_.Sync<HardEvent::MTE2_V>(b);
            aiv_.WaitFlag<HardEvent::MTE3_V>(b);
            Aiv& aiv = aiv_;
            const float scale = co_await quantizer_->quantize(in_[b], out.ReinterpretCast<std::int8_t>(),
                                                              [&aiv, b] { aiv.SetFlag<HardEvent::V_MTE2>(b); });
            // The row of two copies ago has left the buffer before its scale is overwritten.
            aiv_.WaitFlag<HardEvent::MTE3_S>(b);
            aiv_.SetValue(out[row_.scale_at].ReinterpretCast<float>(), 0, scale);
            aiv_.Sync<HardEvent::V_MTE3>(b);
        } else {
            // Rows travel as they are: in from GM, out from the same buffer.
            aiv_.WaitFlag<HardEvent::MTE3_MTE2>(b);
            aiv_.WaitFlag<HardEvent::MTE3_S>(b);
            aiv_.DataCopyPad(out, layout_.token(args_.card, token).ReinterpretCast<std::uint8_t>(),
                             {1, w_.hidden * 2, 0, 0});
            aiv_.Sync<HardEvent::MTE2_MTE3>(b);
        }
        set_triple(out[row_.triple_at].ReinterpretCast<std::int32_t>(), token, k);
        aiv_.Sync<HardEvent::S_MTE3>(b);
        const auto slot_address = layout_.slot(card, half_, args_.card, local, slot);
        aiv_.DataCopyPad(slot_address, out, {1, row_.row_bytes, 0, 0});
        if (token_flags_) {
            send_token_flag(slot_address);
        }
        aiv_.SetFlag<HardEvent::MTE3_S>(b);
        if (quantizer_) {
            aiv_.SetFlag<HardEvent::MTE3_V>(b);
        } else {
            aiv_.SetFlag<HardEvent::MTE3_MTE2>(b);
            aiv_.SetFlag<HardEvent::V_MTE2>(b);
        }
    }

    /// Window base of a rank: the context holds a pointer to the rank's record, that the address.
    Task<void> window_of(std::uint32_t card) {
        co_await aiv_.LoadGm(layout_.context(args_.card, card));
        co_await aiv_.LoadGm(layout_.relation(args_.card, card));
        aiv_.Alu(4);  // own rank or another's; add the half
    }

    void set_triple(LocalTensor<std::int32_t> triple, std::uint32_t token, std::uint32_t k) {
        aiv_.SetValue(triple, 0, static_cast<std::int32_t>(args_.card));
        aiv_.SetValue(triple, 1, static_cast<std::int32_t>(token));
        aiv_.SetValue(triple, 2, static_cast<std::int32_t>(k));
    }

    /// Row, barrier, flag: without the barrier nothing orders the flag behind the row's blocks.
    void send_token_flag(GlobalTensor<std::uint8_t> slot) {
        if (token_barrier_) {
            aiv_.PipeBarrier<Pipe::mte3>();
        }
        aiv_.DataCopyPad(slot[row_.flag_at], flag_.ReinterpretCast<std::uint8_t>(), {1, kUbGranule, 0, 0});
    }

    /// Double buffering where UB has room for it, as the real kernel falls back to one queue buffer.
    void open_buffers() {
        const bool quantized = w_.quant == Quant::int8_dynamic;
        const std::uint32_t in_bytes = quantized ? align_up(2 * w_.hidden, kUbGranule) : 0;
        const std::uint32_t out_bytes = align_up(row_.row_bytes, kUbGranule);
        const std::uint64_t work = quantized ? RowQuantizer::ub_bytes(w_.hidden) : 0;
        buffers_ = work + 2ULL * (in_bytes + out_bytes) + kReserve <= aiv_.UbLeft() ? 2 : 1;
        if (quantized) {
            quantizer_.emplace(aiv_, w_.hidden);
        }
        if (token_flags_) {
            flag_ = aiv_.Alloc<std::int32_t>(kRecordWords);
            aiv_.Duplicate(flag_, token_flag_value(), kRecordWords);
            aiv_.Sync<HardEvent::V_MTE3>(kFlagEvent);
        }
        for (std::uint8_t b = 0; b < buffers_; ++b) {
            if (quantized) {
                in_[b] = aiv_.Alloc<bfloat16>(w_.hidden);
            }
            out_[b] = aiv_.Alloc<std::uint8_t>(out_bytes);
            aiv_.SetFlag<HardEvent::V_MTE2>(b);  // buffers start out free
            aiv_.SetFlag<HardEvent::MTE3_S>(b);
            if (quantized) {
                aiv_.SetFlag<HardEvent::MTE3_V>(b);
            } else {
                aiv_.SetFlag<HardEvent::MTE3_MTE2>(b);
            }
        }
    }

    void close_buffers() {
        for (std::uint8_t b = 0; b < buffers_; ++b) {
            aiv_.WaitFlag<HardEvent::V_MTE2>(b);
            aiv_.WaitFlag<HardEvent::MTE3_S>(b);
            if (quantizer_) {
                aiv_.WaitFlag<HardEvent::MTE3_V>(b);
            } else {
                aiv_.WaitFlag<HardEvent::MTE3_MTE2>(b);
            }
        }
    }

    // ---- counts out ---------------------------------------------------------------------------------
    /// Destination experts in status order: shared-expert ranks first (one record each), then MoE experts.
    std::uint32_t destinations() const { return (w_.shared_copies() > 0 ? w_.shared_expert_cards : 0) + w_.experts; }
    Share my_destinations() const { return share_of(destinations(), args_.core, args_.cores); }

    Task<void> count_experts() {
        aiv_.Phase("address.count");
        const Share mine = my_destinations();
        for (std::uint32_t d = mine.first; d < mine.end(); ++d) {
            const std::uint32_t record = (d - mine.first) * kRecordWords;
            const std::uint32_t shared = destinations() - w_.experts;
            std::uint32_t count = 0;
            if (d < shared) {
                const std::uint32_t s = d / w_.cards_per_shared_expert();
                count = w_.card_of_shared(args_.card, s) == d ? args_.tokens : 0;
                aiv_.Alu(20);  // which of the shared expert's ranks is mine: two divisions
            } else if (selections_ > 0) {
                count = co_await counter_->among(ids_, static_cast<std::int32_t>(d - shared), selections_);
            }
            aiv_.SetValue(records_.ReinterpretCast<float>(), record + kFlagWord, flag_target());
            aiv_.SetValue(records_, record + kCountWord, static_cast<std::int32_t>(count));
        }
    }

    Task<void> send_status() {
        aiv_.Phase("flags.send");
        aiv_.Sync<HardEvent::S_MTE3>();
        const Share mine = my_destinations();
        const std::uint32_t shared = destinations() - w_.experts;
        for (std::uint32_t d = mine.first; d < mine.end(); ++d) {
            const bool is_shared = d < shared;
            const std::uint32_t card = is_shared ? d : w_.card_of_expert(d - shared);
            const std::uint32_t local = is_shared ? 0 : w_.local_of_expert(d - shared);
            aiv_.Alu(16);  // rank and local expert: a division; cell address
            co_await window_of(card);
            aiv_.DataCopyPad(layout_.status(card, half_, local * w_.cards + args_.card),
                             records_[(d - mine.first) * kRecordWords], {1, kRecordBytes, 0, 0});
        }
    }

    // ---- counts in ----------------------------------------------------------------------------------
    /// Epoch: a half's flags alternate 1, 0, 1 … and are never cleared. Clear: always 1, zeroed once seen.
    float flag_target() const { return epoch_ && calls_ / 2 % 2 == 1 ? 0.0F : 1.0F; }
    std::int32_t token_flag_value() const { return static_cast<std::int32_t>(calls_) + 1; }
    std::uint32_t most_records() const { return std::max(my_destinations().count, entries_.count); }

    DataCopyExtParams status_cells(std::uint32_t count) const {
        return {count, kRecordBytes, layout_.status_stride() - kRecordBytes, 0};
    }

    Task<void> wait_status() {
        if (entries_.count == 0) {
            co_return;
        }
        aiv_.Phase("flags.poll");
        // Records leave UB before arrivals take their place.
        aiv_.Sync<HardEvent::MTE3_MTE2>(kFlagEvent);
        const std::uint32_t n = entries_.count;
        const auto flags = aiv_.Alloc<float>(align_up(n, 8U));
        PollSpec poll;
        poll.copy = aiv_.PollCopy(records_, layout_.status(args_.card, half_, entries_.first), status_cells(n));
        const auto words = records_.ReinterpretCast<float>();
        poll.chain.push_back(aiv_.PollGatherMask(flags, words, n * kRecordWords, kFlagWord, kRecordWords));
        poll.chain.push_back(aiv_.PollReduceSum(word_, flags, n, 0, 1));
        Aiv::PollCompare(poll, word_, Compare::eq, flag_target() * static_cast<float>(n));
        co_await aiv_.PollUntil(poll);
        if (!epoch_) {
            aiv_.Phase("flags.clear");
            for (std::uint32_t i = 0; i < n; ++i) {
                aiv_.SetValue(words, i * kRecordWords + kFlagWord, 0.0F);
            }
            aiv_.Sync<HardEvent::S_V>();  // cumsum matrix gathers the counts from these records
            aiv_.Sync<HardEvent::S_MTE3>();
            aiv_.DataCopyPad(layout_.status(args_.card, half_, entries_.first), records_,
                             {n, kRecordBytes, 0, layout_.status_stride() - kRecordBytes});
        }
    }

    /// Row where this core's first entry starts, and the prefix sums of its entries.
    Task<void> sum_counts() {
        if (matrix_) {
            co_await sum_by_matrix();
        } else {
            co_await sum_replicated();
        }
        aiv_.Phase("address.cumsum");
        prefix_ = aiv_.Alloc<std::int32_t>(std::max(entries_.count, 8U));
        std::uint32_t sum = base_;
        counts_.clear();
        for (std::uint32_t i = 0; i < entries_.count; ++i) {
            const auto count = static_cast<std::uint32_t>(co_await aiv_.GetValue(my_counts_, i));
            aiv_.Alu(2);  // running sum, loop
            sum += count;
            counts_.push_back(count);
            aiv_.SetValue(prefix_, i, static_cast<std::int32_t>(sum));
        }
    }

    /// v1: every core reads all F status cells and sums the prefix up to its own start.
    Task<void> sum_replicated() {
        aiv_.Phase("flags.barrier");
        aiv_.SyncAll();
        aiv_.Phase("address.cumsum");
        const std::uint32_t all = w_.status_entries(args_.card);
        // In pieces, where UB cannot hold all cells at once.
        const std::uint32_t piece = std::min(all, (aiv_.UbLeft() - kReserve - all * 4) / (kRecordBytes + 4) / 8 * 8);
        const auto cells = aiv_.Alloc<std::int32_t>(piece * kRecordWords);
        const auto dense = aiv_.Alloc<std::int32_t>(align_up(all, 8U));
        for (std::uint32_t at = 0; at < all; at += piece) {
            const std::uint32_t n = std::min(piece, all - at);
            aiv_.DataCopyPad(cells, layout_.status(args_.card, half_, at), status_cells(n));
            aiv_.Sync<HardEvent::MTE2_V>();
            aiv_.GatherMask(dense[at], cells, n * kRecordWords, kCountWord, kRecordWords);
            aiv_.Sync<HardEvent::V_MTE2>(kFlagEvent);
        }
        base_ = 0;
        if (entries_.first > 0) {
            aiv_.PipeBarrier<Pipe::v>();
            aiv_.ReduceSum(word_, dense.ReinterpretCast<float>(), entries_.first);
            aiv_.Sync<HardEvent::V_S>();
            base_ = static_cast<std::uint32_t>(co_await aiv_.GetValue(word_.ReinterpretCast<std::int32_t>(), 0));
        } else {
            aiv_.Sync<HardEvent::V_S>();
        }
        my_counts_ = dense[entries_.first];
    }

    /// v2: a core's total goes to every core through an N x N matrix of cells 512 B apart.
    Task<void> sum_by_matrix() {
        aiv_.Phase("address.cumsum");
        const std::uint32_t n = entries_.count;
        const std::uint32_t rows = std::min(w_.status_entries(args_.card), args_.cores);
        const auto dense = aiv_.Alloc<std::int32_t>(std::max(align_up(n, 8U), 8U));
        const auto cells = aiv_.Alloc<std::int32_t>(rows * kRecordWords);
        std::int32_t total = 0;
        if (n > 0) {
            // The clear of the flags has read the records before V may touch their neighbours' banks.
            aiv_.GatherMask(dense, records_, n * kRecordWords, kCountWord, kRecordWords);
            aiv_.PipeBarrier<Pipe::v>();
            aiv_.ReduceSum(word_, dense.ReinterpretCast<float>(), n);
            aiv_.Sync<HardEvent::V_S>();
            total = co_await aiv_.GetValue(word_.ReinterpretCast<std::int32_t>(), 0);
            aiv_.Sync<HardEvent::S_V>();
            aiv_.Duplicate(cells, total, rows * kRecordWords);
            aiv_.Sync<HardEvent::V_MTE3>(kFlagEvent);
            aiv_.DataCopyPad(layout_.matrix(args_.card, args_.core, 0), cells,
                             {rows, kRecordBytes, 0, kBlockBytes - kRecordBytes});
        }
        aiv_.Phase("transfer.drain");
        aiv_.PipeBarrierAll();
        aiv_.Phase("flags.barrier");
        aiv_.SyncAll();
        aiv_.Phase("address.cumsum");
        base_ = 0;
        if (args_.core > 0 && n > 0) {
            const std::uint64_t pitch = static_cast<std::uint64_t>(args_.cores) * kBlockBytes;
            aiv_.DataCopyPad(cells, layout_.matrix(args_.card, 0, args_.core),
                             {args_.core, kRecordBytes, pitch - kRecordBytes, 0});
            aiv_.Sync<HardEvent::MTE2_V>();
            const auto sums = aiv_.Alloc<float>(align_up(args_.core, 8U));
            aiv_.GatherMask(sums, cells.ReinterpretCast<float>(), args_.core * kRecordWords, 0, kRecordWords);
            aiv_.PipeBarrier<Pipe::v>();
            aiv_.ReduceSum(word_, sums, args_.core);
            aiv_.Sync<HardEvent::V_S>();
            base_ = static_cast<std::uint32_t>(co_await aiv_.GetValue(word_.ReinterpretCast<std::int32_t>(), 0));
        }
        my_counts_ = dense;
    }

    // ---- rows in ------------------------------------------------------------------------------------
    Task<void> reorder() {
        aiv_.Phase("reorder.copy");
        aiv_.PipeBarrierAll();  // the send buffers are free: UB is laid out anew
        std::uint64_t row = base_;
        for (std::uint8_t b = 0; b < 2; ++b) {
            moving_[b] = reuse_or_alloc(b);
            aiv_.SetFlag<HardEvent::MTE3_MTE2>(b);
        }
        std::uint8_t b = 0;
        for (std::uint32_t i = 0; i < entries_.count; ++i) {
            const std::uint32_t entry = entries_.first + i;
            const std::uint32_t source = entry % w_.cards;
            const std::uint32_t local = entry / w_.cards;
            aiv_.Alu(24);  // source and local expert: a division; slot base, three output addresses
            for (std::uint32_t slot = 0; slot < counts_[i]; ++slot, ++row) {
                const auto from = layout_.slot(args_.card, half_, source, local, slot);
                if (token_flags_) {
                    co_await wait_token(from);
                }
                move_row(from, row, b);
                co_await aiv_.CatchUp();
                b = static_cast<std::uint8_t>(1 - b);
            }
        }
        for (std::uint8_t last = 0; last < 2; ++last) {
            aiv_.WaitFlag<HardEvent::MTE3_MTE2>(last);
        }
        aiv_.Phase("reorder.drain");
        aiv_.PipeBarrierAll();
    }

    void move_row(GlobalTensor<std::uint8_t> from, std::uint64_t row, std::uint8_t b) {
        aiv_.Alu(8 + kQueueCalls);  // three output addresses, loop; one queue
        aiv_.WaitFlag<HardEvent::MTE3_MTE2>(b);
        // Each row is read once: the real kernel turns the L2 hint off here.
        aiv_.DataCopyPad(moving_[b], from, {1, row_.row_bytes, 0, 0}, CacheHint::bypass_l2);
        aiv_.Sync<HardEvent::MTE2_MTE3>(b);
        aiv_.DataCopyPad(layout_.out_triple(args_.card, row).ReinterpretCast<std::uint8_t>(), triple_of(moving_[b]),
                         {1, 12, 0, 0});
        if (w_.quant == Quant::int8_dynamic) {
            aiv_.DataCopyPad(layout_.out_scale(args_.card, row).ReinterpretCast<std::uint8_t>(),
                             moving_[b][row_.scale_at], {1, 4, 0, 0});
        }
        aiv_.DataCopyPad(layout_.out_row(args_.card, row), moving_[b], {1, row_.value_bytes, 0, 0});
        aiv_.SetFlag<HardEvent::MTE3_MTE2>(b);
    }

    LocalTensor<std::uint8_t> triple_of(LocalTensor<std::uint8_t> row) const { return row[row_.triple_at]; }

    LocalTensor<std::uint8_t> reuse_or_alloc(std::uint8_t b) {
        if (b < buffers_) {
            return out_[b];
        }
        return aiv_.Alloc<std::uint8_t>(align_up(row_.row_bytes, kUbGranule));
    }

    Task<void> wait_token(GlobalTensor<std::uint8_t> slot) {
        aiv_.Phase("flags.poll");
        const auto cell = slot[row_.flag_at].ReinterpretCast<std::int32_t>();
        PollSpec poll;
        poll.what = "PollUntil(token flag)";
        poll.copy = aiv_.PollCopy(flag_seen(), cell, {1, kUbGranule, 0, 0});
        Aiv::PollCompare(poll, flag_seen(), Compare::eq, token_flag_value());
        co_await aiv_.PollUntil(poll);
        aiv_.Phase("reorder.copy");
    }
    LocalTensor<std::int32_t> flag_seen() const { return word_.ReinterpretCast<std::int32_t>(); }

    // ---- outputs ------------------------------------------------------------------------------------
    Task<void> publish() {
        aiv_.Phase("address.publish");
        if (entries_.count > 0) {
            aiv_.Sync<HardEvent::S_MTE3>();
            aiv_.DataCopyPad(layout_.ep_recv_counts(args_.card, entries_.first), prefix_,
                             {1, entries_.count * 4, 0, 0});
        }
        const std::uint32_t local_experts = w_.local_experts(args_.card);
        const std::uint32_t last_core = std::min(w_.status_entries(args_.card), args_.cores) - 1;
        if (local_experts > 1) {
            aiv_.PipeBarrierAll();
            aiv_.Phase("flags.barrier");
            aiv_.SyncAll();
            aiv_.Phase("address.publish");
        }
        if (args_.core != last_core) {
            co_return;
        }
        for (std::uint32_t e = 0; e < local_experts; ++e) {
            std::int32_t end = 0;
            if (local_experts > 1) {
                const auto cell = layout_.ep_recv_counts(args_.card, (e + 1) * w_.cards - 1);
                aiv_.DataCacheCleanAndInvalid(cell);
                end = co_await aiv_.LoadGm(cell);
            } else {
                end = co_await aiv_.GetValue(prefix_, entries_.count - 1);
            }
            aiv_.Alu(2);  // address, loop
            aiv_.StoreGm(layout_.expert_token_nums(args_.card, e), static_cast<std::int64_t>(end));
        }
        for (std::uint32_t e = 0; e < local_experts; e += 8) {
            aiv_.DataCacheCleanAndInvalid(layout_.expert_token_nums(args_.card, e));
        }
    }

    static constexpr std::uint8_t kFlagEvent = 5;
    /// AllocTensor, EnQue, DeQue, FreeTensor of one queue: each some five dependent loads of the queue's
    /// state from the stack (8 cycles a data-cache hit).
    static constexpr std::uint32_t kQueueCalls = 4 * 40;
    static constexpr std::uint32_t kReserve = 8192;  ///< UB kept free for the receive side's small tensors

    Aiv& aiv_;
    const DispatchArgs& args_;
    const Workload& w_;
    const DispatchLayout& layout_;
    const RowLayout row_;
    const bool token_flags_, token_barrier_, epoch_, matrix_;
    const std::uint32_t selections_;
    const Share entries_;  ///< status entries (local expert, source) this core receives

    std::uint32_t calls_ = 0;
    std::uint32_t half_ = 0;
    LocalTensor<std::int32_t> ids_, records_, flag_, my_counts_, prefix_;
    LocalTensor<float> word_;
    std::optional<ExpertCount> counter_;
    std::optional<RowQuantizer> quantizer_;
    LocalTensor<bfloat16> in_[2];
    LocalTensor<std::uint8_t> out_[2], moving_[2];
    std::uint8_t buffers_ = 0, next_buffer_ = 0;
    std::uint32_t base_ = 0;
    std::vector<std::uint32_t> counts_;
};

Task<void> baseline(Aiv& aiv, const DispatchArgs& args) {
    Baseline kernel(aiv, args);
    co_await kernel.run();
}

KernelInfo describe_baseline() {
    KernelInfo info;
    info.name = "baseline";
    info.summary = "Coarse-grained Dispatch: rows, SyncAll, flags, wait for all, SyncAll, sums, reorder.";
    info.options = {
        {"sync_mode",
         std::string("status"),
         {"status", "token_flag"},
         0,
         0,
         "status: one flag a source and expert after SyncAll; token_flag: a flag behind every row."},
        {"token_barrier", true, {}, 0, 0, "token_flag: PipeBarrier<MTE3> between a row and its flag."},
        {"cumsum",
         std::string("replicated"),
         {"replicated", "matrix"},
         0,
         0,
         "replicated: every core sums all counts (v1); matrix: totals through an N x N matrix (v2)."},
        {"status_stride_bytes", std::int64_t{512}, {}, 32, 512, "Distance of status cells: 32 or 512."},
        {"flag_reset",
         std::string("epoch"),
         {"epoch", "clear"},
         0,
         0,
         "epoch: flags alternate between calls; clear: the receiver zeroes them."},
    };
    info.refuse = [](const Options& o) -> std::string {
        const std::int64_t stride = o.number("status_stride_bytes");
        return stride == 32 || stride == 512 ? "" : "status_stride_bytes is 32 or 512";
    };
    info.layout = [](const Options& o) -> LayoutNeeds {
        return {static_cast<std::uint32_t>(o.number("status_stride_bytes"))};
    };
    info.body = baseline;
    return info;
}

PODSIM_KERNEL(describe_baseline);

}  // namespace

}  // namespace podsim
