// SPDX-License-Identifier: Apache-2.0
#include "sim/config/run_config.hpp"

#include "sim/config/json_text.hpp"
#include "sim/config/machine_loader.hpp"
#include "sim/config/run_checks.hpp"
#include "sim/config/run_document.hpp"
#include "sim/config/schema.hpp"

#include <cmath>

namespace podsim {

namespace {

using nlohmann::json;

Picoseconds from_us(const json& value) {
    const auto time = static_cast<Picoseconds>(std::llround(value.get<double>() * 1e6));
    return time > 0 ? time : 1;  // positive by schema, but it may round to nothing
}

Workload read_workload(const json& root) {
    const json& from = root["workload"];
    Workload w;
    w.cards = root["cards"].get<std::uint32_t>();
    w.batch_size = from["batch_size"].get<std::uint32_t>();
    w.hidden = from["hidden"].get<std::uint32_t>();
    w.top_k = from["top_k"].get<std::uint32_t>();
    w.experts = from["experts"].get<std::uint32_t>();
    w.quant = from["quant"] == "none" ? Quant::none : Quant::int8_dynamic;
    w.shared_experts = from["shared_experts"].get<std::uint32_t>();
    w.shared_expert_cards = from["shared_expert_cards"].get<std::uint32_t>();
    w.seed = root["seed"].get<std::uint64_t>();
    return w;
}

RoutingSpec read_routing(const json& from) {
    RoutingSpec spec;
    const auto kind = parse_routing_kind(from["kind"].get<std::string>());
    check(kind.has_value(), "the schema's routing kinds are known to algorithms/routing");
    spec.kind = *kind;
    spec.path = from.value("path", "");
    if (const auto layer = from.find("layer"); layer != from.end()) {
        spec.layer = layer->get<std::int64_t>();
    }
    spec.zipf_exponent = from["zipf_exponent"].get<double>();
    spec.hot_experts = from["hot_experts"].get<std::uint32_t>();
    spec.hot_share = from["hot_share"].get<double>();
    spec.same_table_on_every_card = from["same_table"].get<bool>();
    if (const auto tokens = from.find("tokens_per_card"); tokens != from.end()) {
        spec.tokens_per_card = tokens->get<std::vector<std::uint32_t>>();
    }
    return spec;
}

LimitsConfig read_limits(const json& from) {
    LimitsConfig limits;
    const json& buffer = from["hccl_buffsize_mb"];
    limits.window_auto = buffer.is_string();
    limits.hccl_buffsize_mb = limits.window_auto ? 0 : buffer.get<std::uint64_t>();
    limits.timeout = from_us(from["timeout_us"]);
    limits.max_wall_s = from["max_wall_s"].get<double>();
    return limits;
}

ObserveConfig read_observe(const json& from) {
    ObserveConfig observe;
    observe.timeline = from["timeline"] == "phases" ? Timeline::phases : Timeline::off;
    observe.stamps = from["stamps"] == "ideal" ? Stamps::ideal : from["stamps"] == "cost" ? Stamps::cost : Stamps::off;
    return observe;
}

EngineConfig read_engine(const json& from) {
    EngineConfig engine;
    engine.wake = from["wake"] == "systemc" ? Wake::systemc : Wake::calendar;
    engine.polling = from["polling"] == "explicit" ? Polling::explicit_steps : Polling::elided;
    engine.payload = from["payload"] == "copying" ? PayloadMode::copying : PayloadMode::extents;
    engine.quantum = from_us(from["quantum_us"]);
    return engine;
}

}  // namespace

RunConfig make_run_config(RunDocument document, const std::string& source) {
    json& root = document.root;
    validate_against(SchemaName::run, root, "", document.origins);
    fill_defaults(SchemaName::run, root);
    RunConfig config;
    config.source = source;
    config.files = std::move(document.files);
    config.cards = root["cards"].get<std::uint32_t>();
    config.machine = load_machine(root["machine"], "/machine", document.origins);
    config.workload = read_workload(root);
    config.routing = read_routing(root["workload"]["routing"]);
    config.limits = read_limits(root["limits"]);
    config.check_hazards = root["check"]["hazards"] == "on";
    config.observe = read_observe(root["observe"]);
    config.engine = read_engine(root["engine"]);
    config.calls = root["calls"].get<std::uint32_t>();
    config.seed = root["seed"].get<std::uint64_t>();
    check_workload(document, config);
    validate_workload(config.workload);
    resolve_algorithm(document, config);
    check_window(document, config);
    collect_notes(config);
    config.origins = std::make_shared<const Origins>(document.origins);
    config.document = std::make_shared<const json>(std::move(root));
    return config;
}

RunConfig load_run_config(const std::filesystem::path& path, const std::vector<std::string>& sets) {
    return make_run_config(read_run_document(path, sets), path.string());
}

UserError located(const RunConfig& config, const UserError& error) {
    const ErrorDetail& d = error.detail();
    if (!d.file.empty() || d.pointer.empty()) {
        return error;
    }
    return UserError(config.origins->at(d.pointer, d.expected, d.found, d.hint));
}

json effective_json(const RunConfig& config) { return *config.document; }

}  // namespace podsim
