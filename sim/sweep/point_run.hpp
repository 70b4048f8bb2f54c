// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A folder in which a process of this program runs one config: config.json in, the files of `podsim run --out`
/// and messages.txt out. Complete once it has its final name.
#include "models/engine/error.hpp"
#include "sim/sweep/process_pool.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace podsim {

class FileSet;

/// What became of a run. Deterministic but for `host_wall_s`.
struct PointOutcome {
    std::string status;      ///< of the result; else refused, io_error, bug, crashed or not_run
    int exit_code = 0;       ///< as `podsim run` has it; 128 + signal
    std::string reason;      ///< one line, "" when ok
    nlohmann::json result;   ///< null without one
    double host_wall_s = 0;  ///< of the process
};

class PointRun {
public:
    /// `inputs`: files that are read for it or beside it, which it must not replace. They must outlive it.
    PointRun(std::filesystem::path folder, const FileSet& inputs) : folder_(std::move(folder)), inputs_(&inputs) {}

    /// An empty working folder with this config; `effective` is a validated one, whole. Throws IoError.
    void prepare(const nlohmann::json& effective) const;
    ProcessCommand command(std::size_t id) const;
    /// Reads what the process left, and gives the folder its final name. Throws IoError.
    PointOutcome collect(const ProcessEnd& end) const;
    /// A point that needs no process.
    PointOutcome refused(const PodsimError& problem) const;
    /// The outcome of an earlier, complete run of this very config by this version and these models, if there is one.
    std::optional<PointOutcome> earlier(const nlohmann::json& effective) const;
    /// Removes what an earlier run left. Throws as refuse_foreign() does, IoError.
    void remove() const;
    /// Refuses a folder in this one's place that is no run's, or holds anything else: it is somebody's. Throws
    /// UserError.
    void refuse_foreign() const;

    const std::filesystem::path& folder() const { return folder_; }

private:
    std::filesystem::path working() const { return folder_.string() + ".tmp"; }

    std::filesystem::path folder_;
    const FileSet* inputs_;
};

/// Refuses a document that is no result (configs/schema/result.schema.json); `file` is named. Throws UserError.
void check_result(const nlohmann::json& result, const std::string& file);

/// What a result document, one that check_result() takes, says became of its run.
PointOutcome outcome_of_result(nlohmann::json result);

/// Exit code of a result's status.
int exit_code_of_status(const std::string& status);

}  // namespace podsim
