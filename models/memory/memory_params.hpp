// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Parameters of a card's global memory; values and sources stand in the machine file (`/memory`).
#include "models/engine/param.hpp"
#include "models/engine/units.hpp"

#include <cstdint>

namespace podsim {

struct MemoryParams {
    Param<Picoseconds> noc_latency;        ///< core <-> L2, one way
    Param<Picoseconds> l2_read_latency;    ///< L2 lookup to data, on a hit
    Param<Picoseconds> l2_write_latency;   ///< until a store is visible in L2
    Param<Picoseconds> hbm_extra_latency;  ///< added when the line is not in L2 or the L2 is bypassed
    Param<std::uint64_t> l2_bandwidth;     ///< bytes/µs, all cores of a card
    Param<std::uint64_t> hbm_bandwidth;    ///< bytes/µs, achieved
    Param<std::uint64_t> l2_bytes;         ///< capacity
    Param<Picoseconds> conflict_service;   ///< what a request takes the L2 in a same-line conflict
    Param<bool> inputs_in_l2;              ///< the kernel's inputs were just produced: resident at launch
    // Hypotheses without a component source, off (0) unless argued (design.md, Fidelity protocol):
    Param<Picoseconds> partial_store_extra;  ///< added to a store that covers part of a 32 B ECC sector or line
    Param<Picoseconds> bypass_dirty_extra;   ///< write-back before an L2-bypassing read of a dirty line
    Param<bool> bypass_dirty_stall;          ///< … during which the reading core sends no further request
};

}  // namespace podsim
