// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The program as its users have it.
#include "tests/support/program.hpp"
#include "tests/support/temp_dir.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace podsim::test {

/// `podsim arguments…`.
inline ProgramResult podsim_program(std::vector<std::string> arguments, const ProgramOptions& options = {}) {
    arguments.insert(arguments.begin(), PODSIM_PROGRAM);
    return run_program(arguments, options);
}

inline std::string repository(const std::string& relative) { return std::string(PODSIM_SOURCE_DIR) + "/" + relative; }

inline std::string smoke() { return repository("configs/runs/ep8_smoke.json"); }

/// A refusal: its exit code, nothing on standard output, exactly one line on standard error in our own words.
inline void check_one_message(const ProgramResult& result, int exit_code) {
    CAPTURE(result.err);
    CHECK(result.exit_code == exit_code);
    CHECK(result.out.empty());
    REQUIRE_FALSE(result.err.empty());
    CHECK(result.err.find('\n') == result.err.size() - 1);
    CHECK(result.err.starts_with("podsim: "));
    for (const char* foreign : {"nlohmann", "json.exception", "valijson", "CLI::", "constraint", "terminate", "what()",
                                "SystemC", "std::", "bug in podsim"}) {
        CHECK(result.err.find(foreign) == std::string::npos);
    }
}

}  // namespace podsim::test
