// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Files of `--out DIR`: result.json, config.json, cores.csv, cards.csv, planes.csv, and what the config asks
/// for of trace.json, hazards.json, stamps.txt (docs/user-guide.md explains every column).
#include "sim/run/simulation.hpp"

#include <array>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace podsim {

struct ResultFile {
    const char* name;
    /// JSON pointer of the option that must not be "off"; null: always written.
    const char* option = nullptr;
};

/// The result first.
inline constexpr std::array kResultFiles{ResultFile{"result.json"},
                                         ResultFile{"config.json"},
                                         ResultFile{"cores.csv"},
                                         ResultFile{"cards.csv"},
                                         ResultFile{"planes.csv"},
                                         ResultFile{"trace.json", "/observe/timeline"},
                                         ResultFile{"hazards.json", "/check/hazards"},
                                         ResultFile{"stamps.txt", "/observe/stamps"}};

/// Those that a run with this effective config writes.
std::vector<std::string> result_files_of(const nlohmann::json& effective);

/// Stands in a folder while its files are written, and stays if that is not brought to its end.
inline constexpr const char* kUnfinished = ".podsim-unfinished";

/// Whether files of these names in `dir` are a run's: a result is among them, or they are not finished.
bool is_run_folder(const std::filesystem::path& dir);

/// Something is in the place of a file that podsim would write. `by`: the command that may have written it.
UserError foreign_file(const std::filesystem::path& where, std::string_view by, std::string found);

/// Refuses a folder in which one of these files is somebody else's: not in a run's folder, or this run reads it and
/// would change it. Throws UserError.
void refuse_foreign_files(const RunConfig& config, const std::filesystem::path& dir);

/// An earlier run's files are replaced, or go if this one has no such file. Throws IoError naming the file that cannot
/// be written.
void write_result_files(const Simulation& simulation, const nlohmann::ordered_json& result,
                        const std::filesystem::path& dir);

}  // namespace podsim
