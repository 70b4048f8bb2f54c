// SPDX-License-Identifier: Apache-2.0
#include "sim/report/compare_side.hpp"

#include "models/engine/error.hpp"
#include "sim/config/json_text.hpp"
#include "sim/config/run_config.hpp"
#include "sim/result/file_set.hpp"
#include "sim/result/result_files.hpp"
#include "sim/result/result_json.hpp"
#include "sim/sweep/point_run.hpp"

#include <fmt/format.h>

#include <cmath>

namespace podsim {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// The result file a source names; nothing when it is a config.
std::optional<fs::path> result_file(const std::string& source) {
    const fs::path path(source);
    std::error_code error;
    fs::path file = path;
    if (fs::is_directory(path, error)) {
        file = path / "result.json";
        const fs::file_status result = fs::status(file, error);
        if (fs::exists(result) && !fs::is_regular_file(result)) {
            throw IoError(fmt::format("{}: not a regular file", file.string()));
        }
        if (!fs::exists(result)) {
            throw UserError({source, "", "a folder written by podsim run --out", "a folder without result.json",
                             fs::exists(path / "points", error) ? "a sweep keeps them in points/NNNN" : ""});
        }
    } else if (!has_schema(read_json_file(path), kResultSchema)) {
        return std::nullopt;
    }
    if (fs::exists(file.parent_path() / kUnfinished, error)) {
        throw UserError({source, "", "a result beside which all files of its run are written",
                         fmt::format("{} beside it: they are not", kUnfinished), ""});
    }
    return file;
}

/// A result whose parts do not make up the whole was changed after the run: differences of it would mean nothing.
void require_whole(const json& result, const fs::path& file) {
    constexpr double kRounding = 0.001;  // µs; figures are written to the ps
    const auto require = [&](const std::string& pointer, double parts, double whole, const char* what) {
        if (std::abs(parts - whole) > kRounding) {
            throw UserError({file.string(), pointer, fmt::format("values that sum to {} ({:.6f})", what, whole),
                             fmt::format("a sum of {:.6f}", parts), ""});
        }
    };
    double total = 0;
    for (const auto& [group, us] : result["phases_us"].items()) {
        total += us.get<double>();
        double parts = 0;
        for (const auto& [name, part] : result["subphases_us"].items()) {
            parts += name.substr(0, name.find('.')) == group ? part.get<double>() : 0;
        }
        if (group != "idle") {
            require("/subphases_us", parts, us.get<double>(), ("/phases_us/" + group).c_str());
        }
    }
    require("/phases_us", total, result["total_us"].get<double>(), "/total_us");
}

/// Puts `outcome` of a run, this one's or an earlier one's, into `side`; `file` holds its result.
void settle(CompareSide& side, PointOutcome outcome, const fs::path& file) {
    if (outcome.status != "ok") {
        const bool by_signal = outcome.exit_code > static_cast<int>(ExitCode::bug);
        throw PodsimError(by_signal ? ExitCode::bug : static_cast<ExitCode>(outcome.exit_code),
                          fmt::format("{}: the run ended as {}, so there are no times to compare{}{}", side.source,
                                      outcome.status, outcome.reason.empty() ? "" : ": ", outcome.reason));
    }
    for (const char* pointer : {"/total_us", "/phases_us", "/subphases_us", "/overlap"}) {
        if (!outcome.result.contains(json::json_pointer(pointer))) {
            throw UserError({file.string(), pointer, "a value, as podsim run writes it where status is ok",
                             "nothing: the key is missing", ""});
        }
    }
    require_whole(outcome.result, file);
    side.result = std::move(outcome.result);
    const json& config = side.result["config"];
    double work = 0;
    for (const auto& [phase, mean] : side.result["subphases_us"].items()) {
        work += phase.starts_with("flags.") ? 0 : mean.get<double>();
    }
    side.loads = read_core_loads(file.parent_path() / "cores.csv",
                                 {config["calls"].get<std::uint32_t>(), config["cards"].get<std::uint32_t>(),
                                  config["algorithm"]["aiv_cores"].get<std::uint32_t>(), work});
}

}  // namespace

std::vector<CompareSide> load_compare_sides(const std::vector<std::string>& sources, const fs::path& work,
                                            bool different_workloads) {
    std::vector<CompareSide> sides;
    std::vector<std::size_t> configs;
    std::vector<std::string> read;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        CompareSide& side = sides.emplace_back();
        side.source = sources[i];
        if (const auto file = result_file(side.source)) {
            json result = read_json_file(*file);
            check_result(result, file->string());
            settle(side, outcome_of_result(std::move(result)), *file);
            read.insert(read.end(), {file->string(), (file->parent_path() / "cores.csv").string()});
            continue;
        }
        configs.push_back(i);
        const RunConfig config = load_run_config(side.source);
        side.result["config"] = effective_json(config);
        read.insert(read.end(), config.files.begin(), config.files.end());
    }
    const FileSet inputs(read);
    std::vector<std::pair<std::size_t, PointRun>> runs;
    for (const std::size_t i : configs) {
        runs.emplace_back(i, PointRun(work / (i == 0 ? "a" : "b"), inputs)).second.refuse_foreign();
    }
    if (!different_workloads) {
        require_same_workload(sides[0], sides[1]);
    }
    for (const auto& [number, run] : runs) {
        run.prepare(sides[number].result["config"]);
    }
    std::size_t started = 0;
    ProcessPool pool;
    pool.jobs = runs.size();
    pool.next = [&]() -> std::optional<ProcessCommand> {
        if (started == runs.size()) {
            return std::nullopt;
        }
        const std::size_t number = started++;
        return runs[number].second.command(number);
    };
    pool.ended = [&](const ProcessEnd& end) {
        CompareSide& side = sides[runs[end.id].first];
        const PointRun& run = runs[end.id].second;
        PointOutcome outcome = run.collect(end);  // gives the folder its name
        settle(side, std::move(outcome), run.folder() / "result.json");
    };
    if (const int signal = pool.run()) {
        throw Interrupted(signal);
    }
    return sides;
}

}  // namespace podsim
