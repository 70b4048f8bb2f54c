// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Routing of a call: generated, or read from a file.
///
/// Generated tables depend on (seed, call, card) alone and are the same on every machine: integers and exactly
/// rounded operations only. In every kind the experts of one token are distinct.
///
/// balanced  Every card uses each expert floor or ceil(tokens * K / E) times; over all cards the totals differ by at
///           most 1, also with uneven tokens per card. Which experts get the odd one out is a permutation drawn per
///           call; the order of a card's selections is its own, drawn per call and card.
/// uniform   Each token draws K distinct experts, all sets equally likely.
/// zipf      Each token draws K distinct experts one after the other, popularity of rank r being
///           max(1, round(2^32 / r^exponent)). Which expert has which rank is a permutation drawn from the seed, the
///           same on every card and call. Exponent 0 is `uniform`.
/// hot       `hot_experts` experts (drawn from the seed) take `hot_share` of the selections, evenly among themselves.
///           A token can use each only once, so the share is at most min(hot_experts, K) / K, and at least
///           (K - other experts) / K; a share beyond that is cut and noted.
/// file      The first tokens of the file, dealt in contiguous blocks of batch_size (or tokens_per_card), card 0
///           first; the same for every call. Formats: traces/README.md.
///
/// same_table_on_every_card gives every card the table card 0 would have.
#include "algorithms/routing/routing_table.hpp"
#include "algorithms/routing/workload.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace podsim {

struct RoutingResult {
    RoutingTable table;
    std::uint64_t leftover_tokens = 0;  ///< file: tokens that no card took
    std::vector<std::string> notes;     ///< what the user should know: cut shares, unused cards, skipped lines …
    double correlation = 0;             ///< routing_correlation() of the table
};

/// Throws UserError (a contradiction in `spec` or `workload`, or a file whose contents do not fit) or IoError (a
/// file that cannot be read).
RoutingResult make_routing(const RoutingSpec& spec, const Workload& workload, std::uint32_t call);

/// Rows that each card receives, shared-expert copies included.
std::vector<std::uint64_t> rows_per_card(const RoutingTable& table, const Workload& workload);

/// Selections of each MoE expert, over all cards.
std::vector<std::uint64_t> selections_per_expert(const RoutingTable& table, std::uint32_t experts);

/// How much the cards aim at the same destination at the same place of their tables: with p the chance that two
/// cards agree at one flat index and q the chance that any two selections agree, (p - q) / (1 - q). 1 = the
/// same table on every card, about 0 = independent, slightly negative = they avoid each other. 0 when undefined.
double routing_correlation(const RoutingTable& table, const Workload& workload);

}  // namespace podsim
