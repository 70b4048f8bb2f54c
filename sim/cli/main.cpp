// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/cli.hpp"

#include <cstdlib>
#include <iostream>

namespace {

/// Replaced by sim/run as soon as it is there.
podsim::ExitCode run_command(const podsim::RunRequest& /*request*/, std::ostream& /*out*/, std::ostream& /*err*/) {
    throw podsim::InternalError("this build has no simulation yet: sim/run is not linked");
}

}  // namespace

// libsystemc brings a main() that wants this; ours below wins, and nothing calls it.
int sc_main(int /*argc*/, char* /*argv*/[]) { return static_cast<int>(podsim::ExitCode::bug); }

int main(int argc, char* argv[]) {
    // Before SystemC is touched: its copyright notice would go to standard error.
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);  // NOLINT(concurrency-mt-unsafe): no threads yet
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    const int code = podsim::command_line(arguments, run_command, std::cout, std::cerr);
    // Destroying 10^5 modules takes seconds and frees nothing anyone needs.
    std::quick_exit(code);
}
