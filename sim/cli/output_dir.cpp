// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/output_dir.hpp"

#include "models/engine/error.hpp"
#include "sim/result/result_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

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
    std::string probe = (dir / kWriteTest).string() + "-XXXXXX";
    const int file = ::mkstemp(probe.data());  // a new file, whatever is there
    const bool written = file >= 0 && ::write(file, "podsim\n", 7) == 7;
    if (file >= 0) {
        ::close(file);
        std::filesystem::remove(probe, error);
    }
    if (!written) {
        throw IoError(fmt::format("--out: {}: cannot be written to", dir.string()));
    }
}

}  // namespace podsim
