// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A run, ready to be simulated: everything chosen, checked and converted to inner units.
#include "algorithms/kernel_api/options.hpp"
#include "algorithms/routing/workload.hpp"
#include "models/engine/run_modes.hpp"
#include "models/engine/units.hpp"
#include "models/pod/machine.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace podsim {

class Origins;
class UserError;
struct KernelInfo;
struct RunDocument;

struct AlgorithmConfig {
    std::string name;                    ///< preset
    const KernelInfo* kernel = nullptr;  ///< registered kernel of that name
    Options options;                     ///< every declared option has a value
    std::uint32_t aiv_cores = 0;         ///< of each card
    std::uint32_t count_cores = 0;       ///< 0 = derived by the kernel
};

struct LimitsConfig {
    bool window_auto = true;             ///< hccl_buffsize_mb is "auto"
    std::uint64_t hccl_buffsize_mb = 0;  ///< MB of 2^20 bytes; with window_auto the least that fits
    Picoseconds timeout = 0;             ///< simulated, for each call: the run has this times calls
    double max_wall_s = 0;               ///< host time, 0 = no limit
};

enum class Timeline : std::uint8_t { off, phases };
enum class Stamps : std::uint8_t { off, ideal, cost };

struct ObserveConfig {
    Timeline timeline = Timeline::off;
    Stamps stamps = Stamps::off;
};

struct EngineConfig {
    Wake wake = Wake::calendar;
    Polling polling = Polling::elided;
    PayloadMode payload = PayloadMode::extents;
    Picoseconds quantum = 0;
};

struct RunConfig {
    std::string source;              ///< config file as the user named it
    std::vector<std::string> files;  ///< this one and every other that is read for the run or named in it
    std::uint32_t cards = 0;
    Workload workload;
    RoutingSpec routing;
    AlgorithmConfig algorithm;
    Machine machine;
    LimitsConfig limits;
    bool check_hazards = false;
    ObserveConfig observe;
    EngineConfig engine;
    std::uint32_t calls = 1;
    std::uint64_t seed = 1;
    std::uint64_t window_bytes = 0;                  ///< data window of a card
    std::uint64_t needed_buffsize_mb = 0;            ///< least HCCL_BUFFSIZE, MB of 2^20 bytes
    std::vector<std::string> notes;                  ///< legal, but worth knowing
    std::vector<std::string> without_effect;         ///< those of the notes that tell of a setting that changes nothing
    std::shared_ptr<const nlohmann::json> document;  ///< what effective_json returns
    std::shared_ptr<const Origins> origins;          ///< who wrote which part of it
};

/// Reads, merges (`sets`: "/pointer=value"), validates. Throws UserError or IoError with one message.
RunConfig load_run_config(const std::filesystem::path& path, const std::vector<std::string>& sets = {});

/// From a merged document (sweeps); `source` is the file to name.
RunConfig make_run_config(RunDocument document, const std::string& source);

/// An error that later layers found at a pointer of the config, told as the config's own: with the file or --set that
/// wrote it. Errors that name a file already stay as they are.
UserError located(const RunConfig& config, const UserError& error);

/// The whole config with every default filled in and the machine inlined; loading it gives the same run.
nlohmann::json effective_json(const RunConfig& config);

}  // namespace podsim
