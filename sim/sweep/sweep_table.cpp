// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/sweep_table.hpp"

#include <fmt/format.h>

#include <csv.h>
#include <array>
#include <fstream>
#include <set>

namespace podsim {

namespace {

using nlohmann::json;

struct Column {
    const char* name;
    const char* pointer;  ///< into the result
};

constexpr const char* kPoint = "point";
constexpr std::array<const char*, 3> kOutcome{"status", "exit_code", "reason"};
constexpr std::array<Column, 34> kFigures{{
    {"total_us", "/total_us"},
    {"service_us", "/service_us"},
    {"skew_us", "/skew_us"},
    {"card_min_us", "/card_us/min"},
    {"card_mean_us", "/card_us/mean"},
    {"card_p50_us", "/card_us/p50"},
    {"card_p99_us", "/card_us/p99"},
    {"card_max_us", "/card_us/max"},
    {"init_us", "/phases_us/init"},
    {"transfer_us", "/phases_us/transfer"},
    {"flags_us", "/phases_us/flags"},
    {"address_us", "/phases_us/address"},
    {"reorder_us", "/phases_us/reorder"},
    {"idle_us", "/phases_us/idle"},
    {"tail_us", "/overlap/tail_us"},
    {"post_us", "/overlap/post_us"},
    {"post_hidden_pct", "/overlap/post_hidden_pct"},
    {"sync_all", "/sync/sync_all"},
    {"sync_all_wait_us", "/sync/sync_all_wait_us"},
    {"polls", "/sync/polls"},
    {"poll_bytes", "/sync/poll_bytes"},
    {"soft_waits", "/sync/soft_waits"},
    {"bound_wire_us", "/bounds_us/wire"},
    {"bound_incast_us", "/bounds_us/incast"},
    {"bound_hbm_us", "/bounds_us/hbm"},
    {"bound_aiv_issue_us", "/bounds_us/aiv_issue"},
    {"bound_latency_us", "/bounds_us/latency"},
    {"algo_gbps", "/algo_gbps"},
    {"wire_gbps", "/wire_gbps"},
    {"window_mb", "/window_mb"},
    {"functional_ok", "/functional/ok"},
    {"rows", "/functional/rows"},
    {"mismatches", "/functional/mismatches"},
    {"hazards", "/hazard_count/places"},
}};
constexpr std::array<Column, 2> kHost{{{"host_events", "/host/events"}, {"host_peak_rss_mb", "/host/peak_rss_mb"}}};

/// Quoted where it must be.
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string out(2 * text.size() + 2, '\0');
    out.resize(csv_write(out.data(), out.size(), text.data(), text.size()));
    return out;
}

std::string cell(const json& value) {
    if (value.is_null()) {
        return "";
    }
    return field(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string at(const json& result, const char* pointer) {
    const json::json_pointer place(pointer);
    return result.is_object() && result.contains(place) ? cell(result[place]) : "";
}

/// Names below `key` that some result has and no column of kFigures shows.
std::set<std::string> further(const std::vector<PointOutcome>& outcomes, const char* key) {
    std::set<std::string> names;
    for (const PointOutcome& outcome : outcomes) {
        if (outcome.result.is_object() && outcome.result.contains(key)) {
            for (const auto& [name, value] : outcome.result[key].items()) {
                names.insert(name);
            }
        }
    }
    for (const Column& column : kFigures) {
        names.erase(std::string_view(column.pointer).starts_with("/phases_us/") ? column.pointer + 11 : "");
    }
    return names;
}

}  // namespace

std::vector<std::string> reserved_columns() {
    std::vector<std::string> out{kPoint};
    out.insert(out.end(), kOutcome.begin(), kOutcome.end());
    for (const Column& column : kFigures) {
        out.emplace_back(column.name);
    }
    return out;
}

bool is_results_csv(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error))) {
        return false;
    }
    std::ifstream file(path, std::ios::binary);
    std::string header;
    std::getline(file, header);
    const std::string begins = fmt::format("{},", kPoint);
    const std::string holds = fmt::format(",{},{},total_us,", kOutcome[0], kOutcome[1]);
    return header.starts_with(begins) && header.find(holds) != std::string::npos;
}

json table_part(const json& result) {
    json part = json::object();
    for (const char* key :
         {"total_us", "service_us", "skew_us", "card_us", "phases_us", "subphases_us", "overlap", "sync", "bounds_us",
          "algo_gbps", "wire_gbps", "window_mb", "functional", "hazard_count", "host"}) {
        if (result.is_object() && result.contains(key)) {
            part[key] = result[key];
        }
    }
    return part;
}

std::string results_csv(const SweepPlan& plan, const std::vector<PointOutcome>& outcomes) {
    const std::set<std::string> groups = further(outcomes, "phases_us");
    const std::set<std::string> parts = further(outcomes, "subphases_us");
    std::string out = kPoint;
    const auto put = [&out](const std::string& text) { out += "," + text; };
    for (const std::string& name : plan.columns()) {
        put(field(name));
    }
    put(kOutcome[0]);
    put(kOutcome[1]);
    for (const Column& column : kFigures) {
        put(column.name);
    }
    for (const auto* names : {&groups, &parts}) {
        for (const std::string& name : *names) {
            put(field(name + "_us"));
        }
    }
    put(kOutcome[2]);
    put("host_wall_s");
    for (const Column& column : kHost) {
        put(column.name);
    }
    out += '\n';
    for (std::size_t point = 0; point < outcomes.size(); ++point) {
        const PointOutcome& outcome = outcomes[point];
        out += std::to_string(point);
        for (const SweepStep* step : plan.at(point)) {
            for (const json& value : step->cells) {
                put(cell(value));
            }
        }
        put(outcome.status);
        put(std::to_string(outcome.exit_code));
        for (const Column& column : kFigures) {
            put(at(outcome.result, column.pointer));
        }
        for (const auto& [key, names] : {std::pair{"phases_us", &groups}, std::pair{"subphases_us", &parts}}) {
            for (const std::string& name : *names) {
                put(at(outcome.result, (json::json_pointer() / key / name).to_string().c_str()));
            }
        }
        put(field(outcome.reason));
        put(fmt::format("{:.3f}", outcome.host_wall_s));
        for (const Column& column : kHost) {
            put(at(outcome.result, column.pointer));
        }
        out += '\n';
    }
    return out;
}

}  // namespace podsim
