// SPDX-License-Identifier: Apache-2.0
#include "algorithms/routing/workload.hpp"

#include "models/engine/error.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace podsim {

namespace {

constexpr std::array<std::pair<RoutingKind, std::string_view>, 5> kKindNames{{{RoutingKind::balanced, "balanced"},
                                                                              {RoutingKind::uniform, "uniform"},
                                                                              {RoutingKind::zipf, "zipf"},
                                                                              {RoutingKind::hot, "hot"},
                                                                              {RoutingKind::file, "file"}}};

void require(bool ok, const char* pointer, std::string expected, std::string found, std::string hint = "") {
    if (!ok) {
        throw UserError(ErrorDetail{"", pointer, std::move(expected), std::move(found), std::move(hint)});
    }
}

}  // namespace

std::string_view routing_kind_name(RoutingKind kind) {
    for (const auto& [value, name] : kKindNames) {
        if (value == kind) {
            return name;
        }
    }
    throw InternalError("routing kind without a name");
}

std::optional<RoutingKind> parse_routing_kind(std::string_view name) {
    for (const auto& [value, known] : kKindNames) {
        if (known == name) {
            return value;
        }
    }
    return std::nullopt;
}

void validate_workload(const Workload& w) {
    require(w.cards > 0, "/cards", "at least 1 card", "0");
    require(w.batch_size > 0, "/workload/batch_size", "at least 1", "0");
    require(w.hidden > 0, "/workload/hidden", "at least 1", "0");
    require(w.top_k > 0, "/workload/top_k", "at least 1", "0");
    require(w.experts > 0, "/workload/experts", "at least 1", "0");
    require(w.shared_expert_cards < w.cards, "/workload/shared_expert_cards",
            fmt::format("fewer than the {} cards, so that some hold MoE experts", w.cards),
            std::to_string(w.shared_expert_cards));
    require(w.experts % w.moe_cards() == 0, "/workload/experts",
            fmt::format("a multiple of the {} cards that hold MoE experts", w.moe_cards()), std::to_string(w.experts));
    require(w.top_k <= w.experts, "/workload/top_k", fmt::format("at most the number of experts, {}", w.experts),
            std::to_string(w.top_k));
    if (w.shared_expert_cards == 0) {
        require(w.shared_experts == 0, "/workload/shared_experts", "0 where shared_expert_cards is 0",
                std::to_string(w.shared_experts),
                "the real operator takes 1 shared expert on 0 cards as none, and refuses more");
        return;
    }
    require(w.shared_experts > 0, "/workload/shared_experts", "at least 1 where shared_expert_cards is not 0", "0");
    require(w.shared_expert_cards % w.shared_experts == 0, "/workload/shared_expert_cards",
            fmt::format("a multiple of the {} shared experts", w.shared_experts),
            std::to_string(w.shared_expert_cards));
}

}  // namespace podsim
