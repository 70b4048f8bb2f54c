// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/check_report.hpp"

#include "algorithms/dispatch/layout.hpp"
#include "algorithms/kernel_api/registry.hpp"
#include "algorithms/routing/routing.hpp"
#include "models/engine/units.hpp"
#include "sim/cli/footprint_check.hpp"
#include "sim/config/run_config.hpp"
#include "sim/run/fabric_check.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>

namespace podsim {

namespace {

using nlohmann::json;

struct Expectation {
    std::uint64_t rows = 0, fewest = 0, most = 0;
    std::uint64_t leftover_tokens = 0;
    double correlation = 0;
    unsigned blocks_per_row = 0;
    std::vector<std::string> notes;
};

Expectation expect(const RunConfig& config) {
    RoutingResult routing = make_routing(config.routing, config.workload, 0);
    check_footprint(config, routing.table);
    const auto rows = rows_per_card(routing.table, config.workload);
    Expectation e;
    e.rows = std::accumulate(rows.begin(), rows.end(), std::uint64_t{0});
    e.fewest = *std::min_element(rows.begin(), rows.end());
    e.most = *std::max_element(rows.begin(), rows.end());
    e.leftover_tokens = routing.leftover_tokens;
    e.correlation = routing.correlation;
    e.blocks_per_row = expected_blocks_per_row(config);
    e.notes = config.notes;
    e.notes.insert(e.notes.end(), routing.notes.begin(), routing.notes.end());
    return e;
}

/// MB of 10^6 bytes, as in results.
double window_mb(const RunConfig& config) { return std::round(static_cast<double>(config.window_bytes) / 1e3) / 1e3; }

/// Indented, but a machine parameter stays on its line.
void dump(const json& value, int depth, std::string& text) {
    const auto one_line = [](const json& v) { return v.dump(-1, ' ', false, json::error_handler_t::replace); };
    if (!value.is_object() || value.empty() || value.contains("unit")) {
        text += one_line(value);
        return;
    }
    const std::string indent(static_cast<std::size_t>(2 * depth + 2), ' ');
    const char* separator = "{\n";
    for (const auto& [key, child] : value.items()) {
        text += separator + indent + one_line(json(key)) + ": ";
        dump(child, depth + 1, text);
        separator = ",\n";
    }
    text += "\n" + std::string(static_cast<std::size_t>(2 * depth), ' ') + "}";
}

void print_json(const RunConfig& config, const Expectation& e, std::ostream& out) {
    json document;
    document["schema"] = "podsim.check/1";
    document["status"] = "ok";
    document["config"] = effective_json(config);
    document["window_bytes"] = config.window_bytes;
    document["window_mb"] = window_mb(config);
    document["needed_hccl_buffsize_mb"] = config.needed_buffsize_mb;
    document["hccl_buffsize_mb"] = config.limits.hccl_buffsize_mb;
    document["rows"] = {{"total", e.rows}, {"card_min", e.fewest}, {"card_max", e.most}};
    document["blocks_per_row"] = e.blocks_per_row;
    document["blocks"] = e.rows * e.blocks_per_row;
    document["leftover_tokens"] = e.leftover_tokens;
    document["routing_correlation"] = e.correlation;
    document["notes"] = e.notes;
    out << document.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
}

void print_text(const RunConfig& config, const Expectation& e, std::ostream& out) {
    std::string text;
    dump(effective_json(config), 0, text);
    const double cards = config.cards;
    fmt::print(out, "{}\n\n", text);
    fmt::print(out, "{}: fine\n", config.source);
    fmt::print(out, "  algorithm        {} on {} AIV cores a card\n", config.algorithm.name,
               config.algorithm.aiv_cores);
    fmt::print(out, "  machine          {}, {} of {} cards\n", config.machine.name, config.cards,
               config.machine.fabric.topology.cards());
    fmt::print(out,
               "  window           {:.3f} MB a card; HCCL_BUFFSIZE {} MB{}, at least {} MB (of 2^20 bytes) needed\n",
               window_mb(config), config.limits.hccl_buffsize_mb, config.limits.window_auto ? " (auto)" : "",
               config.needed_buffsize_mb);
    fmt::print(out, "  expected rows    {} a call; a card receives {} to {}, {:.1f} on average\n", e.rows, e.fewest,
               e.most, static_cast<double>(e.rows) / cards);
    fmt::print(out, "  expected blocks  {} of 512 B a call, {} a row\n", e.rows * e.blocks_per_row, e.blocks_per_row);
    if (e.leftover_tokens > 0) {
        fmt::print(out, "  leftover tokens  {} in the routing file, not used\n", e.leftover_tokens);
    }
    for (const std::string& note : e.notes) {
        fmt::print(out, "  note             {}\n", note);
    }
}

}  // namespace

unsigned expected_blocks_per_row(const RunConfig& config) {
    const LayoutNeeds needs = config.algorithm.kernel->layout_needs(config.algorithm.options);
    return RowLayout(config.workload, parse_block_layout(needs.block_layout)).blocks();
}

void print_check(const RunConfig& config, bool as_json, std::ostream& out) {
    check_fabric(config);  // first, as in a run
    const Expectation e = expect(config);
    if (as_json) {
        print_json(config, e, out);
    } else {
        print_text(config, e, out);
    }
}

}  // namespace podsim
