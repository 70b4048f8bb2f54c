// SPDX-License-Identifier: Apache-2.0
/// The Dispatch under its names: each a set of option values over one body.
#include "algorithms/dispatch/dispatch_kernel.hpp"
#include "algorithms/dispatch/dispatch_options.hpp"
#include "algorithms/dispatch/ub_footprint.hpp"
#include "algorithms/kernel_api/registry.hpp"
#include "models/engine/error.hpp"

#include <algorithm>

namespace podsim {

namespace {

using Values = std::vector<std::pair<std::string, OptionValue>>;

KernelInfo preset(const char* name, const char* summary, const Values& values) {
    KernelInfo info;
    info.name = name;
    info.summary = summary;
    info.options = dispatch_option_specs();
    for (const auto& [key, value] : values) {
        const auto spec = std::find_if(info.options.begin(), info.options.end(),
                                       [&key = key](const auto& s) { return s.key == key; });
        check(spec != info.options.end(), "a preset sets declared options");
        spec->standard = value;
    }
    info.refuse = refuse_dispatch_options;
    info.layout = dispatch_layout_needs;
    info.ub_needed = dispatch_ub_needed;
    info.without_effect = options_without_effect;
    info.body = dispatch_kernel;
    return info;
}

std::string text(const char* value) { return value; }

KernelInfo describe_baseline() {
    return preset("baseline", "Coarse-grained Dispatch: rows, SyncAll, flags, wait for all, SyncAll, sums, reorder.",
                  {});
}

KernelInfo describe_v2() {
    return preset("v2", "Coarse-grained Dispatch with sums through a matrix and cleared flags, as production's v2.",
                  {{"triple_wait", text("all")},
                   {"cumsum", text("matrix")},
                   {"status_stride_bytes", std::int64_t{32}},
                   {"flag_reset", text("clear")}});
}

KernelInfo describe_optimized() {
    return preset("optimized",
                  "The article's prototype: flags in the data, counts first, soft sync, rows moved as they come.",
                  {{"sync_mode", text("block_flag")},
                   {"early_counts", true},
                   {"soft_sync", true},
                   {"out_of_order", true},
                   {"receive_schedule", text("dynamic")},
                   {"vector_bitmap", true},
                   {"shared_bitmap", true},
                   {"flag_pack", text("vector")},
                   {"flag_check", text("vector")},
                   {"receive_batch", std::int64_t{8}},
                   {"pipeline_depth", std::int64_t{4}},
                   {"block_layout", text("striped_504")},
                   {"cumsum", text("early")},
                   {"status_stride_bytes", std::int64_t{32}},
                   {"flag_reset", text("clear")}});
}

KernelInfo describe_gen_a() {
    return preset("fullmesh_gen_a", "Flags in the data as production's first fullmesh_v2: experts own cores, chunks.",
                  {{"sync_mode", text("block_flag")},
                   {"early_counts", true},
                   {"soft_sync", true},
                   {"out_of_order", true},
                   {"reorder_granularity", text("chunk")},
                   {"vector_bitmap", true},
                   {"flag_pack", text("vector")},
                   {"flag_check", text("vector")},
                   {"receive_batch", std::int64_t{16}},
                   {"block_layout", text("packed_480")},
                   {"triple_wait", text("all")},
                   {"cumsum", text("early")},
                   {"status_stride_bytes", std::int64_t{32}},
                   {"flag_reset", text("clear")}});
}

PODSIM_KERNEL(describe_baseline);
PODSIM_KERNEL(describe_v2);
PODSIM_KERNEL(describe_optimized);
PODSIM_KERNEL(describe_gen_a);

}  // namespace

}  // namespace podsim
