// SPDX-License-Identifier: Apache-2.0
#include "sim/report/compare.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace podsim {

namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;

/// To the picosecond, as results are.
double to_ps(double us) { return std::round(us * 1e6) / 1e6; }

json value_at(const json& document, const std::string& pointer) {
    const json::json_pointer at(pointer);
    return document.contains(at) ? document[at] : json();
}

Json row(const std::string& name, const json& a, const json& b, const char* unit) {
    Json out{{"name", name}};
    const bool both = a.is_number() && b.is_number();
    out[std::string("a") + unit] = a;
    out[std::string("b") + unit] = b;
    const bool counts = a.is_number_integer() && b.is_number_integer();
    out[std::string("difference") + unit] = counts ? Json(b.get<std::int64_t>() - a.get<std::int64_t>())
                                            : both ? Json(to_ps(b.get<double>() - a.get<double>()))
                                                   : Json();
    out["change_pct"] = both && a.get<double>() != 0
                            ? Json(std::round(1e3 * 100 * (b.get<double>() / a.get<double>() - 1)) / 1e3)
                            : Json();
    return out;
}

/// Largest difference first; equal ones by name.
void sort_by_difference(Json& rows) {
    const auto size = [](const Json& r) {
        return r["difference_us"].is_number() ? std::abs(r["difference_us"].get<double>()) : -1.0;
    };
    std::stable_sort(rows.begin(), rows.end(), [&](const Json& x, const Json& y) { return size(x) > size(y); });
}

/// Rows for all keys of an object of either result. A phase that a run has not at all took it no time.
Json rows_of(const CompareSide& a, const CompareSide& b, const char* key) {
    std::set<std::string> names;
    for (const CompareSide* side : {&a, &b}) {
        for (const auto& [name, value] : side->result[key].items()) {
            names.insert(name);
        }
    }
    Json rows = Json::array();
    for (const std::string& name : names) {
        rows.push_back(row(name, a.result[key].value(name, json(0.0)), b.result[key].value(name, json(0.0)), "_us"));
    }
    sort_by_difference(rows);
    return rows;
}

Json ends_of(const CompareSide& a, const CompareSide& b) {
    std::set<std::string> names;
    for (const CompareSide* side : {&a, &b}) {
        const json ends = side->result.value("phase_ends_us", json::object());
        for (const auto& [name, value] : ends.items()) {
            names.insert(name);
        }
    }
    Json rows = Json::array();
    for (const std::string& name : names) {
        const auto spread = [&name](const CompareSide& side) {
            return value_at(side.result, (json::json_pointer() / "phase_ends_us" / name / "spread").to_string());
        };
        Json entry = row(name, spread(a), spread(b), "_us");
        for (const auto& [key, side] : {std::pair{"a_last_us", &a}, std::pair{"b_last_us", &b}}) {
            entry[key] = value_at(side->result, (json::json_pointer() / "phase_ends_us" / name / "last").to_string());
        }
        rows.push_back(std::move(entry));
    }
    sort_by_difference(rows);
    return rows;
}

Json load_json(const std::optional<CoreLoads>& loads) {
    if (!loads || loads->work_us.empty()) {
        return nullptr;
    }
    const auto less = [](const auto& x, const auto& y) { return x.second < y.second; };
    const auto [least, most] = std::minmax_element(loads->work_us.begin(), loads->work_us.end(), less);
    double sum = 0;
    for (const auto& [who, work] : loads->work_us) {
        sum += work;
    }
    const double mean = sum / static_cast<double>(loads->work_us.size());
    return {{"min_us", to_ps(least->second)},
            {"mean_us", to_ps(mean)},
            {"max_us", to_ps(most->second)},
            {"max_over_mean", mean > 0 ? Json(std::round(1e6 * most->second / mean) / 1e6) : Json()},
            {"busiest", {{"card", most->first.first}, {"core", most->first.second}}}};
}

Json balance_json(const CompareSide& a, const CompareSide& b) {
    Json out{{"a", load_json(a.loads)}, {"b", load_json(b.loads)}};
    const auto of_a = a.loads ? a.loads->by_core() : std::map<std::uint32_t, double>{};
    const auto of_b = b.loads ? b.loads->by_core() : std::map<std::uint32_t, double>{};
    std::set<std::uint32_t> cores;
    for (const auto* side : {&of_a, &of_b}) {
        for (const auto& [core, work] : *side) {
            cores.insert(core);
        }
    }
    Json& list = out["cores"] = Json::array();
    for (const std::uint32_t core : cores) {
        const auto work = [core](const std::map<std::uint32_t, double>& side) {
            const auto found = side.find(core);
            return found == side.end() ? json() : json(to_ps(found->second));
        };
        Json entry = row("", work(of_a), work(of_b), "_us");
        entry.erase("name");
        entry.erase("change_pct");
        Json with_core{{"core", core}};
        with_core.update(entry);
        list.push_back(std::move(with_core));
    }
    return out;
}

Json about(const CompareSide& side) {
    const json& r = side.result;
    return {{"source", side.source},
            {"algorithm", r.value("algorithm", "")},
            {"cards", r.value("cards", 0)},
            {"batch_size", r.value("batch_size", 0)},
            {"seed", r.value("seed", std::uint64_t{0})},
            {"version", r.value("version", "")},
            {"model_version", r.value("model_version", 0)}};
}

}  // namespace

Json compare_json(const CompareSide& a, const CompareSide& b) {
    Json out;
    out["schema"] = kCompareSchema;
    out["a"] = about(a);
    out["b"] = about(b);
    out["same_workload"] = config_differences(a, b, true).empty();
    Json& differences = out["config_differences"] = Json::array();
    for (const bool workload : {true, false}) {
        for (const std::string& pointer : config_differences(a, b, workload)) {
            differences.push_back({{"pointer", pointer},
                                   {"a", value_at(a.result["config"], pointer)},
                                   {"b", value_at(b.result["config"], pointer)}});
        }
    }
    out["speedup"] = std::round(1e6 * a.result["total_us"].get<double>() / b.result["total_us"].get<double>()) / 1e6;
    Json& totals = out["totals"] = Json::array();
    for (const auto& [name, pointer] :
         {std::pair{"total", "/total_us"}, std::pair{"service", "/service_us"}, std::pair{"skew", "/skew_us"},
          std::pair{"card_min", "/card_us/min"}, std::pair{"card_mean", "/card_us/mean"},
          std::pair{"card_p99", "/card_us/p99"}, std::pair{"card_max", "/card_us/max"}}) {
        totals.push_back(row(name, value_at(a.result, pointer), value_at(b.result, pointer), "_us"));
    }
    out["phases"] = rows_of(a, b, "phases_us");
    out["subphases"] = rows_of(a, b, "subphases_us");
    out["end_spread"] = ends_of(a, b);
    Json& overlap = out["overlap"] = Json::array();
    for (const auto& [name, pointer, unit] :
         {std::tuple{"tail", "/overlap/tail_us", "_us"}, std::tuple{"post", "/overlap/post_us", "_us"},
          std::tuple{"post_hidden", "/overlap/post_hidden_pct", "_pct"}}) {
        overlap.push_back(row(name, value_at(a.result, pointer), value_at(b.result, pointer), unit));
    }
    Json& sync = out["sync"] = Json::array();
    for (const auto& [name, pointer, unit] :
         {std::tuple{"sync_all", "/sync/sync_all", ""}, std::tuple{"sync_all_wait", "/sync/sync_all_wait_us", "_us"},
          std::tuple{"polls", "/sync/polls", ""}, std::tuple{"poll", "/sync/poll_bytes", "_bytes"},
          std::tuple{"soft_waits", "/sync/soft_waits", ""}}) {
        sync.push_back(row(name, value_at(a.result, pointer), value_at(b.result, pointer), unit));
    }
    out["load_balance"] = balance_json(a, b);
    return out;
}

}  // namespace podsim
