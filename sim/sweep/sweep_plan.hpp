// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A sweep file, read and checked: a base config and the points that differ from it.
#include "sim/config/run_document.hpp"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace podsim {

/// One value that a point gives to a place of the config.
struct SweepSet {
    std::string pointer;  ///< into the run config
    nlohmann::json value;
    std::string place;  ///< where the value stands in the sweep file, JSON pointer
};

/// What one step along an axis does: cells of the table, and sets.
struct SweepStep {
    std::vector<nlohmann::json> cells;
    std::vector<SweepSet> sets;
};

struct SweepAxis {
    std::vector<std::string> columns;
    std::vector<SweepStep> steps;
};

struct SweepPlan {
    std::filesystem::path file;  ///< the sweep file, as the user named it
    std::string text;            ///< what it holds
    std::filesystem::path base_file;
    RunDocument base;             ///< not validated: axes may complete it
    std::vector<SweepAxis> axes;  ///< the last one is the fastest; seeds are the last axis

    std::size_t points() const;
    std::vector<std::string> columns() const;
    /// The step of each axis at a point.
    std::vector<const SweepStep*> at(std::size_t point) const;
    /// The merged config of a point, not validated. Throws UserError, IoError.
    RunDocument document(std::size_t point) const;
    /// Every file that the plan or one of its points is read from or names.
    std::vector<std::string> files() const;

private:
    void apply(const SweepSet& set, RunDocument& document) const;
};

inline constexpr const char* kSweepSchema = "podsim.sweep/1";

/// Largest number of points of a sweep.
inline constexpr std::size_t kMostPoints = 100'000;

/// `reserved`: columns of the result table that no axis may be called. Throws UserError, IoError.
SweepPlan load_sweep_plan(const std::filesystem::path& path, const std::vector<std::string>& reserved);

}  // namespace podsim
