// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/validate_command.hpp"

#include "sim/cli/arguments.hpp"
#include "sim/config/machine_loader.hpp"
#include "sim/report/components.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <ostream>

namespace podsim {

ExitCode validate_command(const Arguments& arguments, std::ostream& out, std::ostream& err) {
    const Components components = load_components(arguments.published);
    const Machine machine = arguments.machine ? load_machine_file(*arguments.machine) : load_builtin_machine();
    const bool terminal = isatty(STDERR_FILENO) != 0;
    const ComponentTable table = measure_components(components, machine, [&](std::size_t done) {
        if (terminal) {
            err << fmt::format("\r\033[K{} of {} figures", done, components.figures.size()) << std::flush;
        }
    });
    if (terminal) {
        err << "\r\033[K" << std::flush;
    }
    if (arguments.json) {
        out << components_json(table).dump(2) << '\n';
    } else {
        out << components_text(table);
    }
    if (table.within_tolerance()) {
        return ExitCode::ok;
    }
    err << fmt::format(
        "podsim: the median error of measured components is {:.1f} %, more than /median_tolerance_pct, {:g} %\n",
        *table.median_measured_error_pct, table.tolerance_pct);
    return ExitCode::out_of_tolerance;
}

}  // namespace podsim
