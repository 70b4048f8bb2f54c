// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Runs a program as a user would and keeps what it said.
#include <chrono>
#include <string>
#include <vector>

namespace podsim::test {

struct ProgramResult {
    int exit_code = -1;  ///< 128 + signal when a signal ended it, as shells have it
    std::string out;
    std::string err;
};

struct ProgramOptions {
    std::string working_dir{};               ///< "" = this process's
    std::vector<std::string> environment{};  ///< "NAME=value", added to this process's
    std::string input{};                     ///< standard input
    std::chrono::seconds timeout{120};       ///< then it is killed and the call throws
};

/// Runs arguments[0] (a path) with the rest as its arguments. Throws std::runtime_error when it cannot be
/// started or does not end in time.
ProgramResult run_program(const std::vector<std::string>& arguments, const ProgramOptions& options = {});

}  // namespace podsim::test
