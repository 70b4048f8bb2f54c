// SPDX-License-Identifier: Apache-2.0
#include "models/engine/error.hpp"

#include <fmt/format.h>

namespace podsim {

namespace {

std::string one_message(const ErrorDetail& d) {
    std::string text;
    if (!d.file.empty()) {
        text += d.file + ": ";
    }
    if (!d.pointer.empty()) {
        text += d.pointer + ": ";
    }
    text += fmt::format("expected {}, found {}", d.expected, d.found);
    if (!d.hint.empty()) {
        text += fmt::format(" ({})", d.hint);
    }
    return text;
}

}  // namespace

UserError::UserError(ErrorDetail detail)
    : PodsimError(ExitCode::user_error, one_message(detail)), detail_(std::move(detail)) {}

void fail_check(const char* condition, const std::string& state, std::source_location where) {
    throw InternalError(fmt::format("{}:{}: check failed: {}{}{}", where.file_name(), where.line(), condition,
                                    state.empty() ? "" : "; ", state));
}

}  // namespace podsim
