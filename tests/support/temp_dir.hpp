// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A directory of a test's own, gone with it.
#include <string>
#include <string_view>

namespace podsim::test {

class TempDir {
public:
    TempDir();
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    ~TempDir();

    const std::string& path() const { return path_; }
    /// Path of `name` inside; the file need not exist.
    std::string file(std::string_view name) const;
    /// Writes `text` to `name`, as bytes, and returns its path.
    std::string write(std::string_view name, std::string_view text) const;
    /// All bytes of `name`; throws std::runtime_error when it cannot be read.
    std::string read(std::string_view name) const;

private:
    std::string path_;
};

}  // namespace podsim::test
