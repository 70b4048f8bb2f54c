// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Two results to compare.
#include "sim/cli/cli.hpp"
#include "tests/cli/cli_support.hpp"

#include <sstream>
#include <string>
#include <vector>

namespace podsim::test {

inline std::vector<std::string> run_of(const std::string& out, const std::vector<std::string>& sets) {
    std::vector<std::string> arguments{"run", smoke(), "--json", "--out", out, "--set", "/algorithm/aiv_cores=6"};
    for (const std::string& set : sets) {
        arguments.insert(arguments.end(), {"--set", set});
    }
    return arguments;
}

/// Result folders of the same workload with replicated and with matrix sums.
struct Pair {
    Pair() {
        REQUIRE(podsim_program(run_of(a, {})).exit_code == 0);
        REQUIRE(podsim_program(run_of(b, {"/algorithm/options/cumsum=matrix"})).exit_code == 0);
    }
    nlohmann::json result(const char* side) const {
        return nlohmann::json::parse(dir.read(std::string(side) + "/result.json"));
    }

    TempDir dir;
    std::string a = dir.file("a"), b = dir.file("b");
};

/// `podsim compare` in this process: quick enough for hundreds of damaged files.
inline ProgramResult compare_here(const std::string& a, const std::string& b) {
    std::ostringstream out, err;
    ProgramResult result;
    result.exit_code = podsim::command_line({"compare", a, b}, {}, out, err);
    result.out = out.str();
    result.err = err.str();
    return result;
}

}  // namespace podsim::test
