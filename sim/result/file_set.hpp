// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Files by what they are, not by what they are called.
#include <sys/types.h>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace podsim {

class FileSet {
public:
    /// Those of `paths` that exist.
    FileSet() = default;
    explicit FileSet(const std::vector<std::string>& paths);
    /// Whether `path`, followed if it is a link, is one of them.
    bool has(const std::filesystem::path& path) const;

private:
    std::set<std::pair<dev_t, ino_t>> known_;
};

}  // namespace podsim
