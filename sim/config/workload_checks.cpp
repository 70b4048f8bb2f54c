// SPDX-License-Identifier: Apache-2.0
#include "algorithms/kernel_api/registry.hpp"
#include "sim/config/run_checks.hpp"
#include "sim/config/window.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace podsim {

namespace {

constexpr const char* kTiling = "on hardware: tiling fails with 561002";
constexpr std::uint32_t kMostStatusEntries = 2048;
constexpr std::uint32_t kLeastRealHidden = 1024;

/// Raises a message at one of the keys of a contradiction.
class Rules {
public:
    explicit Rules(const RunDocument& document) : document_(document) {}
    void require(bool holds, const char* pointer, std::string expected, std::string found,
                 std::string hint = kTiling) const {
        if (!holds) {
            throw UserError(document_.origins.at(pointer, std::move(expected), std::move(found), std::move(hint)));
        }
    }

private:
    const RunDocument& document_;
};

void check_shared(const Rules& rules, const Workload& w) {
    rules.require((w.shared_experts == 0) == (w.shared_expert_cards == 0),
                  w.shared_experts == 0 ? "/workload/shared_expert_cards" : "/workload/shared_experts",
                  "shared_experts and shared_expert_cards both 0 or both not",
                  fmt::format("shared_experts {} on {} cards", w.shared_experts, w.shared_expert_cards));
    rules.require(w.shared_experts == 0 || w.shared_expert_cards % w.shared_experts == 0,
                  "/workload/shared_expert_cards", fmt::format("a multiple of shared_experts ({})", w.shared_experts),
                  std::to_string(w.shared_expert_cards));
    rules.require(w.shared_expert_cards < w.cards, "/workload/shared_expert_cards",
                  fmt::format("fewer than /cards ({}), to leave cards for MoE experts", w.cards),
                  std::to_string(w.shared_expert_cards));
}

void check_routing(const Rules& rules, const Workload& w, const RoutingSpec& routing) {
    const bool file = routing.kind == RoutingKind::file;
    rules.require(file || routing.path.empty(), "/workload/routing/path", "no path, unless kind is \"file\"",
                  fmt::format("kind \"{}\" and a path", routing_kind_name(routing.kind)),
                  "--set /workload/routing/kind=file");
    rules.require(!file || !routing.path.empty(), "/workload/routing/path", "a routing file, as kind is \"file\"",
                  "nothing: the key is missing", "--set /workload/routing/path=FILE");
    rules.require(file || !routing.layer, "/workload/routing/layer", "no layer, unless kind is \"file\"",
                  fmt::format("kind \"{}\" and a layer", routing_kind_name(routing.kind)), "");
    rules.require(routing.kind != RoutingKind::hot || routing.hot_experts <= w.experts, "/workload/routing/hot_experts",
                  fmt::format("at most /workload/experts ({})", w.experts), std::to_string(routing.hot_experts), "");
    if (!routing.tokens_per_card) {
        return;
    }
    const auto& tokens = *routing.tokens_per_card;
    rules.require(tokens.size() == w.cards, "/workload/routing/tokens_per_card",
                  fmt::format("one number for each of {} cards", w.cards), std::to_string(tokens.size()), "");
    for (std::size_t card = 0; card < tokens.size(); ++card) {
        rules.require(tokens[card] <= w.batch_size, fmt::format("/workload/routing/tokens_per_card/{}", card).c_str(),
                      fmt::format("at most /workload/batch_size ({})", w.batch_size), std::to_string(tokens[card]), "");
    }
}

}  // namespace

void check_workload(const RunDocument& document, const RunConfig& config) {
    const Rules rules(document);
    const Workload& w = config.workload;
    const std::uint32_t machine_cards = config.machine.fabric.topology.cards();
    rules.require(w.cards <= machine_cards, "/cards",
                  fmt::format("at most {}, the cards of machine {}", machine_cards, config.machine.name),
                  std::to_string(w.cards), "");
    rules.require(w.hidden % 32 == 0, "/workload/hidden", "a multiple of 32", std::to_string(w.hidden));
    check_shared(rules, w);
    const std::uint32_t moe_cards = w.moe_cards();
    rules.require(
        w.experts % moe_cards == 0, "/workload/experts",
        fmt::format("a multiple of the {} cards that hold MoE experts (cards - shared_expert_cards)", moe_cards),
        std::to_string(w.experts));
    rules.require(w.top_k <= w.experts, "/workload/top_k", fmt::format("at most /workload/experts ({})", w.experts),
                  std::to_string(w.top_k));
    const std::uint64_t entries = static_cast<std::uint64_t>(w.experts_per_card()) * w.cards;
    rules.require(entries <= kMostStatusEntries, "/workload/experts",
                  fmt::format("experts a card x cards at most {}", kMostStatusEntries),
                  fmt::format("{} x {} = {}", w.experts_per_card(), w.cards, entries));
    check_routing(rules, w, config.routing);
}

void check_window(const RunDocument& document, RunConfig& config) {
    const auto& options = config.algorithm.options.all();
    const auto layout = options.find("block_layout");
    const std::string name = layout == options.end() ? "plain" : std::get<std::string>(layout->second);
    config.window_bytes = window_bytes(config.workload, name);
    config.needed_buffsize_mb = needed_hccl_buffsize_mb(config.workload, name);
    if (config.limits.window_auto) {
        config.limits.hccl_buffsize_mb = config.needed_buffsize_mb;
    }
    Rules(document).require(config.limits.hccl_buffsize_mb >= config.needed_buffsize_mb, "/limits/hccl_buffsize_mb",
                            fmt::format("at least {} MB, or \"auto\"", config.needed_buffsize_mb),
                            fmt::format("{} MB", config.limits.hccl_buffsize_mb),
                            "on hardware: HCCL_BUFFSIZE is too SMALL");
}

void collect_notes(RunConfig& config) {
    const Workload& w = config.workload;
    const RoutingSpec& routing = config.routing;
    const auto note = [&](bool when, std::string text) {
        if (when) {
            config.notes.push_back(std::move(text));
        }
    };
    note(w.hidden < kLeastRealHidden,
         fmt::format("hidden {}: the real kernels take {} to 8192", w.hidden, kLeastRealHidden));
    note(w.cards == 1, "one card: the real kernels take 2 or more");
    const auto no_effect = [&](bool when, const std::string& what, const std::string& unless) {
        if (when) {
            config.without_effect.push_back(fmt::format("{} has no effect unless {}", what, unless));
        }
    };
    no_effect(routing.kind != RoutingKind::zipf && routing.zipf_exponent != RoutingSpec{}.zipf_exponent,
              "/workload/routing/zipf_exponent", "kind is zipf");
    no_effect(routing.kind != RoutingKind::hot && routing.hot_experts != RoutingSpec{}.hot_experts,
              "/workload/routing/hot_experts", "kind is hot");
    no_effect(routing.kind != RoutingKind::hot && routing.hot_share != RoutingSpec{}.hot_share,
              "/workload/routing/hot_share", "kind is hot");
    const auto& edits = config.machine.fabric.topology.edits;
    for (std::size_t i = 0; i < edits.size(); ++i) {
        const std::string here = fmt::format("/machine/topology/edits/{}", i);
        const bool removes = edits[i].kind == TopologyEdit::Kind::remove;
        const bool same_rate = edits[i].rate_scale == 1.0, same_latency = edits[i].extra_latency == 0;
        no_effect(edits[i].kind == TopologyEdit::Kind::slow && same_rate && same_latency, here,
                  "rate_scale is not 1 or extra_latency_ns not 0");
        no_effect(removes && !same_rate, here + "/rate_scale", "kind is slow or add");
        no_effect(removes && !same_latency, here + "/extra_latency_ns", "kind is slow or add");
    }
    const AlgorithmConfig& algorithm = config.algorithm;
    if (algorithm.kernel->without_effect != nullptr) {
        for (const WithoutEffect& idle : algorithm.kernel->without_effect(algorithm.options, algorithm.count_cores)) {
            // A preset's own values say nothing: other values beside them may have made them idle.
            const auto& specs = algorithm.kernel->options;
            const auto spec =
                std::find_if(specs.begin(), specs.end(), [&](const auto& s) { return s.key == idle.key; });
            no_effect(spec == specs.end() || algorithm.options.all().at(idle.key) != spec->standard,
                      spec == specs.end() ? "/algorithm/" + idle.key : "/algorithm/options/" + idle.key, idle.unless);
        }
    }
    config.notes.insert(config.notes.end(), config.without_effect.begin(), config.without_effect.end());
}

}  // namespace podsim
