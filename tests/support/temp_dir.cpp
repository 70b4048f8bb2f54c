// SPDX-License-Identifier: Apache-2.0
#include "tests/support/temp_dir.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace podsim::test {

TempDir::TempDir() : path_((std::filesystem::temp_directory_path() / "podsim-test-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) {
        throw std::runtime_error("cannot make a directory like " + path_);
    }
}

TempDir::~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::file(std::string_view name) const { return path_ + "/" + std::string(name); }

std::string TempDir::write(std::string_view name, std::string_view text) const {
    std::string path = file(name);
    std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
    return path;
}

std::string TempDir::read(std::string_view name) const {
    std::ifstream in(file(name), std::ios::binary);
    if (!in) {
        throw std::runtime_error("cannot read " + file(name));
    }
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace podsim::test
