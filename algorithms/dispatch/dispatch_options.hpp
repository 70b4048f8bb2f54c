// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The choices of the Dispatch kernel, read once a core; names as under `/algorithm/options`.
#include "algorithms/dispatch/layout.hpp"
#include "algorithms/kernel_api/options.hpp"
#include "algorithms/kernel_api/registry.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace podsim {

enum class SyncMode : std::uint8_t { status, token_flag, block_flag };
enum class Sums : std::uint8_t { replicated, matrix, early };

struct DispatchOptions {
    explicit DispatchOptions(const Options& options);

    SyncMode sync_mode;
    Sums sums;
    BlockLayout block_layout;
    std::uint32_t receive_batch, pipeline_depth;
    bool token_barrier, rows_barrier;
    bool early_counts, soft_sync;
    bool out_of_order, chunks, dynamic;
    bool vector_bitmap, shared_bitmap;
    bool vector_pack, vector_check;
    bool quantize_once;
    bool fill_after_all;  ///< fields of a row are filled in after all rows before it have left
    bool epoch;

    bool token_flags() const { return sync_mode == SyncMode::token_flag; }
    bool block_flags() const { return sync_mode == SyncMode::block_flag; }
    bool status() const { return sync_mode == SyncMode::status; }
    /// Senders look after arrived rows between their sends: they must know the rows early, by a flag.
    bool receives_meanwhile() const { return dynamic && early_counts && soft_sync && sums == Sums::early; }
    /// Rows looked at in one check.
    std::uint32_t window() const { return out_of_order ? receive_batch : 1; }
    /// Rows moved at once.
    std::uint32_t unit_rows() const { return chunks ? receive_batch : 1; }
};

/// All options with the baseline's values.
std::vector<OptionSpec> dispatch_option_specs();
/// Why a combination cannot run, "" when it can.
std::string refuse_dispatch_options(const Options& options);
/// What changes nothing under the other options, whatever its value.
std::vector<WithoutEffect> options_without_effect(const Options& options, std::uint32_t count_cores);
LayoutNeeds dispatch_layout_needs(const Options& options);

}  // namespace podsim
