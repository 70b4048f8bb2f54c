// SPDX-License-Identifier: Apache-2.0
#include "algorithms/dispatch/core_plan.hpp"

#include <algorithm>

namespace podsim {

namespace {
/// As the production kernel derives them: 32 experts' counts a core (dispatch_kernels.md §3.2).
constexpr std::uint32_t kExpertsPerCountCore = 32;
}  // namespace

Roles::Roles(const Workload& w, const DispatchArgs& args, bool early) : senders(args.cores), counters(args.cores) {
    sender = counter = args.core;
    if (!early) {
        return;
    }
    counters = args.count_cores;
    if (counters == 0) {
        const std::uint32_t destinations = w.experts + (w.shared_copies() > 0 ? w.shared_expert_cards : 0);
        counters = std::clamp(destinations / kExpertsPerCountCore, 1U, std::max(args.cores / 2, 1U));
    }
    first_counter = args.cores - counters;
    senders = std::max(first_counter, 1U);  // a lone core does both
    counts = args.core >= first_counter;
    sends = args.core < senders;
    counter = counts ? args.core - first_counter : 0;
}

CorePlan::CorePlan(const DispatchArgs& given)
    : args(given),
      w(*args.workload),
      layout(*args.layout),
      row(layout.row()),
      opt(*args.options),
      role(w, args, opt.early_counts),
      selections(args.tokens * w.top_k),
      entries(share_of(w.status_entries(args.card), args.core, args.cores)) {}

std::uint32_t CorePlan::most_records() const {
    const std::uint32_t rows = opt.early_counts && opt.status() ? share_of(destinations(), 0, args.cores).count : 0;
    return std::max({my_destinations().count, entries.count, rows});
}

std::uint32_t CorePlan::shared_senders() const {
    if (w.shared_copies() == 0) {
        return 0;
    }
    return std::max(1U, role.senders * w.shared_experts / (w.top_k + w.shared_experts));
}

}  // namespace podsim
