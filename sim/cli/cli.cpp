// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/cli.hpp"

#include "sim/cli/arguments.hpp"
#include "sim/cli/check_report.hpp"
#include "sim/cli/compare_command.hpp"
#include "sim/cli/output_dir.hpp"
#include "sim/cli/validate_command.hpp"
#include "sim/sweep/process_pool.hpp"
#include "sim/sweep/sweep.hpp"

#include <fmt/format.h>
#include <ostream>

namespace podsim {

namespace {

/// A message is one line whatever a file name or a key contains.
std::string one_line(const std::string& text) {
    constexpr std::size_t kMost = 4000;
    std::string out;
    for (const char c : text.substr(0, kMost)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            out += fmt::format("\\x{:02x}", byte);
        } else {
            out += c;
        }
    }
    return text.size() > kMost ? out + "…" : out;
}

constexpr int kSignalled = 128;  ///< plus the signal: as shells have it

ExitCode execute(const Arguments& arguments, const RunCommand& run, std::ostream& out, std::ostream& err) {
    if (arguments.command == Command::print) {
        out << arguments.text;
        return ExitCode::ok;
    }
    if (arguments.out_dir) {
        try_output_dir(*arguments.out_dir);
    }
    if (arguments.command == Command::sweep) {
        if (const int signal =
                run_sweep({arguments.config, *arguments.out_dir, arguments.jobs, arguments.resume}, out, err)) {
            throw Interrupted(signal);
        }
        return ExitCode::ok;
    }
    if (arguments.command == Command::compare) {
        compare_command(arguments, out);
        return ExitCode::ok;
    }
    if (arguments.command == Command::validate) {
        return validate_command(arguments, out, err);
    }
    const RunRequest request{load_run_config(arguments.config, arguments.sets), arguments.out_dir, arguments.json};
    try {
        if (arguments.command == Command::run) {
            return run(request, out, err);
        }
        print_check(request.config, request.json, out);
        return ExitCode::ok;
    } catch (const UserError& error) {
        throw located(request.config, error);
    }
}

int report_bug(std::ostream& err, const std::string& what) {
    err << "podsim: bug in podsim: " << one_line(what) << "; please report it with the config\n";
    return static_cast<int>(ExitCode::bug);
}

int guarded(const std::vector<std::string>& arguments, const RunCommand& run, std::ostream& out, std::ostream& err) {
    try {
        const ExitCode code = execute(parse_arguments(arguments), run, out, err);
        out.flush();
        if (!out) {
            throw IoError("standard output: cannot be written to");
        }
        return static_cast<int>(code);
    } catch (const Interrupted& interrupted) {
        return kSignalled + interrupted.signal;
    } catch (const PodsimError& error) {
        if (error.code() == ExitCode::bug) {
            return report_bug(err, error.what());
        }
        err << "podsim: " << one_line(error.what()) << '\n';
        return static_cast<int>(error.code());
    } catch (const std::bad_alloc&) {
        return report_bug(err, "the host's memory is exhausted");
    } catch (const std::exception& error) {
        return report_bug(err, error.what());
    }
}

}  // namespace

int command_line(const std::vector<std::string>& arguments, const RunCommand& run, std::ostream& out,
                 std::ostream& err) noexcept {
    try {
        const int code = guarded(arguments, run, out, err);
        err.flush();
        return code;
    } catch (...) {  // nothing left to say it with
        return static_cast<int>(ExitCode::bug);
    }
}

}  // namespace podsim
