// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Runs the points behind published figures of whole kernels and sets both beside each other.
#include "sim/report/kernel_figures.hpp"

#include <array>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>

namespace podsim {

struct KernelRequest {
    const KernelFigures* figures = nullptr;
    nlohmann::json machine;           ///< document "podsim.machine/1"
    std::string machine_name;         ///< what messages call it
    std::string role;                 ///< only figures of this role; "" = all
    bool quick = false;               ///< the first seed only, no variants
    std::size_t samples = 0;          ///< machines drawn for the bands
    std::size_t jobs = 0;             ///< processes at a time; 0 = one a core of the host
    std::filesystem::path folder;     ///< runs are kept there
    std::vector<std::string> inputs;  ///< files that this is made from
    std::function<void(std::size_t done, std::size_t of)> progress;
};

struct KernelRow {
    const KernelFigure* figure = nullptr;
    double simulated_us = 0;                       ///< mean over seeds
    double least_us = 0, most_us = 0;              ///< of the seeds
    std::optional<std::array<double, 3>> band_us;  ///< p10, p50, p90 of the drawn machines
    std::map<std::size_t, double> variants;        ///< by number of the variant; first seed
    std::optional<double> first_seed_us;           ///< what variants compare with
    double error_pct() const { return 100 * (simulated_us / figure->published_us - 1); }
    bool within() const {
        const auto& tolerance = figure->tolerance_us;
        return !tolerance || (simulated_us >= tolerance->first && simulated_us <= tolerance->second);
    }
};

struct KernelTable {
    std::string machine;
    const KernelFigures* figures = nullptr;
    bool comparable = false;  ///< the figures are of this machine
    std::size_t samples = 0, samples_failed = 0;
    std::vector<KernelRow> rows;
    std::optional<double> worst_predicted_pct;  ///< of the judged ones, by size

    bool within_tolerance() const;
};

/// Every run is a process of this program. A run that fails ends it: PodsimError with what it said (drawn machines
/// excepted: they are counted). Throws Interrupted.
KernelTable measure_kernels(const KernelRequest& request);

nlohmann::ordered_json kernels_json(const KernelTable& table);
/// For people.
std::string kernels_text(const KernelTable& table);

}  // namespace podsim
