// SPDX-License-Identifier: Apache-2.0
/// command_line() with a simulation of our own in the place of the real one: every exit code, whatever is thrown.
#include "sim/cli/cli.hpp"
#include "tests/cli/cli_support.hpp"

#include <new>
#include <sstream>
#include <stdexcept>

using namespace podsim;
using namespace podsim::test;

namespace {

struct Said {
    int code = -1;
    std::string out, err;
};

Said say(const std::vector<std::string>& arguments, const RunCommand& run) {
    std::ostringstream out;
    std::ostringstream err;
    Said said;
    said.code = command_line(arguments, run, out, err);
    said.out = out.str();
    said.err = err.str();
    return said;
}

Said run_with(const RunCommand& run) { return say({"run", smoke()}, run); }

[[noreturn]] void fail(const std::exception_ptr& error) { std::rethrow_exception(error); }

}  // namespace

TEST_CASE("exit codes: what the run command returns is what the program returns") {
    for (const ExitCode code : {ExitCode::ok, ExitCode::kernel_wrong, ExitCode::stuck}) {
        const Said said = run_with([&](const RunRequest&, std::ostream& out, std::ostream&) {
            out << "result\n";
            return code;
        });
        CHECK(said.code == static_cast<int>(code));
        CHECK(said.out == "result\n");
        CHECK(said.err.empty());
    }
}

TEST_CASE("exit codes: what is thrown is told in one line") {
    struct Thrown {
        std::exception_ptr error;
        int code;
        const char* contains;
    };
    const std::vector<Thrown> all{
        {std::make_exception_ptr(UserError({"f", "/p", "x", "y", ""})), 2, "podsim: f: /p: expected x, found y"},
        {std::make_exception_ptr(IoError("disk\nfull")), 3, "disk\\x0afull"},
        {std::make_exception_ptr(KernelError("UB over budget")), 4, "UB over budget"},
        {std::make_exception_ptr(PodsimError(ExitCode::stuck, "deadlock")), 5, "deadlock"},
        {std::make_exception_ptr(InternalError("state 7")), 70, "bug in podsim: state 7"},
        {std::make_exception_ptr(std::logic_error("oops")), 70, "bug in podsim: oops"},
        {std::make_exception_ptr(std::bad_alloc()), 70, "memory"},
        {std::make_exception_ptr(42), 70, ""},
    };
    for (const Thrown& thrown : all) {
        CAPTURE(thrown.contains);
        const Said said =
            run_with([&](const RunRequest&, std::ostream&, std::ostream&) -> ExitCode { fail(thrown.error); });
        CHECK(said.code == thrown.code);
        CHECK(said.err.find(thrown.contains) != std::string::npos);
        CHECK(std::count(said.err.begin(), said.err.end(), '\n') <= 1);
    }
}

TEST_CASE("exit codes: the run command gets what was asked for") {
    const TempDir dir;
    RunRequest seen;
    const auto keep = [&](const RunRequest& request, std::ostream&, std::ostream&) {
        seen = request;
        return ExitCode::ok;
    };
    CHECK(say({"run", smoke(), "--json", "--out", dir.file("o"), "--set", "/seed=7", "--set", "/seed=8"}, keep).code ==
          0);
    CHECK(seen.json);
    CHECK(seen.out_dir == dir.file("o"));
    CHECK(seen.config.seed == 8);
    CHECK(seen.config.source == smoke());
    CHECK(say({"run", smoke()}, keep).code == 0);
    CHECK_FALSE(seen.json);
    CHECK_FALSE(seen.out_dir);
}

TEST_CASE("exit codes: a time limit just before the end is a time-out like any other") {
    const std::string config = repository("configs/runs/ep8_smoke.json");
    for (const char* kernel : {"baseline", "optimized"}) {
        const std::string name = std::string("/algorithm/name=") + kernel;
        const ProgramResult whole = podsim_program({"run", config, "--json", "--set", name});
        REQUIRE(whole.exit_code == 0);
        const double total = nlohmann::json::parse(whole.out)["total_us"];
        for (const double before : {0.005, 0.02, 0.05, 0.1, 0.3, 1.0}) {
            CAPTURE(kernel, before);
            const ProgramResult late = podsim_program({"run", config, "--json", "--set", name, "--set",
                                                       "/limits/timeout_us=" + std::to_string(total - before)});
            CHECK(late.exit_code == 5);
            CHECK(nlohmann::json::parse(late.out)["status"] == "timeout");
        }
    }
}
