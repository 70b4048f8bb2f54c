// SPDX-License-Identifier: Apache-2.0
#include "sim/result/file_set.hpp"

#include <sys/stat.h>
#include <optional>

namespace podsim {

namespace {

std::optional<std::pair<dev_t, ino_t>> identity(const char* path) {
    struct stat status {};
    return ::stat(path, &status) == 0 ? std::optional(std::pair(status.st_dev, status.st_ino)) : std::nullopt;
}

}  // namespace

FileSet::FileSet(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
        if (const auto found = identity(path.c_str())) {
            known_.insert(*found);
        }
    }
}

bool FileSet::has(const std::filesystem::path& path) const {
    const auto found = identity(path.c_str());
    return found && known_.contains(*found);
}

}  // namespace podsim
