// SPDX-License-Identifier: Apache-2.0
#pragma once
/// JSON machine file ("podsim.machine/1") -> Machine.
#include "models/pod/machine.hpp"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace podsim {

class Origins;

/// `machine` stands at `pointer` of the document `origins` describes. Checks structure (schema), units, ranges and
/// what must fit together; missing optional parts are filled in. Throws UserError.
Machine load_machine(nlohmann::json& machine, const std::string& pointer, const Origins& origins);

/// A machine file on its own. Throws UserError, IoError.
Machine load_machine_file(const std::filesystem::path& path);

/// The machine that is embedded in the program: atlas_a3_pod.
Machine load_builtin_machine();

/// JSON pointers (within the machine file) of parameters no model has read, a vector instruction as a whole.
/// Meaningful after a run, on the Machine the run used.
std::vector<std::string> unused_parameters(const Machine& machine);

}  // namespace podsim
