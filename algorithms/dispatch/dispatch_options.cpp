// SPDX-License-Identifier: Apache-2.0
#include "algorithms/dispatch/dispatch_options.hpp"

namespace podsim {

namespace {

constexpr std::int64_t kMostBatch = 16;  // flag words of a check stay in a few KB of UB
constexpr std::int64_t kMostDepth = 4;   // one event id per row in flight; the others are taken

SyncMode sync_mode_of(const std::string& name) {
    return name == "status" ? SyncMode::status : name == "token_flag" ? SyncMode::token_flag : SyncMode::block_flag;
}
Sums sums_of(const std::string& name) {
    return name == "replicated" ? Sums::replicated : name == "matrix" ? Sums::matrix : Sums::early;
}

OptionSpec choice(const char* key, std::vector<std::string> values, const char* doc) {
    return {key, values.front(), values, 0, 0, doc};
}
OptionSpec flag(const char* key, bool standard, const char* doc) { return {key, standard, {}, 0, 0, doc}; }

}  // namespace

DispatchOptions::DispatchOptions(const Options& o)
    : sync_mode(sync_mode_of(o.choice("sync_mode"))),
      sums(sums_of(o.choice("cumsum"))),
      block_layout(parse_block_layout(o.choice("block_layout"))),
      receive_batch(static_cast<std::uint32_t>(o.number("receive_batch"))),
      pipeline_depth(static_cast<std::uint32_t>(o.number("pipeline_depth"))),
      token_barrier(o.flag("token_barrier")),
      rows_barrier(o.flag("rows_barrier")),
      early_counts(o.flag("early_counts")),
      soft_sync(o.flag("soft_sync")),
      out_of_order(o.flag("out_of_order")),
      chunks(o.choice("reorder_granularity") == "chunk"),
      dynamic(o.choice("receive_schedule") == "dynamic"),
      vector_bitmap(o.flag("vector_bitmap")),
      shared_bitmap(o.flag("shared_bitmap")),
      vector_pack(o.choice("flag_pack") == "vector"),
      vector_check(o.choice("flag_check") == "vector"),
      quantize_once(o.flag("quantize_once")),
      fill_after_all(o.choice("triple_wait") == "all"),
      epoch(o.choice("flag_reset") == "epoch") {}

std::vector<OptionSpec> dispatch_option_specs() {
    return {
        choice("sync_mode", {"status", "token_flag", "block_flag"},
               "What says that a row has come: a flag a source and expert after a barrier, a flag behind the row, a "
               "flag in each block."),
        flag("token_barrier", true, "token_flag: PipeBarrier<MTE3> between a row and its flag."),
        flag("rows_barrier", true, "status: all of a card's rows are acknowledged before a flag leaves."),
        flag("early_counts", false, "Count cores send the counts first; the others send rows meanwhile."),
        flag("soft_sync", false, "Flags in GM instead of SyncAll."),
        flag("out_of_order", false, "Rows are moved as they come, not in output order."),
        choice("reorder_granularity", {"token", "chunk"}, "out_of_order: what is moved at once."),
        choice("receive_schedule", {"static", "dynamic"},
               "Who moves what: equal shares of (expert, source) pairs, or of the rows there are."),
        flag("vector_bitmap", false, "Slots and counts from one bit map per expert instead of a prefix chain per row."),
        flag("shared_bitmap", false, "Bit maps are made once and shared through GM; rows are split evenly."),
        choice("flag_pack", {"scalar", "vector"}, "How flags get into the blocks of a row."),
        choice("flag_check", {"scalar", "vector"}, "How arrived flags are checked."),
        {"receive_batch", std::int64_t{1}, {}, 1, kMostBatch, "Rows looked at in one check; rows of a chunk."},
        {"pipeline_depth", std::int64_t{2}, {}, 1, kMostDepth, "Rows in flight per send core, if UB has room."},
        choice("block_layout", {"plain", "striped_504", "packed_480"}, "How a row lies in its 512 B blocks."),
        flag("quantize_once", false, "A core quantizes a token once for all copies it sends."),
        choice("triple_wait", {"buffer", "all"},
               "What has left before scale and triple are filled in: the row that had the buffer, or all rows."),
        choice("cumsum", {"replicated", "matrix", "early"},
               "replicated: every core sums all counts (v1); matrix: totals through an N x N matrix (v2); early: a "
               "count core sums and hands out."),
        {"status_stride_bytes", std::int64_t{512}, {}, 32, 512, "Distance of status cells: 32 or 512."},
        choice("flag_reset", {"epoch", "clear"},
               "epoch: flags differ from call to call; clear: the receiver zeroes them."),
    };
}

std::string refuse_dispatch_options(const Options& options) {
    const std::int64_t stride = options.number("status_stride_bytes");
    if (stride != 32 && stride != 512) {
        return "status_stride_bytes is 32 or 512";
    }
    const DispatchOptions o(options);
    if (o.block_flags() && o.block_layout == BlockLayout::plain) {
        return "sync_mode block_flag needs a flag in every block: block_layout striped_504 or packed_480";
    }
    if (!o.block_flags() && o.block_layout != BlockLayout::plain) {
        return "block_layout " + options.choice("block_layout") + " has flags that only sync_mode block_flag looks at";
    }
    if (o.sums == Sums::early && !o.early_counts) {
        return "cumsum early needs early_counts: the count cores sum";
    }
    if (o.out_of_order && o.status()) {
        return "out_of_order needs to know of each row: sync_mode token_flag or block_flag";
    }
    if ((o.chunks || o.dynamic || o.receive_batch > 1) && !o.out_of_order) {
        return "reorder_granularity chunk, receive_schedule dynamic and receive_batch above 1 need out_of_order";
    }
    if (o.chunks && !o.block_flags()) {
        return "reorder_granularity chunk is checked by block flags: sync_mode block_flag";
    }
    if (o.dynamic && o.sums == Sums::matrix) {
        return "receive_schedule dynamic needs every pair's sum on every core; cumsum matrix gives a core its own only";
    }
    if (o.shared_bitmap && !o.vector_bitmap) {
        return "shared_bitmap shares what vector_bitmap makes";
    }
    if (o.quantize_once && o.vector_bitmap && !o.shared_bitmap) {
        return "quantize_once needs a token's copies on one core: vector_bitmap without shared_bitmap sends by expert";
    }
    return "";
}

std::vector<WithoutEffect> options_without_effect(const Options& options, std::uint32_t count_cores) {
    const DispatchOptions o(options);
    std::vector<WithoutEffect> out;
    const auto unless = [&out](bool works, const char* key, const char* condition) {
        if (!works) {
            out.push_back({key, condition});
        }
    };
    unless(o.token_flags(), "token_barrier", "sync_mode is token_flag");
    unless(o.status(), "rows_barrier", "sync_mode is status");
    unless(o.block_flags(), "flag_pack", "sync_mode is block_flag");
    unless(o.block_flags() || (o.token_flags() && o.out_of_order && o.receive_batch > 1), "flag_check",
           "sync_mode is block_flag, or token_flag with out_of_order and receive_batch above 1");
    unless(!o.block_flags() || o.chunks || o.dynamic || o.receive_batch > 1, "out_of_order",
           "receive_batch is above 1, reorder_granularity chunk or receive_schedule dynamic");
    unless(o.early_counts || count_cores == 0, "count_cores", "early_counts is true");
    return out;
}

LayoutNeeds dispatch_layout_needs(const Options& options) {
    return {static_cast<std::uint32_t>(options.number("status_stride_bytes")), options.choice("block_layout")};
}

}  // namespace podsim
