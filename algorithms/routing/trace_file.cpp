// SPDX-License-Identifier: Apache-2.0
#include "algorithms/routing/trace_file.hpp"

#include "models/engine/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace podsim {

namespace {

constexpr std::string_view kLfsPointer = "version https://git-lfs.github.com/spec/";
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

[[noreturn]] void cannot_read(const std::string& path, const std::string& why) {
    throw IoError(fmt::format("{}: cannot read the routing file named by /workload/routing/path: {}", path, why));
}

}  // namespace

void bad_trace(const std::string& path, std::uint64_t line, const std::string& pointer, const std::string& expected,
               const std::string& found, const std::string& hint) {
    ErrorDetail detail;
    detail.file = line == 0 ? path : fmt::format("{}:{}", path, line);
    detail.pointer = pointer;
    detail.expected = expected;
    detail.found = found;
    detail.hint = hint + (hint.empty() ? "" : "; ") + "routing file named by /workload/routing/path";
    throw UserError(detail);
}

std::string excerpt(std::string_view text) {
    constexpr std::size_t kLongest = 40;
    std::string shown = "\"";
    for (const char c : text.substr(0, kLongest)) {
        shown += c >= ' ' && c <= '~' ? c : '?';
    }
    shown += text.size() > kLongest ? "…\"" : "\"";
    return shown;
}

std::ifstream open_trace(const std::string& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (error) {
        cannot_read(path, error.message());
    }
    if (std::filesystem::is_directory(status)) {
        cannot_read(path, "it is a directory");
    }
    if (!std::filesystem::is_regular_file(status)) {
        cannot_read(path, "it is not a regular file");
    }
    errno = 0;
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        cannot_read(path, errno == 0 ? "it cannot be opened" : std::strerror(errno));
    }
    std::string begin(kLfsPointer.size(), '\0');
    stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    begin.resize(static_cast<std::size_t>(stream.gcount()));
    if (begin.empty()) {
        bad_trace(path, 0, "", "routing data", "an empty file");
    }
    if (begin == kLfsPointer) {
        bad_trace(path, 0, "", "routing data", "a Git LFS pointer, which stands for a file that was not downloaded",
                  "`git lfs pull` fetches it");
    }
    stream.clear();
    stream.seekg(0);
    return stream;
}

TextLines::TextLines(const std::string& path) : path_(path), stream_(open_trace(path)) {}

bool TextLines::next(std::string& line) {
    if (!std::getline(stream_, line)) {
        if (stream_.bad()) {
            cannot_read(path_, "reading failed half-way");
        }
        return false;
    }
    ++number_;
    if (number_ == 1 && line.starts_with(kUtf8Mark)) {
        line.erase(0, kUtf8Mark.size());
    }
    if (line.ends_with('\r')) {
        line.pop_back();
    }
    const auto is_text = [](char c) { return static_cast<unsigned char>(c) >= ' ' || c == '\t'; };
    if (!std::all_of(line.begin(), line.end(), is_text) || line.starts_with("\xFF\xFE") ||
        line.starts_with("\xFE\xFF")) {
        bad_trace(path_, number_, "", "UTF-8 text", "binary data or another encoding");
    }
    return true;
}

}  // namespace podsim
