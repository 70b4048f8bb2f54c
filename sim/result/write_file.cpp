// SPDX-License-Identifier: Apache-2.0
#include "sim/result/write_file.hpp"

#include "models/engine/error.hpp"

#include <fmt/format.h>

#include <fstream>

namespace podsim {

void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& fill) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    fill(file);
    file.close();
    if (!file) {
        throw IoError(fmt::format("{}: cannot be written", path.string()));
    }
}

void write_text(const std::filesystem::path& path, std::string_view text) {
    write_file(path, [text](std::ostream& out) { out << text; });
}

}  // namespace podsim
