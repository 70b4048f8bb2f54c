// SPDX-License-Identifier: Apache-2.0
#include "sim/result/write_file.hpp"

#include "models/engine/error.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string>
#include <system_error>

namespace podsim {

namespace {

namespace fs = std::filesystem;

/// A new file in `dir` that has not got its name yet. One that was left there goes.
class HalfFile {
public:
    explicit HalfFile(const fs::path& dir) : path_(dir / (std::string(kReserved) + "half")) {
        std::error_code error;
        fs::remove(path_, error);
        file_.open(path_, std::ios::binary | std::ios::trunc);
    }
    ~HalfFile() {
        std::error_code error;
        fs::remove(path_, error);  // unless it has its name
    }
    HalfFile(const HalfFile&) = delete;
    HalfFile& operator=(const HalfFile&) = delete;

    std::ostream& out() { return file_; }
    bool written() {
        file_.close();
        return !file_.fail();
    }
    bool rename(const fs::path& to) {
        std::error_code error;
        fs::rename(path_, to, error);
        return !error;
    }

private:
    fs::path path_;
    std::ofstream file_;
};

}  // namespace

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& fill) {
    HalfFile half(path.parent_path());
    fill(half.out());
    if (!half.written() || !half.rename(path)) {
        throw IoError(fmt::format("{}: cannot be written", path.string()));
    }
}

void write_text(const fs::path& path, std::string_view text) {
    write_file(path, [text](std::ostream& out) { out << text; });
}

bool can_write_in(const fs::path& dir) {
    HalfFile half(dir);
    half.out() << "podsim\n";
    return half.written();
}

}  // namespace podsim
