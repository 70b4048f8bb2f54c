// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The command-line program without its main(): commands, messages, exit codes.
#include "models/engine/error.hpp"
#include "sim/config/run_config.hpp"

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace podsim {

/// `podsim run`, everything about it checked; `out_dir` exists and can be written to.
struct RunRequest {
    RunConfig config;
    std::optional<std::filesystem::path> out_dir;
    bool json = false;  ///< exactly one JSON document goes to `out`
};

/// Simulates and reports. Results go to `out`, progress and messages to `err`; a failed simulation is told there and
/// by the code returned. May throw PodsimError.
using RunCommand = std::function<ExitCode(const RunRequest& request, std::ostream& out, std::ostream& err)>;

/// The whole program: parses, does, reports errors as one line on `err`. Returns the exit code; never throws.
/// `arguments` without the program's name.
int command_line(const std::vector<std::string>& arguments, const RunCommand& run, std::ostream& out,
                 std::ostream& err) noexcept;

}  // namespace podsim
