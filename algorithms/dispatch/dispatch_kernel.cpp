// SPDX-License-Identifier: Apache-2.0
#include "algorithms/dispatch/dispatch_kernel.hpp"

#include "algorithms/dispatch/prefix_sums.hpp"
#include "algorithms/dispatch/row_receiver.hpp"
#include "algorithms/dispatch/row_sender.hpp"
#include "algorithms/dispatch/status_side.hpp"

#include <algorithm>

namespace podsim {

namespace {

using SoftPoint = CoreState::SoftPoint;

class DispatchKernel {
public:
    DispatchKernel(Aiv& aiv, const DispatchArgs& args)
        : core_(aiv, args),
          aiv_(aiv),
          slots_(core_),
          pack_(core_),
          status_(core_, slots_),
          sums_(core_),
          receiver_(core_, pack_),
          sender_(core_, slots_, pack_, receiver_) {}

    Task<void> run() {
        co_await begin();
        if (core_.opt.early_counts) {
            co_await counts_beside_rows();
        } else if (core_.opt.token_flags()) {
            co_await counts_before_rows();
        } else {
            co_await counts_after_rows();
        }
        co_await receiver_.reorder();
        if (core_.opt.sums != Sums::early) {
            co_await sums_.publish();
        }
        aiv_.End();
    }

private:
    Task<void> begin();
    void get_routing();

    /// A token flag says nothing of how many tokens come: counts go first. Their sums, and the barrier in
    /// them, come before the rows too, so that rows are awaited one by one while others are on their way.
    Task<void> counts_before_rows() {
        co_await status_.count_experts();
        co_await status_.send_status();
        co_await status_.wait_status();
        co_await sums_.sum_counts();
        aiv_.Phase("transfer.send");
        co_await sender_.send_rows();
        sender_.close();
    }

    Task<void> counts_after_rows() {
        if (core_.opt.shared_bitmap) {
            co_await status_.count_experts();  // who counts makes the maps, and senders need them
            co_await sender_.send_rows();
        } else {
            co_await sender_.send_rows();
            co_await status_.count_experts();  // while the last rows are on their way
        }
        if (core_.opt.status()) {
            co_await rows_are_there();
        }
        co_await status_.send_status();
        co_await status_.wait_status();
        co_await sums_.sum_counts();
    }

    /// Count cores and senders work side by side; then all receive.
    Task<void> counts_beside_rows() {
        if (core_.role.counts) {
            co_await status_.count_experts();
            co_await status_.send_status();
        }
        if (core_.role.sends) {
            co_await sender_.send_rows();
        }
        const bool early = core_.opt.sums == Sums::early;
        if (early && core_.args.core == core_.role.summer()) {
            co_await sums_.sum_early();
        }
        if (core_.opt.status()) {
            co_await rows_are_there();
            co_await status_.send_rows_status();
        }
        if (early) {
            const bool met = core_.opt.status() && core_.opt.rows_barrier;
            if (!core_.opt.soft_sync && !met) {
                aiv_.Phase("flags.barrier");
                aiv_.SyncAll();
            }
            co_await sums_.take_early();
        } else {
            co_await status_.wait_status();
            co_await sums_.sum_counts();
        }
        if (core_.opt.status()) {
            co_await status_.wait_rows_status();
        }
    }

    /// No flag leaves before every core's rows are acknowledged.
    Task<void> rows_are_there() {
        aiv_.Phase("transfer.drain");
        sender_.close();
        if (!core_.opt.rows_barrier) {
            co_return;
        }
        aiv_.PipeBarrierAll();
        aiv_.Phase("flags.barrier");
        co_await core_.barrier(SoftPoint::rows);
    }

    CoreState core_;
    Aiv& aiv_;
    RowSlots slots_;
    BlockPack pack_;
    StatusSide status_;
    PrefixSums sums_;
    RowReceiver receiver_;
    RowSender sender_;
};

Task<void> DispatchKernel::begin() {
    aiv_.Phase("init.setup");
    const DispatchArgs& args = core_.args;
    // Tiling data from GM into registers and stack: one load a cache line.
    for (std::uint32_t at = 0; at < DispatchLayout::kTilingBytes; at += aiv_.machine().scalar.cache_line.get()) {
        co_await aiv_.LoadGm(core_.layout.tiling(args.card)[at / 8]);
    }
    aiv_.Alu(100);  // members from tiling, work splits (four divisions), queue and buffer set-up
    const auto selector = core_.layout.selector(args.card, args.core);
    aiv_.DataCacheCleanAndInvalid(selector);
    core_.calls = co_await aiv_.LoadGm(selector);
    aiv_.Alu(3);  // parity, epoch, increment
    aiv_.StoreGm(selector, core_.calls + 1);
    aiv_.DataCacheCleanAndInvalid(selector);
    core_.half = core_.calls % 2;
    // Compared as a whole, the list is filled up with no expert to whole words of the bit map.
    const std::uint32_t listed = core_.opt.vector_bitmap ? core_.map_words() * 64 : core_.selections;
    core_.ids = aiv_.Alloc<std::int32_t>(std::max(listed, 8U));
    core_.records = aiv_.Alloc<std::int32_t>(std::max(core_.most_records(), 1U) * kRecordWords);
    if (!core_.opt.vector_bitmap) {
        core_.counter.emplace(aiv_, std::max(core_.selections, 8U));
    }
    core_.word = aiv_.Alloc<float>(8);
    if (core_.opt.soft_sync || core_.opt.shared_bitmap) {
        core_.soft.emplace(aiv_, args.cores);
    }
    get_routing();
}

void DispatchKernel::get_routing() {
    if (core_.selections == 0) {
        return;
    }
    aiv_.Phase("address.routing");
    if (core_.opt.vector_bitmap) {
        aiv_.Duplicate(core_.ids, std::int32_t{-1}, core_.map_words() * 64);
        aiv_.Sync<HardEvent::V_MTE2>();
    }
    aiv_.DataCopyPad(core_.ids, core_.layout.expert_ids(core_.args.card), {1, core_.selections * 4, 0, 0});
    aiv_.Sync<HardEvent::MTE2_V>();
    aiv_.Sync<HardEvent::MTE2_S>();
}

}  // namespace

Task<void> dispatch_kernel(Aiv& aiv, const DispatchArgs& args) {
    DispatchKernel kernel(aiv, args);
    co_await kernel.run();
}

}  // namespace podsim
