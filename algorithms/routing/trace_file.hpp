// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Opening, reading and complaining about routing files; internal to algorithms/routing.
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace podsim {

/// Throws UserError: `path` (and line, where not 0) has `found` where `expected` should be. `pointer` leads to
/// the value inside the line, "" where there is none.
[[noreturn]] void bad_trace(const std::string& path, std::uint64_t line, const std::string& pointer,
                            const std::string& expected, const std::string& found, const std::string& hint = "");

/// Opens a regular file that is neither empty nor a Git-LFS pointer, positioned at its begin. Throws IoError for
/// what cannot be read, UserError for those two.
std::ifstream open_trace(const std::string& path);

/// Text from a file as it may stand in a message: quoted, short, printable.
std::string excerpt(std::string_view text);

/// Lines of a text file without line ends (\n or \r\n) and without the byte order mark.
class TextLines {
public:
    explicit TextLines(const std::string& path);
    /// False at the end. Throws UserError when the file turns out not to be text.
    bool next(std::string& line);
    std::uint64_t number() const { return number_; }  ///< of the line last returned, from 1
    /// True when the line last returned is the end of a file that does not end with a line end.
    bool cut_off() const { return stream_.eof(); }
    const std::string& path() const { return path_; }

private:
    std::string path_;
    std::ifstream stream_;
    std::uint64_t number_ = 0;
};

}  // namespace podsim
