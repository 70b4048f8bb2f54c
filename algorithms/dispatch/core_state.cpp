// SPDX-License-Identifier: Apache-2.0
#include "algorithms/dispatch/core_state.hpp"

#include <algorithm>

namespace podsim {

namespace {
/// As the production kernel derives them: 32 experts' counts a core (dispatch_kernels.md §3.2).
constexpr std::uint32_t kExpertsPerCountCore = 32;
}  // namespace

Roles::Roles(const Workload& w, const DispatchArgs& args, bool early)
    : senders(args.cores), counters(args.cores), sends(true), counts(true), first_counter(0) {
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

CoreState::CoreState(Aiv& aiv_, const DispatchArgs& args_)
    : aiv(aiv_),
      args(args_),
      w(*args.workload),
      layout(*args.layout),
      row(layout.row()),
      opt(*args.options),
      role(w, args, opt.early_counts),
      selections(args.tokens * w.top_k),
      entries(share_of(w.status_entries(args.card), args.core, args.cores)) {}

std::uint32_t CoreState::most_records() const {
    const std::uint32_t rows = opt.early_counts && opt.status() ? share_of(destinations(), 0, args.cores).count : 0;
    return std::max({my_destinations().count, entries.count, rows});
}

Task<void> CoreState::barrier(SoftPoint point, Where where) {
    if (!opt.soft_sync) {
        aiv.SyncAll(where);
        co_return;
    }
    aiv.PipeBarrierAll();
    soft->raise(soft_point(point), args.core, 0, args.cores, number());
    co_await soft->wait(soft_point(point), args.core, 0, args.cores, number());
}

Task<void> CoreState::window_of(std::uint32_t card) {
    co_await aiv.LoadGm(layout.context(args.card, card));
    co_await aiv.LoadGm(layout.relation(args.card, card));
    aiv.Alu(4);  // own rank or another's; add the half
}

}  // namespace podsim
