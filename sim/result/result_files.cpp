// SPDX-License-Identifier: Apache-2.0
#include "sim/result/result_files.hpp"

#include "sim/config/json_text.hpp"
#include "sim/result/file_set.hpp"
#include "sim/result/metrics.hpp"
#include "sim/result/observe_json.hpp"
#include "sim/result/result_json.hpp"
#include "sim/result/write_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace podsim {

namespace {

std::string cores_csv(const Simulation& s, std::uint32_t calls) {
    const auto& names = s.phases().names().all();
    // Columns by name, not by order of appearance, which depends on the kernel's path.
    std::map<std::string, std::size_t> columns;
    for (std::size_t p = 0; p < names.size(); ++p) {
        columns[names[p]] = p;
    }
    std::string out = "call,card,core,role,start_us,end_us";
    for (const auto& [name, p] : columns) {
        out += fmt::format(",{}_us", name);
    }
    out += '\n';
    for (std::uint32_t call = 0; call < calls; ++call) {
        for (std::uint32_t card = 0; card < s.config().cards; ++card) {
            for (std::uint32_t core = 0; core < s.config().algorithm.aiv_cores; ++core) {
                const CoreCall& record = s.phases().core_call(call, {CardId{card}, CoreId{core}});
                out += fmt::format("{},{},{},all,{:.6f},{:.6f}", call, card, core, to_us(record.started),
                                   to_us(record.ended));
                for (const auto& [name, p] : columns) {
                    out += fmt::format(",{:.6f}", p < record.phases.size() ? to_us(record.phases[p]) : 0.0);
                }
                out += '\n';
            }
        }
    }
    return out;
}

std::string cards_csv(const Simulation& s, std::uint32_t calls) {
    std::string out = "call,card,start_us,end_us,duration_us,rows_received,rows_sent\n";
    for (std::uint32_t call = 0; call < calls; ++call) {
        const ReferenceDispatch& reference = s.job().reference(call);
        std::vector<std::uint64_t> sent(s.config().cards, 0);
        for (std::uint32_t card = 0; card < s.config().cards; ++card) {
            for (const RowOrigin& row : reference.output(card)) {
                ++sent[row.source];
            }
        }
        for (std::uint32_t card = 0; card < s.config().cards; ++card) {
            const CardCall& times = s.job().card_call(call, card);
            out +=
                fmt::format("{},{},{:.6f},{:.6f},{:.6f},{},{}\n", call, card, to_us(times.started), to_us(times.ended),
                            to_us(times.ended - times.started), reference.row_count(card), sent[card]);
        }
    }
    return out;
}

std::string planes_csv(const Simulation& s) {
    std::string out =
        "card,plane,out_blocks,out_bytes,out_wire_bytes,out_busy_us,in_blocks,in_bytes,in_wire_bytes,in_busy_us\n";
    const Network& network = s.pod().fabric().network();
    const std::uint32_t planes = s.config().machine.fabric.topology.planes.peek();
    for (std::uint32_t card = 0; card < s.config().cards; ++card) {
        for (std::uint32_t plane = 0; plane < planes; ++plane) {
            const PortStatistics p = network.port_statistics(CardId{card}, PlaneId{plane});
            out += fmt::format("{},{},{},{},{},{:.6f},{},{},{},{:.6f}\n", card, plane, p.out.blocks,
                               p.out.payload_bytes, p.out.wire_bytes, to_us(p.out.busy), p.in.blocks,
                               p.in.payload_bytes, p.in.wire_bytes, to_us(p.in.busy));
        }
    }
    return out;
}

/// Of a result as it is written here, be it whole or cut off.
const std::string kResultBegins = fmt::format("{{\n  \"schema\": \"{}\"", kResultSchema);

std::string config_text(const RunConfig& config) { return effective_json(config).dump(2) + "\n"; }

/// As a sweep puts it into a point's folder before it runs it (sim/sweep): it stays as it is.
bool is_own_config(const std::filesystem::path& path, const RunConfig& config) {
    try {
        return path.filename() == "config.json" && read_text_file(path) == config_text(config);
    } catch (const PodsimError&) {
        return false;
    }
}

}  // namespace

std::vector<std::string> result_files_of(const nlohmann::json& effective) {
    std::vector<std::string> out;
    for (const auto& [name, option] : kResultFiles) {
        if (option == nullptr || effective.at(nlohmann::json::json_pointer(option)) != "off") {
            out.emplace_back(name);
        }
    }
    return out;
}

UserError foreign_file(const std::filesystem::path& where, std::string_view by, std::string found) {
    return UserError({where.string(), "", fmt::format("nothing, or what {} has written", by), std::move(found),
                      "it would have been replaced; choose another --out"});
}

bool is_run_folder(const std::filesystem::path& dir) {
    namespace fs = std::filesystem;
    std::error_code error;
    const auto has = [&](const char* name) { return fs::is_regular_file(fs::symlink_status(dir / name, error)); };
    if (has(kUnfinished)) {
        return true;
    }
    if (!has("result.json")) {
        return false;
    }
    try {
        const std::string text = read_text_file(dir / "result.json");
        return text.starts_with(kResultBegins) || has_schema(parse_json(text, ""), kResultSchema);
    } catch (const PodsimError&) {
        return false;
    }
}

void refuse_foreign_files(const RunConfig& config, const std::filesystem::path& dir) {
    namespace fs = std::filesystem;
    std::error_code error;
    const bool earlier = is_run_folder(dir);
    const FileSet inputs(config.files);
    std::vector<std::string_view> names{kUnfinished};
    for (const auto& [name, option] : kResultFiles) {
        names.emplace_back(name);
    }
    for (const std::string_view name : names) {
        const fs::path path = dir / name;
        const fs::file_status status = fs::symlink_status(path, error);
        if (!fs::exists(status)) {
            continue;
        }
        const bool regular = fs::is_regular_file(status);
        const bool read = inputs.has(path);
        if (regular && ((earlier && !read) || is_own_config(path, config))) {
            continue;
        }
        const char* found = !regular                       ? "something that is no file of its own"
                            : read                         ? "a file that this run reads"
                            : name == kResultFiles[0].name ? "no result of a run, or one that was cut off"
                                                           : "a file with no result of a run beside it";
        throw foreign_file(path, "podsim run --out", found);
    }
}

void write_result_files(const Simulation& simulation, const nlohmann::ordered_json& result,
                        const std::filesystem::path& dir) {
    const std::uint32_t calls = complete_calls(simulation);
    write_text(dir / kUnfinished, "");
    // The config that is run where it lies: it may be the only copy, and this may be cut off.
    const bool has_config = is_own_config(dir / "config.json", simulation.config());
    for (const auto& [name, option] : kResultFiles) {
        std::error_code error;
        if (!(has_config && name == std::string_view("config.json"))) {
            std::filesystem::remove(dir / name, error);
        }
    }
    write_text(dir / "result.json", result.dump(2) + "\n");
    if (!has_config) {
        write_text(dir / "config.json", config_text(simulation.config()));
    }
    write_text(dir / "cores.csv", cores_csv(simulation, calls));
    write_text(dir / "cards.csv", cards_csv(simulation, calls));
    write_text(dir / "planes.csv", planes_csv(simulation));
    write_observe_files(simulation, result, dir);
    std::filesystem::remove(dir / kUnfinished);
}

}  // namespace podsim
