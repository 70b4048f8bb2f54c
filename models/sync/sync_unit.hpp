// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Hardware SyncAll (FFTS) of one card.
///
/// Timing  every core goes on `sync_all_base + cores × sync_all_per_core` after the last one arrived.
/// Soft synchronisation through GM flags is not here: it is copies and polls, written in the kernel.
#include "models/sync/sync_if.hpp"
#include "models/sync/sync_params.hpp"

#include <vector>

namespace podsim {

class SyncUnit final : public sc_core::sc_module, private SyncIf {
public:
    sc_core::sc_export<SyncIf> port{"port"};

    SyncUnit(const sc_core::sc_module_name& name, const SyncParams& params) : sc_module(name), params_(params) {
        port.bind(*this);
    }
    std::uint32_t arrived() const { return static_cast<std::uint32_t>(waiting_.size()); }
    std::uint32_t participants() const { return participants_; }
    std::uint64_t completed() const { return completed_; }

private:
    void set_participants(std::uint32_t cores) override;
    void arrive(SyncClientIf& client, Picoseconds now) override;

    const SyncParams& params_;
    std::uint32_t participants_ = 0;
    std::vector<SyncClientIf*> waiting_;
    std::uint64_t completed_ = 0;
};

}  // namespace podsim
