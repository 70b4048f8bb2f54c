// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What one Dispatch call has to do: sizes, experts and who owns them, and how tokens choose experts.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podsim {

/// What happens to a row on its way: sent as bf16, or quantized per token to int8 with one fp32 scale.
enum class Quant { none, int8_dynamic };

/// Sizes are counts; all cards run the same workload. Defaults are the article's 64-card case.
/// Shared-expert cards come first: cards [0, shared_expert_cards) own shared experts, the rest own MoE experts.
struct Workload {
    std::uint32_t cards = 64;               ///< W, EP ranks
    std::uint32_t batch_size = 32;          ///< most tokens a card can have (maxBS)
    std::uint32_t hidden = 7168;            ///< H, values in a token
    std::uint32_t top_k = 8;                ///< K, experts chosen by a token
    std::uint32_t experts = 256;            ///< E, MoE experts, shared ones not counted
    Quant quant = Quant::int8_dynamic;      ///< what travels
    std::uint32_t shared_experts = 0;       ///< S, experts that every token also goes to
    std::uint32_t shared_expert_cards = 0;  ///< Rs, cards that hold them, Rs / S each
    std::uint64_t seed = 1;                 ///< of input values and generated routing

    std::uint32_t moe_cards() const { return cards - shared_expert_cards; }
    /// L: MoE experts on a card that owns MoE experts.
    std::uint32_t experts_per_card() const { return experts / moe_cards(); }
    bool is_shared_card(std::uint32_t card) const { return card < shared_expert_cards; }
    /// Experts on any card: L, or 1 on a shared-expert card.
    std::uint32_t local_experts(std::uint32_t card) const { return is_shared_card(card) ? 1 : experts_per_card(); }
    std::uint32_t card_of_expert(std::uint32_t expert) const {
        return shared_expert_cards + expert / experts_per_card();
    }
    /// Index of a MoE expert among those of its card.
    std::uint32_t local_of_expert(std::uint32_t expert) const { return expert % experts_per_card(); }
    /// The MoE expert at `local` of a MoE card; undefined on a shared-expert card.
    std::uint32_t expert_on_card(std::uint32_t card, std::uint32_t local) const {
        return (card - shared_expert_cards) * experts_per_card() + local;
    }
    std::uint32_t cards_per_shared_expert() const { return shared_expert_cards / shared_experts; }
    /// The card that takes `source`'s tokens for shared expert s < shared_copies().
    std::uint32_t card_of_shared(std::uint32_t source, std::uint32_t s) const {
        return source % cards_per_shared_expert() + s * cards_per_shared_expert();
    }
    /// Extra copies of every token for shared experts: S, or 0 when no card holds any.
    std::uint32_t shared_copies() const { return shared_expert_cards == 0 ? 0 : shared_experts; }
    /// F: status cells of a card, one per (local expert, source card), index local * W + source.
    std::uint32_t status_entries(std::uint32_t card) const { return cards * local_experts(card); }
    /// Bytes of the hidden values of one row as it travels.
    std::uint32_t row_value_bytes() const { return quant == Quant::none ? 2 * hidden : hidden; }

    friend bool operator==(const Workload&, const Workload&) = default;
};

/// Refuses sizes that contradict each other (zero, experts that do not divide over the cards, top_k above experts …).
/// Throws UserError with the JSON pointer of the offending key.
void validate_workload(const Workload& workload);

/// How tokens choose experts (definitions: algorithms/routing/routing.hpp).
enum class RoutingKind { balanced, uniform, zipf, hot, file };

std::string_view routing_kind_name(RoutingKind kind);
std::optional<RoutingKind> parse_routing_kind(std::string_view name);

struct RoutingSpec {
    RoutingKind kind = RoutingKind::balanced;
    std::string path;                       ///< file: a .jsonl, .csv or .npy, already resolved
    std::optional<std::int64_t> layer;      ///< file: which layer; empty = the only one in the file
    double zipf_exponent = 1.0;             ///< zipf: popularity ~ 1 / rank^exponent, 0 … 16
    std::uint32_t hot_experts = 1;          ///< hot: how many experts are hot
    double hot_share = 0.5;                 ///< hot: part of all selections that goes to them, 0 … 1
    bool same_table_on_every_card = false;  ///< card 0's table on every card: the worst incast
    /// Tokens of each card, at most batch_size; empty = batch_size everywhere.
    std::optional<std::vector<std::uint32_t>> tokens_per_card;

    friend bool operator==(const RoutingSpec&, const RoutingSpec&) = default;
};

}  // namespace podsim
