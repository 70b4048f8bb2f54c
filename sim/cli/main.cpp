// SPDX-License-Identifier: Apache-2.0
#include "models/engine/systemc.hpp"
#include "sim/cli/cli.hpp"
#include "sim/cli/run_command.hpp"

#include <cstdlib>
#include <iostream>

// libsystemc brings a main() that wants this; ours below wins, and nothing calls it.
int sc_main(int /*argc*/, char* /*argv*/[]) { return static_cast<int>(podsim::ExitCode::bug); }

int main(int argc, char* argv[]) {
    // Before SystemC is touched: its copyright notice would go to standard error.
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);  // NOLINT(concurrency-mt-unsafe): no threads yet
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    const int code = podsim::command_line(arguments, podsim::run_command, std::cout, std::cerr);
    std::cout.flush();
    std::cerr.flush();
    std::quick_exit(code);
}
