// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Runs processes, a limited number at a time. Whatever becomes of one touches neither this process nor the others.
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace podsim {

struct ProcessCommand {
    std::filesystem::path program;
    std::vector<std::string> arguments;
    std::filesystem::path folder;    ///< its current folder
    std::filesystem::path messages;  ///< gets its standard error; standard output goes nowhere
    std::size_t id = 0;              ///< the caller's own
};

struct ProcessEnd {
    std::size_t id = 0;
    int exit_code = 0;
    int signal = 0;     ///< that ended it, 0 = it ended by itself
    double wall_s = 0;  ///< host time
};

struct ProcessPool {
    std::size_t jobs = 1;                                 ///< processes at a time
    std::function<std::optional<ProcessCommand>()> next;  ///< the next to start; nothing = no more
    std::function<void(const ProcessEnd&)> ended;         ///< told of each, in the order they end
    std::function<void(std::size_t running)> tick = {};   ///< every second

    /// Returns 0 when all have ended; after SIGINT, SIGTERM or SIGHUP that signal, with the running ones stopped and
    /// not told of. Processes are in groups of their own, so Ctrl-C reaches this one only; they end when this one dies.
    /// Throws IoError when a process cannot be started, and what the functions throw.
    int run() const;
};

/// Thrown where a signal has stopped what was to be done, in good order.
struct Interrupted {
    explicit Interrupted(int by) : signal(by) {}
    int signal;
};

/// The running program's own file.
std::filesystem::path this_program();

}  // namespace podsim
