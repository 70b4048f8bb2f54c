// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/compare_command.hpp"

#include "sim/cli/arguments.hpp"
#include "sim/cli/work_folder.hpp"
#include "sim/config/json_text.hpp"
#include "sim/report/compare.hpp"
#include "sim/result/result_files.hpp"
#include "sim/result/write_file.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

namespace podsim {

namespace fs = std::filesystem;

namespace {

constexpr const char* kCompareFile = "compare.json";

/// Only an earlier comparison is replaced.
void refuse_foreign_file(const fs::path& path) {
    std::error_code error;
    if (fs::exists(fs::symlink_status(path, error)) && !file_has_schema(path, kCompareSchema)) {
        throw foreign_file(path, "podsim compare --out", "something else");
    }
}

}  // namespace

void compare_command(const Arguments& arguments, std::ostream& out) {
    if (arguments.out_dir) {
        refuse_foreign_file(*arguments.out_dir / kCompareFile);
    }
    const WorkFolder work(arguments.out_dir);
    const auto sides = load_compare_sides(arguments.sides, work.path(), arguments.different_workloads);
    const nlohmann::ordered_json compared = compare_json(sides[0], sides[1]);
    const std::string document = compared.dump(2) + "\n";
    out << (arguments.json ? document : compare_text(compared));
    if (arguments.out_dir) {
        write_text(*arguments.out_dir / kCompareFile, document);
    }
}

}  // namespace podsim
