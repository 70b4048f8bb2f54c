// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The command line, parsed.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace podsim {

enum class Command { print, run, check, sweep, compare, validate };

struct Arguments {
    Command command = Command::print;
    std::string text;                                ///< print: what --help or --version asked for
    std::filesystem::path config;                    ///< run, check: the config; sweep: the sweep file
    std::vector<std::string> sets;                   ///< "/pointer=value", in order
    std::optional<std::filesystem::path> out_dir;    ///< run, sweep, compare, validate
    std::size_t jobs = 0;                            ///< sweep, validate; 0 = one a core of the host
    bool resume = false;                             ///< sweep
    std::vector<std::string> sides;                  ///< compare: A and B
    bool different_workloads = false;                ///< compare
    std::optional<std::filesystem::path> machine;    ///< validate; without it the embedded one
    std::optional<std::filesystem::path> published;  ///< validate: file of figures; without it the embedded one
    bool components = false;                         ///< validate
    bool quick = false;                              ///< validate
    std::string role;                                ///< validate: "" = both
    std::size_t samples = 0;                         ///< validate: machines drawn for the bands
    bool json = false;
};

/// `arguments` without the program's name. Throws UserError with one message for any misuse.
Arguments parse_arguments(const std::vector<std::string>& arguments);

}  // namespace podsim
