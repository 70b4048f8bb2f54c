// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/output_dir.hpp"

#include "models/engine/error.hpp"

#include <fmt/format.h>
#include <fstream>

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
    const std::filesystem::path probe = dir / ".podsim-write-test";
    std::ofstream file(probe);
    file << "podsim\n";
    file.close();
    const bool written = static_cast<bool>(file);
    std::filesystem::remove(probe, error);
    if (!written) {
        throw IoError(fmt::format("--out: {}: cannot be written to", dir.string()));
    }
}

}  // namespace podsim
