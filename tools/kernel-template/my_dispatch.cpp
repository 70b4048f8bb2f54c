// SPDX-License-Identifier: Apache-2.0
/// A Dispatch kernel of one's own: the plainest that is right. Every row is finished before the next begins, and all
/// counts are summed by every core. Copy, rename, improve; docs/add-a-kernel.md says what each part is for.
#include "algorithms/dispatch/dispatch_args.hpp"
#include "algorithms/dispatch/expert_count.hpp"
#include "algorithms/dispatch/row_quantizer.hpp"
#include "algorithms/kernel_api/aiv.hpp"
#include "algorithms/kernel_api/registry.hpp"

#include <algorithm>
#include <optional>

namespace {

using namespace podsim;

constexpr std::uint32_t kCellWords = 8;  ///< a status cell: 32 B; word 0 the flag (float), word 1 the count
constexpr std::uint32_t kCellBytes = 32;

class MyDispatch {
public:
    MyDispatch(Aiv& aiv, const DispatchArgs& args)
        : aiv_(aiv),
          args_(args),
          w_(*args.workload),
          layout_(*args.layout),
          row_(layout_.row()),
          selections_(args.tokens * w_.top_k),
          entries_(w_.status_entries(args.card)),
          mine_(share_of(entries_, args.core, args.cores)) {}

    Task<void> run() {
        co_await begin();
        co_await send_rows();
        if (args_.options->flag("wait_for_rows")) {
            // Rows of this core have arrived after the first line, those of all cores of this card after the second.
            aiv_.Phase("transfer.drain");
            aiv_.PipeBarrierAll();
            aiv_.Phase("flags.barrier");
            aiv_.SyncAll();
        }
        co_await send_counts();
        co_await wait_counts();
        co_await move_rows();
        co_await publish();
        aiv_.End();
    }

private:
    Task<void> begin() {
        aiv_.Phase("init.setup");
        const auto selector = layout_.selector(args_.card, args_.core);
        aiv_.DataCacheCleanAndInvalid(selector);
        call_ = co_await aiv_.LoadGm(selector);
        aiv_.Alu(2);  // parity, increment
        aiv_.StoreGm(selector, call_ + 1);
        aiv_.DataCacheCleanAndInvalid(selector);
        half_ = call_ % 2;
        const std::uint32_t room = std::max(selections_, 8U);
        ids_ = aiv_.Alloc<std::int32_t>(room);
        cells_ = aiv_.Alloc<std::int32_t>(std::max(entries_, w_.experts) * kCellWords);
        buffer_ = aiv_.Alloc<std::uint8_t>(align_up(row_.row_bytes, kUbGranule));
        counter_.emplace(aiv_, room);
        if (w_.quant == Quant::int8_dynamic) {
            token_ = aiv_.Alloc<bfloat16>(w_.hidden);
            quantizer_.emplace(aiv_, w_.hidden);
        }
        if (selections_ > 0) {
            aiv_.Phase("address.routing");
            aiv_.DataCopyPad(ids_, layout_.expert_ids(args_.card), {1, selections_ * 4, 0, 0});
            aiv_.PipeBarrierAll();
        }
    }

    Task<void> send_rows() {
        const Share mine = share_of(selections_, args_.core, args_.cores);
        for (std::uint32_t i = mine.first; i < mine.end(); ++i) {
            aiv_.Phase("address.slot");
            const std::int32_t expert = co_await aiv_.GetValue(ids_, i);
            aiv_.Alu(2);  // dropped? next
            if (expert < 0) {
                continue;
            }
            // Rows of one source and expert are numbered in the order of the routing table.
            const std::uint32_t slot = i == 0 ? 0 : co_await counter_->among(ids_, expert, i);
            aiv_.Phase("transfer.send");
            aiv_.Alu(30);  // token, k, card, local expert: three divisions; slot address
            co_await make_row(i / w_.top_k, i % w_.top_k);
            const auto id = static_cast<std::uint32_t>(expert);
            aiv_.DataCopyPad(layout_.slot(w_.card_of_expert(id), half_, args_.card, w_.local_of_expert(id), slot),
                             buffer_, {1, row_.row_bytes, 0, 0});
            co_await aiv_.CatchUp();
        }
    }

    /// Values, scale and (card, token, k) into the buffer, once it has been sent.
    Task<void> make_row(std::uint32_t token, std::uint32_t k) {
        const auto from = layout_.token(args_.card, token);
        aiv_.Sync<HardEvent::MTE3_MTE2>();
        if (quantizer_) {
            aiv_.DataCopyPad(token_, from, {1, w_.hidden * 2, 0, 0});
            aiv_.PipeBarrierAll();
            const float scale = co_await quantizer_->quantize(token_, buffer_.ReinterpretCast<std::int8_t>(), [] {});
            aiv_.SetValue(buffer_[row_.scale_at].ReinterpretCast<float>(), 0, scale);
        } else {
            aiv_.PipeBarrierAll();
            aiv_.DataCopyPad(buffer_, from.ReinterpretCast<std::uint8_t>(), {1, w_.hidden * 2, 0, 0});
        }
        const auto triple = buffer_[row_.triple_at].ReinterpretCast<std::int32_t>();
        aiv_.SetValue(triple, 0, static_cast<std::int32_t>(args_.card));
        aiv_.SetValue(triple, 1, static_cast<std::int32_t>(token));
        aiv_.SetValue(triple, 2, static_cast<std::int32_t>(k));
        aiv_.PipeBarrier<Pipe::v>();
        aiv_.Sync<HardEvent::MTE2_MTE3>();
        aiv_.Sync<HardEvent::V_MTE3>();
        aiv_.Sync<HardEvent::S_MTE3>();
    }

    /// A flag that no earlier call has used: cells need not be cleared.
    float flag() const { return static_cast<float>(call_ + 1); }

    Task<void> send_counts() {
        const Share mine = share_of(w_.experts, args_.core, args_.cores);
        aiv_.Phase("address.count");
        for (std::uint32_t i = 0; i < mine.count; ++i) {
            const auto expert = static_cast<std::int32_t>(mine.first + i);
            std::uint32_t count = 0;
            if (selections_ > 0) {
                count = co_await counter_->among(ids_, expert, selections_);
            }
            aiv_.SetValue(cells_.ReinterpretCast<float>(), i * kCellWords, flag());
            aiv_.SetValue(cells_, i * kCellWords + 1, static_cast<std::int32_t>(count));
        }
        aiv_.Phase("flags.send");
        aiv_.Sync<HardEvent::S_MTE3>();
        for (std::uint32_t i = 0; i < mine.count; ++i) {
            const std::uint32_t expert = mine.first + i;
            const std::uint32_t entry = w_.local_of_expert(expert) * w_.cards + args_.card;
            aiv_.Alu(16);  // card and local expert: a division; cell address
            // The flag also says that all rows of this card for that expert are there: a claim that podsim checks.
            const std::uint32_t card = w_.card_of_expert(expert);
            aiv_.DataCopyPad(layout_.status(card, half_, entry), cells_[i * kCellWords], {1, kCellBytes, 0, 0},
                             layout_.slots(card, half_, args_.card, w_.local_of_expert(expert)));
        }
    }

    /// Until every source has told every local expert its count, then all counts into UB.
    Task<void> wait_counts() {
        aiv_.Phase("flags.poll");
        aiv_.PipeBarrierAll();
        const DataCopyExtParams all{entries_, kCellBytes, layout_.status_stride() - kCellBytes, 0};
        const auto flags = aiv_.Alloc<float>(align_up(entries_, 8U));
        const auto sum = aiv_.Alloc<float>(8);
        PollSpec poll;
        poll.copy = aiv_.PollCopy(cells_, layout_.status(args_.card, half_, 0), all);
        poll.chain.push_back(
            aiv_.PollGatherMask(flags, cells_.ReinterpretCast<float>(), entries_ * kCellWords, 0, kCellWords));
        poll.chain.push_back(aiv_.PollReduceSum(sum, flags, entries_, 0, 1));
        Aiv::PollCompare(poll, sum, Compare::eq, flag() * static_cast<float>(entries_));
        co_await aiv_.PollUntil(poll);
    }

    Task<std::uint32_t> count_of(std::uint32_t entry) {
        aiv_.Alu(2);  // running sum, loop
        co_return static_cast<std::uint32_t>(co_await aiv_.GetValue(cells_, entry * kCellWords + 1));
    }

    Task<void> move_rows() {
        aiv_.Phase("address.cumsum");
        prefix_ = aiv_.Alloc<std::int32_t>(std::max(mine_.count, 8U));
        std::uint64_t row = 0;
        for (std::uint32_t entry = 0; entry < mine_.first; ++entry) {
            row += co_await count_of(entry);
        }
        for (std::uint32_t entry = mine_.first; entry < mine_.end(); ++entry) {
            aiv_.Phase("address.cumsum");
            const std::uint32_t count = co_await count_of(entry);
            aiv_.SetValue(prefix_, entry - mine_.first, static_cast<std::int32_t>(row + count));
            aiv_.Phase("reorder.copy");
            aiv_.Alu(24);  // source and local expert: a division; slot base, three output addresses
            for (std::uint32_t slot = 0; slot < count; ++slot, ++row) {
                move_row(layout_.slot(args_.card, half_, entry % w_.cards, entry / w_.cards, slot), row);
                co_await aiv_.CatchUp();
            }
        }
    }

    void move_row(GlobalTensor<std::uint8_t> from, std::uint64_t row) {
        aiv_.Alu(8);  // three output addresses, loop
        aiv_.Sync<HardEvent::MTE3_MTE2>();
        aiv_.DataCopyPad(buffer_, from, {1, row_.row_bytes, 0, 0});
        aiv_.Sync<HardEvent::MTE2_MTE3>();
        aiv_.DataCopyPad(layout_.out_row(args_.card, row), buffer_, {1, row_.value_bytes, 0, 0});
        if (quantizer_) {
            aiv_.DataCopyPad(layout_.out_scale(args_.card, row).ReinterpretCast<std::uint8_t>(), buffer_[row_.scale_at],
                             {1, 4, 0, 0});
        }
        aiv_.DataCopyPad(layout_.out_triple(args_.card, row).ReinterpretCast<std::uint8_t>(), buffer_[row_.triple_at],
                         {1, 12, 0, 0});
    }

    /// Prefix sums by every core, rows of each local expert by the first one.
    Task<void> publish() {
        aiv_.Phase("address.publish");
        if (mine_.count > 0) {
            aiv_.Sync<HardEvent::S_MTE3>();
            aiv_.DataCopyPad(layout_.ep_recv_counts(args_.card, mine_.first), prefix_, {1, mine_.count * 4, 0, 0});
        }
        if (args_.core == 0) {
            std::int64_t sum = 0;
            for (std::uint32_t entry = 0; entry < entries_; ++entry) {
                sum += co_await count_of(entry);
                if (entry % w_.cards == w_.cards - 1) {
                    const auto to = layout_.expert_token_nums(args_.card, entry / w_.cards);
                    aiv_.StoreGm(to, sum);
                    aiv_.DataCacheCleanAndInvalid(to);
                }
            }
        }
        aiv_.Phase("reorder.drain");
        aiv_.PipeBarrierAll();
    }

    Aiv& aiv_;
    const DispatchArgs& args_;
    const Workload& w_;
    const DispatchLayout& layout_;
    const RowLayout row_;
    const std::uint32_t selections_;  ///< (token, k) pairs of this card
    const std::uint32_t entries_;     ///< (local expert, source) pairs this card receives from
    const Share mine_;                ///< those of them that are this core's

    std::uint32_t call_ = 0, half_ = 0;
    LocalTensor<std::int32_t> ids_, cells_, prefix_;
    LocalTensor<std::uint8_t> buffer_;
    LocalTensor<bfloat16> token_;
    std::optional<ExpertCount> counter_;
    std::optional<RowQuantizer> quantizer_;
};

// The body of one core for one call. The kernel's state lives in an object: a coroutine must not capture.
Task<void> my_dispatch(Aiv& aiv, const DispatchArgs& args) {
    MyDispatch kernel(aiv, args);
    co_await kernel.run();
}

KernelInfo describe_my_dispatch() {
    KernelInfo info;
    info.name = "my_dispatch";
    info.summary = "The plainest Dispatch that is right: one row at a time, all counts summed by every core.";
    info.options = {
        {"wait_for_rows", true, {}, 0, 0, "Wait for all rows to arrive before flags are sent; false is a mistake."}};
    info.shared_experts = false;  // counts and rows of shared experts are not sent
    info.body = my_dispatch;
    return info;
}

PODSIM_KERNEL(describe_my_dispatch);

}  // namespace
