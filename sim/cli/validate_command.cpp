// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/validate_command.hpp"

#include "sim/cli/arguments.hpp"
#include "sim/cli/work_folder.hpp"
#include "sim/config/builtin.hpp"
#include "sim/config/json_text.hpp"
#include "sim/config/machine_loader.hpp"
#include "sim/report/components.hpp"
#include "sim/report/kernel_table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <ostream>

namespace podsim {

namespace {

/// "n of m" on a terminal, gone when done.
class Progress {
public:
    Progress(std::ostream& err, const char* what) : err_(err), what_(what), shown_(isatty(STDERR_FILENO) != 0) {}
    ~Progress() {
        if (shown_) {
            err_ << "\r\033[K" << std::flush;
        }
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    void operator()(std::size_t done, std::size_t of) const {
        if (shown_) {
            err_ << fmt::format("\r\033[K{} of {} {}", done, of, what_) << std::flush;
        }
    }

private:
    std::ostream& err_;
    const char* what_;
    bool shown_;
};

ExitCode validate_components(const Arguments& arguments, std::ostream& out, std::ostream& err) {
    const Components components = load_components(arguments.published);
    const Machine machine = arguments.machine ? load_machine_file(*arguments.machine) : load_builtin_machine();
    ComponentTable table;
    {
        const Progress progress(err, "figures");
        table = measure_components(components, machine,
                                   [&](std::size_t done) { progress(done, components.figures.size()); });
    }
    out << (arguments.json ? components_json(table).dump(2) + "\n" : components_text(table));
    if (table.within_tolerance()) {
        return ExitCode::ok;
    }
    err << fmt::format(
        "podsim: the median error of measured components is {:.1f} %, more than /median_tolerance_pct, {:g} %\n",
        *table.median_measured_error_pct, table.tolerance_pct);
    return ExitCode::out_of_tolerance;
}

ExitCode validate_kernels(const Arguments& arguments, std::ostream& out, std::ostream& err) {
    const KernelFigures figures = load_kernel_figures(arguments.published);
    const WorkFolder work(arguments.out_dir);
    KernelRequest request;
    request.figures = &figures;
    request.machine_name = arguments.machine ? arguments.machine->string() : std::string(name_of(Builtin::machine));
    request.machine = arguments.machine ? read_json_file(*arguments.machine)
                                        : parse_json(builtin_text(Builtin::machine), request.machine_name);
    request.role = arguments.role;
    request.quick = arguments.quick;
    request.samples = arguments.samples;
    request.jobs = arguments.jobs;
    request.folder = work.path();
    for (const auto& file : {arguments.machine, arguments.published}) {
        if (file) {
            request.inputs.push_back(file->string());
        }
    }
    KernelTable table;
    {
        const Progress progress(err, "runs");
        request.progress = [&](std::size_t done, std::size_t of) { progress(done, of); };
        table = measure_kernels(request);
    }
    out << (arguments.json ? kernels_json(table).dump(2) + "\n" : kernels_text(table));
    if (table.within_tolerance()) {
        return ExitCode::ok;
    }
    for (const KernelRow& row : table.rows) {
        if (!row.within()) {
            err << fmt::format("podsim: {}: {:.1f} µs, outside {:.1f} .. {:.1f}\n", row.figure->name, row.simulated_us,
                               row.figure->tolerance_us->first, row.figure->tolerance_us->second);
        }
    }
    return ExitCode::out_of_tolerance;
}

}  // namespace

ExitCode validate_command(const Arguments& arguments, std::ostream& out, std::ostream& err) {
    return arguments.components ? validate_components(arguments, out, err) : validate_kernels(arguments, out, err);
}

}  // namespace podsim
