// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/point_run.hpp"

#include "sim/config/json_text.hpp"
#include "sim/config/origins.hpp"
#include "sim/config/schema.hpp"
#include "sim/result/file_set.hpp"
#include "sim/result/model_version.hpp"
#include "sim/result/result_files.hpp"
#include "sim/result/write_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace podsim {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kResult = "result.json";
constexpr const char* kConfig = "config.json";
constexpr const char* kMessages = "messages.txt";
/// What a point leaves.
bool is_of_a_point(std::string_view name) {
    const auto has_name = [name](const ResultFile& file) { return file.name == name; };
    return std::any_of(kResultFiles.begin(), kResultFiles.end(), has_name) || name == kMessages ||
           name.starts_with(kReserved);
}

/// First line of the process's messages without the program's name.
std::string first_message(const fs::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    constexpr std::string_view kName = "podsim: ";
    return line.starts_with(kName) ? line.substr(kName.size()) : line;
}

/// null when there is none, or it is cut off or damaged.
json read_result(const fs::path& folder) {
    std::error_code error;
    if (!fs::exists(folder / kResult, error)) {
        return nullptr;
    }
    try {
        json result = read_json_file(folder / kResult);
        check_result(result, (folder / kResult).string());
        return result;
    } catch (const PodsimError&) {
        return nullptr;
    }
}

void must(const std::error_code& error, const fs::path& path) {
    if (error) {
        throw IoError(fmt::format("{}: {}", path.string(), error.message()));
    }
}

}  // namespace

void check_result(const json& result, const std::string& file) {
    Origins origins;
    origins.record("", file, "");
    validate_against(SchemaName::result, result, "", origins);
}

PointOutcome outcome_of_result(json result) {
    PointOutcome out;
    out.status = result.value("status", "");
    out.exit_code = exit_code_of_status(out.status);
    if (const auto lines = result.find("diagnosis"); lines != result.end() && !lines->empty()) {
        out.reason = lines->front().get<std::string>();
    }
    out.host_wall_s = result.value("/host/wall_s"_json_pointer, 0.0);
    out.result = std::move(result);
    return out;
}

int exit_code_of_status(const std::string& status) {
    const ExitCode code = status == "ok"         ? ExitCode::ok
                          : status == "mismatch" ? ExitCode::kernel_wrong
                          : status == "refused"  ? ExitCode::user_error
                          : status == "io_error" ? ExitCode::io_error
                          : status == "bug"      ? ExitCode::bug
                                                 : ExitCode::stuck;
    return static_cast<int>(code);
}

void PointRun::prepare(const json& effective) const {
    remove();
    std::error_code error;
    fs::create_directories(working(), error);
    must(error, working());
    write_text(working() / kUnfinished, "");
    write_text(working() / kConfig, effective.dump(2) + "\n");
}

ProcessCommand PointRun::command(std::size_t id) const {
    // File names relative to the folder: messages must not depend on where the folder is.
    return {
        this_program(), {"run", kConfig, "--json", "--out", "."}, working(), fs::absolute(working() / kMessages), id};
}

PointOutcome PointRun::collect(const ProcessEnd& end) const {
    PointOutcome out;
    json result = read_result(working());
    const bool finished = end.signal == 0 && (end.exit_code == 0 || end.exit_code == 4 || end.exit_code == 5);
    if (finished && !result.is_null()) {
        out = outcome_of_result(std::move(result));
    } else {
        out.exit_code = end.signal != 0 ? 128 + end.signal : end.exit_code;
        out.reason = first_message(working() / kMessages);
        out.status = end.signal != 0 || finished ? "crashed"
                     : end.exit_code == 2        ? "refused"
                     : end.exit_code == 3        ? "io_error"
                     : end.exit_code == 70       ? "bug"
                                                 : "crashed";
        if (end.signal != 0) {
            out.reason = fmt::format("the process was ended by signal {} ({})", end.signal, strsignal(end.signal));
        } else if (out.reason.empty()) {
            out.reason = fmt::format("the process ended with code {} and left no result", end.exit_code);
        }
    }
    out.host_wall_s = end.wall_s;
    std::error_code error;
    if (fs::file_size(working() / kMessages, error) == 0) {
        fs::remove(working() / kMessages, error);
    }
    fs::rename(working(), folder_, error);
    must(error, folder_);
    return out;
}

PointOutcome PointRun::refused(const PodsimError& problem) const {
    remove();
    PointOutcome out;
    out.exit_code = static_cast<int>(problem.code());
    out.status = problem.code() == ExitCode::user_error ? "refused"
                 : problem.code() == ExitCode::io_error ? "io_error"
                                                        : "bug";
    out.reason = problem.what();
    return out;
}

std::optional<PointOutcome> PointRun::earlier(const json& effective) const {
    json result = read_result(folder_);
    const auto files = result_files_of(effective);
    const bool whole = std::all_of(files.begin(), files.end(), [this](const std::string& name) {
        std::error_code error;
        const auto bytes = fs::file_size(folder_ / name, error);
        return !error && bytes > 0;
    });
    std::error_code error;
    if (!whole || fs::exists(folder_ / kUnfinished, error) || result.is_null() ||
        result.value("config", json()) != effective || result.value("version", "") != PODSIM_VERSION ||
        result.value("model_version", 0) != kModelVersion) {
        return std::nullopt;
    }
    return outcome_of_result(std::move(result));
}

void PointRun::refuse_foreign() const {
    for (const fs::path& path : {folder_, working()}) {
        std::error_code error;
        const fs::file_status status = fs::symlink_status(path, error);
        if (!fs::exists(status)) {
            continue;
        }
        if (!fs::is_directory(status)) {
            throw foreign_file(path, "podsim run --out", fs::is_symlink(status) ? "a symbolic link" : "a file");
        }
        const bool of_a_run = is_run_folder(path);
        for (const auto& entry : fs::directory_iterator(path, error)) {
            const std::string name = entry.path().filename().string();
            if (!fs::is_regular_file(entry.symlink_status(error)) || !is_of_a_point(name)) {
                throw foreign_file(path, "podsim run --out", fmt::format("\"{}\" in it", name));
            }
            if (!of_a_run) {
                throw foreign_file(path, "podsim run --out", fmt::format("\"{}\" and no result of a run", name));
            }
            if (inputs_->has(entry.path())) {
                throw foreign_file(path, "podsim run --out", fmt::format("\"{}\", which is read now", name));
            }
        }
        must(error, path);
    }
}

void PointRun::remove() const {
    refuse_foreign();
    for (const fs::path& path : {folder_, working()}) {
        std::error_code error;
        if (!fs::exists(path, error)) {
            continue;
        }
        // What is left when this is cut off has to be known for podsim's: the mark goes last.
        write_text(path / kUnfinished, "");
        for (const auto& entry : fs::directory_iterator(path)) {
            if (entry.path().filename() != kUnfinished) {
                fs::remove(entry.path(), error);
            }
        }
        fs::remove_all(path, error);
        must(error, path);
    }
}

}  // namespace podsim
