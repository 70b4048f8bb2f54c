// SPDX-License-Identifier: Apache-2.0
#include "sim/result/result_json.hpp"

#include "sim/result/model_version.hpp"

#include "sim/config/machine_loader.hpp"
#include "sim/result/metrics.hpp"
#include "sim/result/observe_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace podsim {

namespace {

using Json = nlohmann::ordered_json;

/// Figures are printed to the picosecond, so that the same run gives the same text everywhere.
double to_ps(double us) { return std::round(us * 1e6) / 1e6; }

Json rounded(const std::map<std::string, double>& values) {
    Json out = Json::object();
    for (const auto& [name, value] : values) {
        out[name] = to_ps(value);
    }
    return out;
}

Json phases_in_order(const std::map<std::string, double>& values, bool with_idle) {
    Json out = Json::object();
    for (const char* group : kPhaseGroups) {
        out[group] = to_ps(values.at(group));
    }
    for (const auto& [name, value] : values) {
        if (!out.contains(name) && name != "idle") {
            out[name] = to_ps(value);
        }
    }
    if (with_idle) {
        out["idle"] = to_ps(values.at("idle"));
    }
    return out;
}

void put_metrics(Json& out, const Metrics& m) {
    out["total_us"] = to_ps(m.total_us);
    out["card_us"] = {{"min", to_ps(m.card_us.min)},
                      {"mean", to_ps(m.card_us.mean)},
                      {"p50", to_ps(m.card_us.p50)},
                      {"p99", to_ps(m.card_us.p99)},
                      {"max", to_ps(m.card_us.max)}};
    out["skew_us"] = to_ps(m.skew_us);
    out["service_us"] = to_ps(m.service_us);
    out["slowest_core"] = {{"card", index(m.slowest.card)}, {"core", index(m.slowest.core)}};
    out["phases_us"] = phases_in_order(m.phases_us, true);
    out["phases_max_us"] = phases_in_order(m.phases_max_us, false);
    out["subphases_us"] = rounded(m.subphases_us);
    Json& ends = out["phase_ends_us"] = Json::object();
    for (const auto& [name, at] : m.phase_ends_us) {
        ends[name] = {{"first", to_ps(at.first)},
                      {"mean", to_ps(at.mean)},
                      {"last", to_ps(at.last)},
                      {"spread", to_ps(at.spread())}};
    }
    out["overlap"] = {
        {"tail_us", to_ps(m.tail_us)}, {"post_us", to_ps(m.post_us)}, {"post_hidden_pct", to_ps(m.post_hidden_pct)}};
}

Json sync_json(const Simulation& s) {
    std::uint64_t sync_all = 0, polls = 0, poll_bytes = 0, loops = 0;
    Picoseconds waited = 0;
    std::uint64_t cores = 0;
    for (std::uint32_t card = 0; card < s.config().cards; ++card) {
        const Card& at = s.pod().card(CardId{card});
        for (std::uint32_t c = 0; c < at.cores(); ++c, ++cores) {
            const AivCore& core = at.core(CoreId{c});
            sync_all = std::max(sync_all, core.scalar().statistics().sync_alls);
            waited += core.scalar().statistics().sync_all_wait;
            polls += core.poller().statistics().polls;
            poll_bytes += core.poller().statistics().bytes;
            loops += core.poller().statistics().loops;
        }
    }
    const bool complete = s.job().finished();
    return {{"sync_all", sync_all},
            {"sync_all_wait_us", complete ? Json(to_ps(to_us(waited) / static_cast<double>(cores))) : Json(nullptr)},
            {"polls", polls},
            {"poll_bytes", poll_bytes},
            {"soft_waits", loops}};
}

Json mismatch_json(const Mismatch& m) {
    Json out = {{"call", m.call}, {"card", m.card},         {"what", m.what},  {"row", m.row},
                {"byte", m.byte}, {"expected", m.expected}, {"found", m.found}};
    if (m.expert >= 0) {
        out["expert"] = m.expert;
        out["source_card"] = m.source;
        out["landed_us"] = m.landed_us >= 0 ? Json(m.landed_us) : Json(nullptr);
        out["read_us"] = m.read_us >= 0 ? Json(m.read_us) : Json(nullptr);
    }
    return out;
}

Json functional_json(const Simulation& s) {
    const OutputCheck& check = s.job().check();
    Json out = {{"ok", s.status() == RunStatus::ok}, {"rows", check.rows()}, {"mismatches", check.mismatches()}};
    if (const std::uint64_t early = s.job().flags().early()) {
        out["early_flags"] = early;
    }
    if (!check.examples().empty()) {
        Json& examples = out["examples"] = Json::array();
        for (const Mismatch& m : check.examples()) {
            examples.push_back(mismatch_json(m));
        }
    }
    return out;
}

Json fabric_json(const Simulation& s) {
    const FabricTotals totals = s.pod().fabric().network().totals();
    return {{"blocks", totals.blocks},
            {"bytes", totals.bytes},
            {"wire_bytes", totals.wire_bytes},
            {"sio_bytes", totals.sio_bytes},
            {"plane_bytes", totals.plane_bytes}};
}

Json memory_json(const Simulation& s) {
    MemoryStatistics sum;
    for (std::uint32_t card = 0; card < s.config().cards; ++card) {
        const MemoryStatistics& m = s.pod().card(CardId{card}).memory.statistics();
        sum.read_bytes += m.read_bytes;
        sum.store_bytes += m.store_bytes;
        sum.remote_bytes += m.remote_bytes;
        sum.hbm_bytes += m.hbm_bytes;
        sum.same_line_waits += m.same_line_waits;
    }
    return {{"core_read_bytes", sum.read_bytes},
            {"core_store_bytes", sum.store_bytes},
            {"remote_store_bytes", sum.remote_bytes},
            {"hbm_read_bytes", sum.hbm_bytes},
            {"same_line_waits", sum.same_line_waits}};
}

}  // namespace

Json result_json(const Simulation& s) {
    const RunConfig& config = s.config();
    Json out;
    out["schema"] = kResultSchema;
    out["status"] = name_of(s.status());
    if (s.status() != RunStatus::ok) {
        out["failure"] = s.failure();
    }
    out["algorithm"] = config.algorithm.name;
    out["cards"] = config.cards;
    out["batch_size"] = config.workload.batch_size;
    const std::uint32_t complete = complete_calls(s);
    if (s.job().finished()) {
        const Metrics all = metrics_of(s, {0, config.calls - 1});
        put_metrics(out, all);
        const double row_bytes = static_cast<double>(s.job().expected_rows()) * s.layout().row().value_bytes;
        const double per_card_us = all.total_us * config.cards;
        out["algo_gbps"] = std::round(row_bytes / per_card_us) / 1e3;
        out["wire_gbps"] =
            std::round(static_cast<double>(s.pod().fabric().network().totals().wire_bytes) / per_card_us) / 1e3;
    }
    out["sync"] = sync_json(s);
    const Bounds bounds = bounds_of(s);
    out["bounds_us"] = {{"wire", to_ps(bounds.wire)},
                        {"incast", to_ps(bounds.incast)},
                        {"hbm", to_ps(bounds.hbm)},
                        {"aiv_issue", to_ps(bounds.aiv_issue)},
                        {"latency", to_ps(bounds.latency)}};
    out["functional"] = functional_json(s);
    put_hazards(out, s);
    if (!s.diagnosis().empty()) {
        out["diagnosis"] = s.diagnosis();
    }
    out["fabric"] = fabric_json(s);
    out["memory"] = memory_json(s);
    out["window_mb"] = std::round(static_cast<double>(config.window_bytes) / 1e3) / 1e3;
    Json& calls = out["calls"] = Json::array();
    for (std::uint32_t call = 0; call < complete; ++call) {
        Json entry = {{"call", call}, {"rows", s.job().reference(call).total_rows()}};
        put_metrics(entry, metrics_of(s, {call, call}));
        calls.push_back(std::move(entry));
    }
    Json notes = Json::array();
    const std::vector<std::string> observed = observe_notes(s);
    for (const auto* list : {&config.notes, &s.job().notes(), &observed}) {
        for (const std::string& note : *list) {
            notes.push_back(note);
        }
    }
    out["notes"] = std::move(notes);
    s.pod().fabric().network().note_parameter_use();
    out["unused_machine_parameters"] = unused_parameters(config.machine);
    out["config"] = Json::parse(effective_json(config).dump());
    out["seed"] = config.seed;
    out["version"] = PODSIM_VERSION;
    out["model_version"] = kModelVersion;
    out["host"] = {{"wall_s", s.host().wall_s}, {"events", s.host().events}, {"peak_rss_mb", s.host().peak_rss_mb}};
    return out;
}

}  // namespace podsim
