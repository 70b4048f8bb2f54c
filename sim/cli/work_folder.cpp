// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/work_folder.hpp"

#include "models/engine/error.hpp"

#include <fmt/format.h>
#include <cstdlib>
#include <string>
#include <system_error>

namespace podsim {

namespace fs = std::filesystem;

WorkFolder::WorkFolder(const std::optional<fs::path>& out_dir) {
    if (out_dir) {
        path_ = *out_dir;
        return;
    }
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    if (error) {
        throw IoError(fmt::format("the folder for temporary files cannot be used: {}; see TMPDIR", error.message()));
    }
    std::string name = (temporary / "podsim-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        throw IoError(fmt::format("{}: a folder for the runs cannot be made", name));
    }
    path_ = name;
    owned_ = true;
}

WorkFolder::~WorkFolder() {
    std::error_code error;
    if (owned_) {
        fs::remove_all(path_, error);
    }
}

}  // namespace podsim
