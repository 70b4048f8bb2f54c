// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/sweep.hpp"

#include "sim/config/json_text.hpp"
#include "sim/config/run_config.hpp"
#include "sim/result/file_set.hpp"
#include "sim/result/result_files.hpp"
#include "sim/result/write_file.hpp"
#include "sim/sweep/sweep_table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <ostream>
#include <thread>

namespace podsim {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

class Sweep {
public:
    Sweep(const SweepRequest& request, std::ostream& err)
        : request_(request),
          plan_(load_sweep_plan(request.file, reserved_columns())),
          inputs_(plan_.files()),
          outcomes_(plan_.points(), PointOutcome{"not_run", 0, "interrupted", nullptr, 0}),
          err_(err),
          shown_(isatty(STDERR_FILENO) != 0) {}

    int run(std::ostream& out) {
        clear_away();
        ProcessPool pool;
        pool.jobs = jobs();
        pool.next = [this] { return next(); };
        pool.ended = [this](const ProcessEnd& end) {
            ++ran_;
            keep(end.id, point(end.id).collect(end));
        };
        pool.tick = [this](std::size_t running) { draw(running); };
        const int signal = pool.run();
        if (shown_) {
            err_ << "\r\033[K" << std::flush;
        }
        write_text(request_.out_dir / kTable, results_csv(plan_, outcomes_));
        report(out, signal);
        return signal;
    }

private:
    std::size_t jobs() const {
        return request_.jobs != 0 ? request_.jobs : std::max(1U, std::thread::hardware_concurrency());
    }
    PointRun point(std::size_t number) const {
        return PointRun(request_.out_dir / kPoints / fmt::format("{:04}", number), inputs_);
    }

    /// The number of a point whose folder has this name.
    static std::optional<std::size_t> number_of(const fs::path& folder) {
        const std::string stem = folder.stem().string();
        if (stem.size() > 9 || !std::all_of(stem.begin(), stem.end(), ::isdigit) || stem.empty()) {
            return std::nullopt;
        }
        const std::size_t number = std::stoul(stem);
        const bool plain = folder.extension().empty() || folder.extension() == ".tmp";
        return plain && stem == fmt::format("{:04}", number) ? std::optional(number) : std::nullopt;
    }

    /// Whether a sweep has run points here.
    bool has_points() const {
        std::error_code error;
        const fs::path points = request_.out_dir / kPoints;
        if (!fs::is_directory(fs::symlink_status(points, error))) {
            return false;
        }
        const fs::directory_iterator entries(points, error);
        const auto is_point = [](const fs::directory_entry& entry) { return number_of(entry.path()).has_value(); };
        return fs::begin(entries) == fs::end(entries) || std::any_of(fs::begin(entries), fs::end(entries), is_point);
    }

    static bool there(const fs::path& path) {
        std::error_code error;
        return fs::exists(fs::symlink_status(path, error));
    }

    /// Refuses a folder that is neither empty nor an earlier sweep's, and one where something else has a point's name.
    void refuse_foreign() const {
        std::error_code error;
        const fs::path plan = request_.out_dir / kPlan;
        const bool has_plan = file_has_schema(plan, kSweepSchema);
        for (const auto& entry : fs::directory_iterator(request_.out_dir, error)) {
            const std::string name = entry.path().filename().string();
            if (!has_plan && !name.starts_with(kReserved)) {
                throw UserError({"--out: " + request_.out_dir.string(), "",
                                 "a new or empty folder, or one of an earlier podsim sweep",
                                 fmt::format("{} and no {} of a sweep", name, kPlan), ""});
            }
        }
        if (error) {
            throw IoError(fmt::format("--out: {}: {}", request_.out_dir.string(), error.message()));
        }
        const fs::path table = request_.out_dir / kTable;
        const bool has_table = there(table);
        if (has_table && !is_results_csv(table)) {
            throw foreign_file(table, "podsim sweep", "something that is no table of a sweep");
        }
        if (inputs_.has(table)) {
            throw foreign_file(table, "podsim sweep", "a file that this sweep reads");
        }
        const fs::path points = request_.out_dir / kPoints;
        if (there(points) && !fs::is_directory(fs::symlink_status(points, error))) {
            throw foreign_file(points, "podsim sweep", "something that is no folder");
        }
        if (has_plan && !has_table && !has_points() && read_text_file(plan) != plan_.text) {
            throw foreign_file(plan, "podsim sweep", "another plan, and nothing that a sweep has left");
        }
        for (const auto& entry : fs::directory_iterator(points, error)) {
            const auto number = number_of(entry.path());
            if (number && *number < outcomes_.size()) {
                point(*number).refuse_foreign();
            }
        }
    }

    /// Half-done points of an earlier sweep, and its table: it would not belong to what is here from now on.
    /// Without --resume all its points. Nothing that holds anything else.
    void clear_away() const {
        refuse_foreign();
        write_text(request_.out_dir / kPlan, plan_.text);
        std::error_code error;
        fs::remove(request_.out_dir / kTable, error);
        const fs::path points = request_.out_dir / kPoints;
        fs::create_directories(points, error);
        if (error) {
            throw IoError(fmt::format("{}: {}", points.string(), error.message()));
        }
        for (const auto& entry : fs::directory_iterator(points)) {
            const auto number = number_of(entry.path());
            const bool half = entry.path().extension() == ".tmp";
            if (!number || !(half || !request_.resume || *number >= outcomes_.size())) {
                continue;
            }
            try {
                PointRun(entry.path(), inputs_).remove();
            } catch (const UserError&) {
                continue;  // beyond this sweep's points, and not ours
            }
        }
    }

    /// Passes over points that need no process.
    std::optional<ProcessCommand> next() {
        while (next_ < outcomes_.size()) {
            const std::size_t number = next_++;
            const PointRun run = point(number);
            json effective;
            try {
                const RunConfig config = make_run_config(plan_.document(number), plan_.base_file.string());
                effective = effective_json(config);
                for (const std::string& note : config.without_effect) {
                    without_effect_[note].push_back(number);
                }
            } catch (const PodsimError& error) {
                keep(number, run.refused(error));
                continue;
            }
            auto earlier = request_.resume ? run.earlier(effective) : std::nullopt;
            if (!earlier) {
                run.prepare(effective);
                return run.command(number);
            }
            older_program_ = older_program_ || made_before_program(run.folder());
            ++kept_;
            keep(number, std::move(*earlier));
        }
        return std::nullopt;
    }

    static bool made_before_program(const fs::path& folder) {
        std::error_code error;
        return fs::last_write_time(folder / "result.json", error) < fs::last_write_time(this_program(), error);
    }

    void keep(std::size_t number, PointOutcome outcome) {
        outcome.result = table_part(outcome.result);
        outcomes_[number] = std::move(outcome);
        ++done_;
        draw(0);
    }

    void draw(std::size_t running) const {
        if (!shown_) {
            return;
        }
        std::string line = fmt::format("{} of {} points done", done_, outcomes_.size());
        if (running > 0) {
            line += fmt::format(", {} running", running);
        }
        if (ran_ > 0 && done_ < outcomes_.size()) {
            const double elapsed = std::chrono::duration<double>(Clock::now() - begun_).count();
            line += fmt::format(", about {:.0f} s to go",
                                elapsed / static_cast<double>(ran_) * static_cast<double>(outcomes_.size() - done_));
        }
        err_ << "\r\033[K" << line << std::flush;
    }

    void report(std::ostream& out, int signal) const {
        std::map<std::string, std::size_t> count;
        std::size_t shown = 0;
        for (std::size_t number = 0; number < outcomes_.size(); ++number) {
            const PointOutcome& outcome = outcomes_[number];
            ++count[outcome.status];
            if (outcome.status != "ok" && outcome.status != "not_run" && ++shown <= kMostShown) {
                err_ << fmt::format("podsim: point {}: {}: {}\n", number, outcome.status, outcome.reason);
            }
        }
        if (shown > kMostShown) {
            err_ << fmt::format("podsim: … {} more; all in results.csv\n", shown - kMostShown);
        }
        for (const auto& [note, points] : without_effect_) {
            err_ << fmt::format("podsim: note: {} (point {}{})\n", note, points.front(),
                                points.size() > 1 ? fmt::format(" and {} more", points.size() - 1) : "");
        }
        if (older_program_) {
            err_ << "podsim: note: some of the points kept were made before this program was built\n";
        }
        if (signal != 0) {
            err_ << "podsim: interrupted; --resume goes on from here\n";
        }
        std::string line = fmt::format("{} points", outcomes_.size());
        const char* between = ": ";
        for (const auto& [status, number] : count) {
            line += fmt::format("{}{} {}", between, number, status);
            between = ", ";
        }
        if (kept_ > 0) {
            line += fmt::format(" ({} kept from before)", kept_);
        }
        out << line << "; " << (request_.out_dir / kTable).string() << '\n';
    }

    static constexpr std::size_t kMostShown = 10;
    static constexpr const char* kPlan = "sweep.json";
    static constexpr const char* kTable = "results.csv";
    static constexpr const char* kPoints = "points";
    const SweepRequest& request_;
    SweepPlan plan_;
    FileSet inputs_;  ///< files that the plan and its points are read from
    std::vector<PointOutcome> outcomes_;
    std::ostream& err_;
    bool shown_;
    bool older_program_ = false;
    std::map<std::string, std::vector<std::size_t>> without_effect_;  ///< settings that change nothing, and where
    std::size_t next_ = 0, done_ = 0, kept_ = 0, ran_ = 0;
    Clock::time_point begun_ = Clock::now();
};

}  // namespace

int run_sweep(const SweepRequest& request, std::ostream& out, std::ostream& err) {
    return Sweep(request, err).run(out);
}

}  // namespace podsim
