// SPDX-License-Identifier: Apache-2.0
#include "algorithms/dispatch/ub_footprint.hpp"

#include "algorithms/dispatch/row_quantizer.hpp"
#include "algorithms/dispatch/row_slots.hpp"

#include <algorithm>

namespace podsim {

namespace {

/// The kernel's allocations in its order (dispatch_kernel.cpp); tests hold them against the kernel itself.
class Footprint {
public:
    Footprint(const DispatchArgs& args, std::uint64_t size) : c_(args), size_(size) {}

    std::uint64_t run() {
        begin();
        if (c_.opt.early_counts) {
            counts_beside_rows();
        } else if (c_.opt.token_flags()) {
            counts();
            wait_status();
            sum_counts();
            send_rows();
        } else {
            if (c_.opt.shared_bitmap) {
                counts();
                send_rows();
            } else {
                send_rows();
                counts();
            }
            wait_status();
            sum_counts();
        }
        reorder();
        if (c_.opt.sums != Sums::early && prefix_of_all_ && c_.args.core == std::min(all(), c_.args.cores) - 1) {
            token_nums();
        }
        return most_;
    }

private:
    std::uint32_t all() const { return c_.w.status_entries(c_.args.card); }
    std::uint64_t left() const { return size_ > top_ ? size_ - top_ : 0; }
    void take(std::uint64_t bytes) {
        top_ += align_up<std::uint64_t>(bytes, kUbGranule);
        most_ = std::max(most_, top_);
    }
    void take_words(std::uint64_t words) { take(4 * words); }

    void begin() {
        take_words(std::max(c_.opt.vector_bitmap ? c_.map_words() * 64 : c_.selections, 8U));
        take_words(std::max(c_.most_records(), 1U) * kRecordWords);
        if (!c_.opt.vector_bitmap) {
            take_words(std::max(c_.selections, 8U));
            take_words(8);
        }
        take_words(8);
        if (c_.opt.soft_sync || c_.opt.shared_bitmap) {
            for (const std::uint32_t words : {8 * c_.args.cores, 8 * c_.args.cores, 8U}) {
                take_words(words);
            }
        }
    }

    void counts_beside_rows() {
        if (c_.role.counts) {
            counts();
            windows_of(c_.my_destinations());
        }
        if (c_.role.sends) {
            send_rows();
        }
        const bool early = c_.opt.sums == Sums::early;
        if (early && c_.args.core == c_.role.summer()) {
            sum_early();
        }
        if (c_.opt.status()) {
            windows_of(share_of(c_.destinations(), c_.args.core, c_.args.cores));
        }
        if (!early) {
            wait_status();
            sum_counts();
        } else if (!open_) {
            take_words(align_up(all(), 8U));
        }
        prefix_of_all_ = prefix_of_all_ || early;
        if (c_.opt.status()) {
            wait_status();
        }
    }

    /// StatusSide::count_experts
    void counts() {
        const Share mine = c_.my_destinations();
        const std::uint32_t first = std::max(mine.first, c_.shared_destinations());
        if (c_.opt.vector_bitmap && c_.selections > 0 && mine.end() > first) {
            take(std::uint64_t{mine.end() - first} * c_.layout.map_bytes());
        }
    }
    void windows_of(Share destinations) {
        if (destinations.count > 0) {
            take(std::uint64_t{kUbGranule} *
                 (c_.card_of_destination(destinations.end() - 1) - c_.card_of_destination(destinations.first) + 1));
        }
    }
    void wait_status() {
        if (c_.entries.count > 0) {
            take_words(align_up(c_.entries.count, 8U));
        }
    }

    void sum_counts() {
        const std::uint32_t n = c_.entries.count;
        if (c_.opt.sums == Sums::matrix) {
            take_words(std::max(align_up(n, 8U), 8U));
            take_words(std::min(all(), c_.args.cores) * kRecordWords);
            if (c_.args.core > 0 && n > 0) {
                take_words(align_up(c_.args.core, 8U));
            }
        } else {
            take_words(cells_at_once(left(), all(), all() * 4) * kRecordWords);
            take_words(align_up(all(), 8U));
            if (c_.opt.dynamic) {
                take_words(align_up(all(), 8U));
                take_words(align_up(all(), 8U));
                prefix_of_all_ = true;
                return;
            }
        }
        take_words(std::max(n, 8U));
    }
    void sum_early() {
        const std::uint32_t piece = cells_at_once(left(), all(), 4 * align_up(all(), 8U) * 2);
        take_words(piece * kRecordWords);
        take_words(align_up(piece, 8U));
        take_words(align_up(all(), 8U));
        take_words(align_up(all(), 8U));
        token_nums();
    }
    void token_nums() { take(8 * align_up(c_.w.local_experts(c_.args.card), 4U)); }

    void send_rows() {
        if (c_.opt.receives_meanwhile()) {
            open_ = true;
            receive_buffers();
            checks();
            take_words(align_up(all(), 8U));
        }
        const std::uint64_t mark = top_;
        const SendBuffers plan(c_, left());
        const bool quantized = c_.w.quant == Quant::int8_dynamic;
        if (quantized) {
            for (const std::uint32_t bytes : {4 * c_.w.hidden, 4 * c_.w.hidden, 2 * c_.w.hidden, kUbGranule}) {
                take(bytes);
            }
        }
        take(c_.staged() ? plan.plain_bytes : 0);
        take(c_.opt.token_flags() ? kUbGranule : 0);
        for (std::uint32_t b = 0; b < plan.rows; ++b) {
            take(quantized && b < plan.inputs ? 2 * c_.w.hidden : 0);
            take(plan.out_bytes);
        }
        buffers_ = plan.rows;
        if (c_.opt.shared_bitmap) {
            take(std::uint64_t{RowSlots::kAhead} * c_.layout.map_bytes());
        }
        const std::uint32_t moe = c_.role.senders - c_.shared_senders();
        if ((c_.role.sender < moe || moe == 0) && c_.opt.vector_bitmap && !c_.opt.shared_bitmap && c_.selections > 0) {
            take(std::uint64_t{ceil_div(c_.w.experts, std::max(moe, 1U))} * c_.layout.map_bytes());
        }
        if (c_.opt.early_counts || c_.opt.block_flags()) {
            top_ = mark;
            buffers_ = 0;
        }
    }

    void reorder() {
        if (!open_) {
            receive_buffers();
            if (!c_.opt.status() && !(c_.opt.token_flags() && !c_.opt.out_of_order)) {
                checks();
            }
        }
    }
    void receive_buffers() {
        for (std::uint32_t b = buffers_; b < 2; ++b) {
            take(c_.row.block_flags() ? c_.row.slot_bytes : c_.row.row_bytes);
        }
    }
    void checks() {
        take_words(c_.opt.window() * 8);
        if (c_.row.block_flags()) {
            take_words(std::uint64_t{c_.opt.unit_rows()} * c_.row.sent_blocks * 8);
            take(c_.opt.epoch ? 0 : std::uint64_t{c_.row.sent_blocks} * kUbGranule);
        }
    }

    const CorePlan c_;
    std::uint64_t size_;
    std::uint64_t top_ = 0, most_ = 0;
    std::uint32_t buffers_ = 0;
    bool open_ = false, prefix_of_all_ = false;
};

}  // namespace

SendBuffers::SendBuffers(const CorePlan& core, std::uint64_t left) {
    const std::uint32_t hidden = core.w.hidden;
    const bool quantized = core.w.quant == Quant::int8_dynamic;
    in_bytes = quantized ? align_up(2 * hidden, kUbGranule) : 0;
    out_bytes = core.row.block_flags() ? core.row.slot_bytes : align_up(core.row.row_bytes, kUbGranule);
    plain_bytes = std::max(core.row.sent_blocks * RowLayout::kPackedBytes, core.row.struct_bytes);
    const std::uint64_t work = (quantized ? RowQuantizer::ub_bytes(hidden) : 0) + (core.staged() ? plain_bytes : 0);
    const auto need = [&](std::uint32_t depth) {
        return work + std::min(depth, 2U) * std::uint64_t{in_bytes} + depth * std::uint64_t{out_bytes} + kReserve;
    };
    rows = core.opt.pipeline_depth;
    while (rows > 1 && need(rows) > left) {
        --rows;
    }
    inputs = std::min(rows, 2U);
}

std::uint32_t cells_at_once(std::uint64_t left, std::uint32_t all, std::uint64_t beside) {
    constexpr std::uint32_t kLeast = 8;
    const std::uint64_t taken = kReserve + beside;
    const std::uint64_t room = left > taken ? (left - taken) / (kRecordBytes + 4) / 8 * 8 : 0;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(all, std::max<std::uint64_t>(room, kLeast)));
}

std::uint64_t dispatch_ub_needed(const DispatchArgs& args, std::uint64_t ub_bytes) {
    return Footprint(args, ub_bytes).run();
}

}  // namespace podsim
