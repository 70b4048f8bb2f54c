// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Published figures of whole kernels: which run gives each, and how far it may be off ("podsim.kernels/1").
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace podsim {

/// A run config, and the seeds it is run with.
struct KernelPoint {
    std::string name;
    nlohmann::json config;  ///< without machine and seed
    std::vector<std::uint64_t> seeds;
};

struct KernelFigure {
    std::string name, value, role, basis, note;
    bool slowest_card = false;  ///< else the mean over cards
    std::size_t point = 0;
    std::optional<std::size_t> minus;  ///< point whose value is taken off
    double per = 1;
    double published_us = 0;
    std::optional<std::pair<double, double>> tolerance_us;  ///< nothing: not judged
};

/// Something else assumed: the same figures, printed beside.
struct KernelVariant {
    std::string name, note;
    nlohmann::json set;  ///< pointer into the run config -> value
};

struct KernelFigures {
    std::string machine;  ///< the figures are of the machine of that name
    std::vector<KernelPoint> points;
    std::vector<KernelFigure> figures;
    std::vector<KernelVariant> variants;
};

/// The file, or the one embedded in the program. Throws UserError, IoError.
KernelFigures load_kernel_figures(const std::optional<std::filesystem::path>& path);

/// What figures need of a run, in µs.
struct KernelTimes {
    double mean_card = 0, slowest_card = 0;
    double transfer = 0, flags = 0, address = 0, reorder = 0;  ///< mean over cores

    /// `result`: "podsim.result/1" of a run that went well.
    static KernelTimes of(const nlohmann::json& result);
};

/// A figure of one run (and one of its second point). Both runs have the same seed.
double figure_of(const KernelFigure& figure, const KernelTimes& point, const KernelTimes& minus);

}  // namespace podsim
