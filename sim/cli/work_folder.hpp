// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Where a command has its runs: --out, else a temporary folder that goes with this object.
#include <filesystem>
#include <optional>

namespace podsim {

class WorkFolder {
public:
    /// Throws IoError.
    explicit WorkFolder(const std::optional<std::filesystem::path>& out_dir);
    ~WorkFolder();
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    bool owned_ = false;
};

}  // namespace podsim
