// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/output_dir.hpp"

#include "models/engine/error.hpp"
#include "sim/result/write_file.hpp"

#include <fmt/format.h>

namespace podsim {

void try_output_dir(const std::filesystem::path& dir) {
    std::error_code error;
    if (std::filesystem::exists(dir, error) && !std::filesystem::is_directory(dir, error)) {
        throw IoError(fmt::format("--out: {}: expected a folder, found a file", dir.string()));
    }
    std::filesystem::create_directories(dir, error);
    if (error) {
        throw IoError(fmt::format("--out: {}: cannot be made: {}", dir.string(), error.message()));
    }
    if (!can_write_in(dir)) {
        throw IoError(fmt::format("--out: {}: cannot be written to", dir.string()));
    }
}

}  // namespace podsim
