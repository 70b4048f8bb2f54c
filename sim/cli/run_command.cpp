// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_command.hpp"

#include "sim/cli/footprint_check.hpp"
#include "sim/result/result_files.hpp"
#include "sim/result/result_json.hpp"
#include "sim/result/summary.hpp"
#include "sim/run/simulation.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <ostream>

namespace podsim {

namespace {

/// One line on a terminal, rewritten in place, for runs that take more than a moment.
class ProgressLine {
public:
    explicit ProgressLine(std::ostream& err) : err_(err), shown_(isatty(STDERR_FILENO) != 0) {}
    ~ProgressLine() {
        if (drawn_) {
            err_ << "\r\033[K" << std::flush;
        }
    }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void operator()(const Progress& p) {
        if (!shown_ || p.wall_s < next_) {
            return;
        }
        next_ = p.wall_s + 0.25;
        drawn_ = p.wall_s > kPatience;
        if (!drawn_) {
            return;
        }
        const double part =
            p.blocks_expected == 0 ? 0 : static_cast<double>(p.blocks_landed) / static_cast<double>(p.blocks_expected);
        err_ << fmt::format("\r\033[Ksimulated {:.1f} us, {} of {} blocks landed", to_us(p.simulated), p.blocks_landed,
                            p.blocks_expected);
        if (part > 0.02 && part < 1) {
            err_ << fmt::format(", about {:.0f} s to go", p.wall_s * (1 - part) / part);
        }
        err_ << std::flush;
    }

private:
    static constexpr double kPatience = 1.0;
    std::ostream& err_;
    bool shown_;
    bool drawn_ = false;
    double next_ = 0;
};

/// What would be recorded for a file that has no place to go.
void refuse_without_out(const RunRequest& request) {
    if (request.out_dir) {
        return;
    }
    const ObserveConfig& observe = request.config.observe;
    if (observe.timeline != Timeline::off) {
        throw UserError(
            {"", "/observe/timeline", "\"off\" without --out DIR", "\"phases\"", "trace.json is written to --out"});
    }
    if (observe.stamps == Stamps::ideal) {
        throw UserError({"", "/observe/stamps", "\"off\" or \"cost\" without --out DIR", "\"ideal\"",
                         "stamps.txt is written to --out"});
    }
}

}  // namespace

ExitCode run_command(const RunRequest& request, std::ostream& out, std::ostream& err) {
    refuse_without_out(request);
    if (request.out_dir) {
        refuse_foreign_files(request.config, *request.out_dir);
    }
    auto owned = std::make_unique<Simulation>(request.config);
    // Destroying 10^5 modules takes seconds and frees nothing that anyone needs: the program ends next.
    Simulation& simulation = *owned.release();
    check_footprint(request.config, simulation.job().routing(0));
    {
        ProgressLine line(err);
        simulation.run([&line](const Progress& p) { line(p); });
    }
    const nlohmann::ordered_json result = result_json(simulation);
    if (request.json) {
        out << result.dump(2) << '\n';
    } else {
        out << summary_of(simulation, result);
    }
    if (request.out_dir) {
        const TimelineRecorder* timeline = simulation.timeline();
        if (timeline != nullptr && timeline->estimated_bytes() > TimelineRecorder::kLargeBytes) {
            err << fmt::format("podsim: note: trace.json will take about {} MB; viewers are slow from 250 MB on\n",
                               timeline->estimated_bytes() / 1'000'000);
        }
        write_result_files(simulation, result, *request.out_dir);
    }
    if (request.json) {  // without it they are among the notes of the summary
        for (const std::string& note : request.config.without_effect) {
            err << "podsim: note: " << note << '\n';
        }
    }
    if (simulation.status() != RunStatus::ok && request.json) {
        for (const std::string& line : simulation.diagnosis()) {
            err << "podsim: " << line << '\n';
        }
    }
    return exit_code_of(simulation.status());
}

}  // namespace podsim
