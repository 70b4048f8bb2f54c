// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Published figures of single pieces of hardware beside what microbenchmarks measure on the simulated ones:
/// document "podsim.validate/1" and its table.
#include "algorithms/microbench/microbench.hpp"
#include "models/pod/machine.hpp"

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace podsim {

struct ComponentFigure {
    std::string group, name, unit, basis, source, reason, note;
    std::optional<double> published;
    std::optional<std::pair<double, double>> range;
    const Microbench* bench = nullptr;  ///< nullptr: not measured here, for `reason`
    BenchArguments arguments;
    std::uint32_t clock_mhz = 0;  ///< of the device it was measured on; 0 = the machine's own
};

struct Components {
    std::string machine;  ///< the figures are of the machine of that name
    double median_tolerance_pct = 0;
    std::vector<ComponentFigure> figures;
};

/// The file, or the one embedded in the program. Throws UserError, IoError.
Components load_components(const std::optional<std::filesystem::path>& path);

struct ComponentRow {
    const ComponentFigure* figure = nullptr;
    std::optional<double> simulated;  ///< nothing where the machine is too small, or without a microbenchmark
    std::optional<double> error_pct;  ///< nothing where there is nothing to compare
};

struct ComponentTable {
    std::string machine;
    double tolerance_pct = 0;
    std::vector<ComponentRow> rows;
    /// Of the rows whose basis is "measured"; nothing where none has an error.
    std::optional<double> median_measured_error_pct;

    bool within_tolerance() const { return !median_measured_error_pct || *median_measured_error_pct <= tolerance_pct; }
};

/// Runs every microbenchmark. `components` outlives the table. On a machine the figures are not of, nothing is
/// compared. `progress` is told of every row that is done. Throws PodsimError.
ComponentTable measure_components(const Components& components, const Machine& machine,
                                  const std::function<void(std::size_t done)>& progress = {});

nlohmann::ordered_json components_json(const ComponentTable& table);
/// For people.
std::string components_text(const ComponentTable& table);

}  // namespace podsim
