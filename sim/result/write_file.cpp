// SPDX-License-Identifier: Apache-2.0
#include "sim/result/write_file.hpp"

#include "models/engine/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>

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

void replace_text(const std::filesystem::path& path, std::string_view text) {
    std::filesystem::path half;
    std::FILE* file = nullptr;
    for (int i = 0; file == nullptr && (i == 0 || errno == EEXIST); ++i) {
        half = fmt::format("{}.tmp{}", path.string(), i);
        file = std::fopen(half.c_str(), "wbx");  // x: a new file
    }
    bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    written = file != nullptr && std::fclose(file) == 0 && written;
    std::error_code error;
    if (written) {
        std::filesystem::rename(half, path, error);
    }
    if (!written || error) {
        if (file != nullptr) {
            std::filesystem::remove(half, error);
        }
        throw IoError(fmt::format("{}: cannot be written", path.string()));
    }
}

}  // namespace podsim
