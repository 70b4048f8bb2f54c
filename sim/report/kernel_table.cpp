// SPDX-License-Identifier: Apache-2.0
#include "sim/report/kernel_table.hpp"

#include "sim/config/run_config.hpp"
#include "sim/config/run_document.hpp"
#include "sim/report/machine_draw.hpp"
#include "sim/result/file_set.hpp"
#include "sim/sweep/point_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

namespace podsim {

namespace {

using nlohmann::json;

/// One run: a point with a seed, under a variant, on a drawn machine, or as it is.
struct Job {
    std::size_t point = 0;
    std::uint64_t seed = 0;
    std::optional<std::size_t> variant, sample;
    auto key() const { return std::tie(variant, sample, point, seed); }
    bool operator<(const Job& other) const { return key() < other.key(); }
};

class Runs {
public:
    explicit Runs(const KernelRequest& request) : request_(request), inputs_(request.inputs) {}

    void want(const Job& job) {
        if (wanted_.insert(job).second) {
            jobs_.push_back(job);
        }
    }

    void run() {
        // The longest first, so that no core of the host idles at the end.
        std::stable_sort(jobs_.begin(), jobs_.end(),
                         [this](const Job& a, const Job& b) { return size(a.point) > size(b.point); });
        std::size_t next = 0;
        std::size_t done = 0;
        ProcessPool pool;
        pool.jobs = request_.jobs != 0 ? request_.jobs : std::max(1U, std::thread::hardware_concurrency());
        pool.next = [&]() -> std::optional<ProcessCommand> {
            while (next < jobs_.size()) {
                const std::size_t number = next++;
                if (prepare(number)) {
                    return folder(number).command(number);
                }
                ++done;
            }
            return std::nullopt;
        };
        pool.ended = [&](const ProcessEnd& end) {
            keep(end);
            if (request_.progress) {
                request_.progress(++done, jobs_.size());
            }
        };
        if (const int signal = pool.run()) {
            throw Interrupted(signal);
        }
    }

    /// Nothing where a drawn machine could not be run.
    std::optional<KernelTimes> times(const Job& job) const {
        const auto found = times_.find(job);
        return found == times_.end() ? std::nullopt : std::optional(found->second);
    }

private:
    double size(std::size_t point) const {
        const json& config = request_.figures->points[point].config;
        return config.value("/cards"_json_pointer, 1.0) * config.value("/workload/batch_size"_json_pointer, 1.0);
    }

    PointRun folder(std::size_t number) const {
        return PointRun(request_.folder / fmt::format("{:04}", number), inputs_);
    }

    bool prepare(std::size_t number) {
        const Job& job = jobs_[number];
        const KernelPoint& point = request_.figures->points[job.point];
        RunDocument document;
        document.root = point.config;
        document.origins.record("", fmt::format("{} (point \"{}\")", "published figures", point.name), "");
        const SetBy here{request_.machine_name, "", ""};
        apply_value(document, "/seed", job.seed, here);
        apply_value(document, "/machine",
                    job.sample ? drawn_machine(request_.machine, *job.sample + 1) : request_.machine, here);
        document.origins.record("/machine", request_.machine_name, "");
        if (job.variant) {
            const KernelVariant& variant = request_.figures->variants[*job.variant];
            for (const auto& [pointer, value] : variant.set.items()) {
                apply_value(document, pointer, value, {fmt::format("variant \"{}\"", variant.name), "", ""});
            }
        }
        json effective;
        try {
            effective = effective_json(make_run_config(std::move(document), request_.machine_name));
        } catch (const UserError&) {
            if (!job.sample) {
                throw;
            }
            return false;  // values that do not go together
        }
        folder(number).prepare(effective);
        return true;
    }

    void keep(const ProcessEnd& end) {
        const Job& job = jobs_[end.id];
        const PointRun run = folder(end.id);
        const PointOutcome outcome = run.collect(end);
        if (outcome.status == "ok") {
            times_[job] = KernelTimes::of(outcome.result);
        } else if (!job.sample || outcome.status != "refused") {  // a drawn machine may be none
            throw PodsimError(outcome.exit_code > static_cast<int>(ExitCode::bug)
                                  ? ExitCode::bug
                                  : static_cast<ExitCode>(outcome.exit_code),
                              fmt::format("{}: the run ended as {}{}{}", request_.figures->points[job.point].name,
                                          outcome.status, outcome.reason.empty() ? "" : ": ", outcome.reason));
        }
    }

    const KernelRequest& request_;
    const FileSet inputs_;
    std::vector<Job> jobs_;
    std::set<Job> wanted_;
    std::map<Job, KernelTimes> times_;
};

/// Value at a share of the sorted sample, between its neighbours.
double quantile(const std::vector<double>& sorted, double share) {
    const double at = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

class Measurement {
public:
    explicit Measurement(const KernelRequest& request) : request_(request), runs_(request) {}

    KernelTable table() {
        const KernelFigures& all = *request_.figures;
        for (const KernelFigure& figure : all.figures) {
            if (request_.role.empty() || figure.role == request_.role) {
                chosen_.push_back(&figure);
                ask(figure);
            }
        }
        if (chosen_.empty()) {
            throw UserError({"--role", "", "the role of a figure in the file", request_.role, ""});
        }
        runs_.run();
        KernelTable out;
        out.machine = request_.machine.value("name", "");
        out.figures = &all;
        out.comparable = out.machine == all.machine;
        out.samples = request_.samples;
        for (const KernelFigure* figure : chosen_) {
            out.rows.push_back(row(*figure));
            out.samples_failed = std::max(out.samples_failed, failed_);
            if (out.comparable && figure->role == "predicted" && figure->tolerance_us) {
                const double error = out.rows.back().error_pct();
                if (!out.worst_predicted_pct || std::abs(error) > std::abs(*out.worst_predicted_pct)) {
                    out.worst_predicted_pct = error;
                }
            }
        }
        return out;
    }

private:
    std::vector<std::uint64_t> seeds(const KernelFigure& figure) const {
        const auto& all = request_.figures->points[figure.point].seeds;
        return request_.quick ? std::vector<std::uint64_t>{all.front()} : all;
    }

    void ask(const KernelFigure& figure) {
        const auto both = [&](Job job) {
            job.point = figure.point;
            runs_.want(job);
            if (figure.minus) {
                job.point = *figure.minus;
                runs_.want(job);
            }
        };
        for (const std::uint64_t seed : seeds(figure)) {
            both({0, seed, std::nullopt, std::nullopt});
        }
        const std::uint64_t first = seeds(figure).front();
        for (std::size_t v = 0; !request_.quick && v < request_.figures->variants.size(); ++v) {
            both({0, first, v, std::nullopt});
        }
        for (std::size_t s = 0; s < request_.samples; ++s) {
            both({0, first, std::nullopt, s});
        }
    }

    std::optional<double> value(const KernelFigure& figure, Job job) const {
        job.point = figure.point;
        const auto at = runs_.times(job);
        job.point = figure.minus.value_or(figure.point);
        const auto minus = runs_.times(job);
        return at && minus ? std::optional(figure_of(figure, *at, *minus)) : std::nullopt;
    }

    KernelRow row(const KernelFigure& figure) {
        KernelRow out;
        out.figure = &figure;
        std::vector<double> values;
        for (const std::uint64_t seed : seeds(figure)) {
            values.push_back(*value(figure, {0, seed, std::nullopt, std::nullopt}));
            out.simulated_us += values.back();
        }
        out.simulated_us /= static_cast<double>(values.size());
        out.first_seed_us = values.front();
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        out.least_us = *least;
        out.most_us = *most;
        const std::uint64_t first = seeds(figure).front();
        for (std::size_t v = 0; !request_.quick && v < request_.figures->variants.size(); ++v) {
            out.variants[v] = *value(figure, {0, first, v, std::nullopt});
        }
        band(figure, out);
        return out;
    }

    void band(const KernelFigure& figure, KernelRow& out) {
        std::vector<double> values;
        for (std::size_t s = 0; s < request_.samples; ++s) {
            if (const auto one = value(figure, {0, seeds(figure).front(), std::nullopt, s})) {
                values.push_back(*one);
            }
        }
        failed_ = request_.samples - values.size();
        if (values.size() >= 2) {
            std::sort(values.begin(), values.end());
            out.band_us = {quantile(values, 0.1), quantile(values, 0.5), quantile(values, 0.9)};
        }
    }

    const KernelRequest& request_;
    const FileSet inputs_;
    Runs runs_;
    std::vector<const KernelFigure*> chosen_;
    std::size_t failed_ = 0;
};

}  // namespace

bool KernelTable::within_tolerance() const {
    return !comparable || std::all_of(rows.begin(), rows.end(), [](const KernelRow& row) { return row.within(); });
}

KernelTable measure_kernels(const KernelRequest& request) { return Measurement(request).table(); }

}  // namespace podsim
