// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The whole machine as models see it: every value set, units converted once. Filled by sim/config from
/// a machine file; nothing here has a default.
#include "models/aicore/core_params.hpp"
#include "models/fabric/fabric_params.hpp"
#include "models/memory/memory_params.hpp"
#include "models/sync/sync_params.hpp"

#include <string>

namespace podsim {

struct Machine {
    std::string name;
    CoreParams core;
    MemoryParams memory;
    FabricParams fabric;
    SyncParams sync;
    LaunchParams launch;
};

}  // namespace podsim
