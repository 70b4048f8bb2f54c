// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The four ways a run can fail that are not a result, and the exit code of each (docs/user-guide.md).
#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>

namespace podsim {

enum class ExitCode : int {
    ok = 0,
    user_error = 2,
    io_error = 3,
    kernel_wrong = 4,
    stuck = 5,
    out_of_tolerance = 6,
    bug = 70,
};

/// One user mistake, said once: where, what was expected, what was found, what may have been meant.
struct ErrorDetail {
    std::string file;      ///< config file, "" when the command line is at fault
    std::string pointer;   ///< JSON pointer of the offending value, "" when there is none
    std::string expected;  ///< what would have been right
    std::string found;     ///< what stands there instead
    std::string hint;      ///< nearest valid name, or what the hardware would have shown; may be ""
};

class PodsimError : public std::runtime_error {
public:
    PodsimError(ExitCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
    ExitCode code() const { return code_; }

private:
    ExitCode code_;
};

/// The user's mistake: exit 2.
class UserError : public PodsimError {
public:
    explicit UserError(ErrorDetail detail);
    explicit UserError(const std::string& text) : PodsimError(ExitCode::user_error, text) {}
    const ErrorDetail& detail() const { return detail_; }

private:
    ErrorDetail detail_;
};

/// A file that cannot be read or written: exit 3.
class IoError : public PodsimError {
public:
    explicit IoError(const std::string& text) : PodsimError(ExitCode::io_error, text) {}
};

/// The simulated kernel broke a rule of the hardware (UB over budget, misaligned copy, absent
/// instruction …): exit 4. `where` names card, core and the kernel's own source line.
class KernelError : public PodsimError {
public:
    explicit KernelError(const std::string& text) : PodsimError(ExitCode::kernel_wrong, text) {}
};

/// A bug in podsim itself: exit 70.
class InternalError : public PodsimError {
public:
    explicit InternalError(const std::string& text) : PodsimError(ExitCode::bug, text) {}
};

/// Checks that stay on in Release builds.
[[noreturn]] void fail_check(const char* condition, const std::string& state, std::source_location where);

inline void check(bool ok, const char* condition, std::source_location where = std::source_location::current()) {
    if (!ok) [[unlikely]] {
        fail_check(condition, "", where);
    }
}

}  // namespace podsim
