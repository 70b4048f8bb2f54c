// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Hardware SyncAll of one card.
#include "models/engine/systemc.hpp"
#include "models/engine/units.hpp"

namespace podsim {

class SyncClientIf {
public:
    virtual ~SyncClientIf() = default;
    /// All cores have arrived; this one goes on at `at`.
    virtual void released(Picoseconds at) = 0;
};

class SyncIf : public virtual sc_core::sc_interface {
public:
    /// Cores that take part from now on; set while none waits.
    virtual void set_participants(std::uint32_t cores) = 0;
    /// `client`'s core, all its pipes drained, arrives at `now`.
    virtual void arrive(SyncClientIf& client, Picoseconds now) = 0;
};

}  // namespace podsim
