// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Parameters of hardware synchronisation and launch; values and sources stand in the machine file
/// (`/sync`, `/launch`).
#include "models/engine/param.hpp"
#include "models/engine/units.hpp"

namespace podsim {

struct SyncParams {
    Param<Picoseconds> sync_all_base;      ///< last arrival to release, without cores
    Param<Picoseconds> sync_all_per_core;  ///< added per participating core
};

struct LaunchParams {
    Param<Picoseconds> core_start_skew;  ///< cores of a card start uniformly within this
    Param<Picoseconds> card_start_skew;  ///< cards start uniformly within this
    Param<Picoseconds> call_gap;         ///< end of a card's call to the start of its next call
};

}  // namespace podsim
