// SPDX-License-Identifier: Apache-2.0
#include "algorithms/dispatch/core_state.hpp"

namespace podsim {

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
