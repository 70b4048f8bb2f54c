// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/compare_command.hpp"

#include "models/engine/error.hpp"
#include "sim/cli/arguments.hpp"
#include "sim/report/compare.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

namespace podsim {

namespace {

namespace fs = std::filesystem;

/// Where configs are run: --out, else a folder that goes with this object.
class WorkFolder {
public:
    explicit WorkFolder(const std::optional<fs::path>& out_dir) {
        if (out_dir) {
            path_ = *out_dir;
            return;
        }
        std::string name = (fs::temp_directory_path() / "podsim-compare-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            throw IoError(fmt::format("{}: a folder for the runs cannot be made", name));
        }
        path_ = name;
        owned_ = true;
    }
    ~WorkFolder() {
        std::error_code error;
        if (owned_) {
            fs::remove_all(path_, error);
        }
    }
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
    bool owned_ = false;
};

}  // namespace

void compare_command(const Arguments& arguments, std::ostream& out) {
    const WorkFolder work(arguments.out_dir);
    const auto sides = load_compare_sides(arguments.sides, work.path(), arguments.different_workloads);
    const nlohmann::ordered_json compared = compare_json(sides[0], sides[1]);
    const std::string document = compared.dump(2) + "\n";
    out << (arguments.json ? document : compare_text(compared));
    if (arguments.out_dir) {
        const fs::path path = *arguments.out_dir / "compare.json";
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        file << document;
        file.close();
        if (!file) {
            throw IoError(fmt::format("{}: cannot be written", path.string()));
        }
    }
}

}  // namespace podsim
