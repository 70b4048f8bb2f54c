// SPDX-License-Identifier: Apache-2.0
#include "algorithms/routing/routing.hpp"

#include "algorithms/routing/generate.hpp"
#include "algorithms/routing/trace.hpp"
#include "models/engine/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace podsim {

namespace {

void require(bool ok, const std::string& key, const std::string& expected, const std::string& found) {
    if (!ok) {
        throw UserError(ErrorDetail{"", "/workload/routing/" + key, expected, found, ""});
    }
}

void validate_spec(const RoutingSpec& spec, const Workload& w) {
    // Written so that NaN is refused.
    require(spec.zipf_exponent >= 0 && spec.zipf_exponent <= 16, "zipf_exponent", "a number from 0 to 16",
            fmt::format("{:g}", spec.zipf_exponent));
    require(spec.hot_share >= 0 && spec.hot_share <= 1, "hot_share", "a number from 0 to 1",
            fmt::format("{:g}", spec.hot_share));
    if (spec.kind == RoutingKind::hot) {
        require(spec.hot_experts >= 1 && spec.hot_experts <= w.experts, "hot_experts",
                fmt::format("1 to the number of experts, {}", w.experts), std::to_string(spec.hot_experts));
    }
    if (!spec.tokens_per_card) {
        return;
    }
    const std::vector<std::uint32_t>& tokens = *spec.tokens_per_card;
    require(tokens.size() == w.cards, "tokens_per_card", fmt::format("one number for each of {} cards", w.cards),
            fmt::format("{} numbers", tokens.size()));
    for (std::size_t card = 0; card < tokens.size(); ++card) {
        require(tokens[card] <= w.batch_size, fmt::format("tokens_per_card/{}", card),
                fmt::format("at most batch_size, {}", w.batch_size), std::to_string(tokens[card]));
    }
}

/// A table whose card c has the first tokens of `pattern`'s only card, as many as `capacity[c]` allows.
RoutingTable repeated(const RoutingTable& pattern, const std::vector<std::uint32_t>& capacity) {
    std::vector<std::uint32_t> tokens;
    tokens.reserve(capacity.size());
    std::transform(capacity.begin(), capacity.end(), std::back_inserter(tokens),
                   [&](std::uint32_t most) { return std::min(most, pattern.tokens(0)); });
    RoutingTable table(pattern.top_k(), tokens);
    for (std::uint32_t card = 0; card < table.cards(); ++card) {
        const std::span<std::int32_t> ids = table.mutable_ids(card);
        std::copy_n(pattern.ids(0).begin(), ids.size(), ids.begin());
    }
    return table;
}

void generate(const RoutingSpec& spec, const Workload& w, std::uint32_t call, RoutingResult& result) {
    switch (spec.kind) {
        case RoutingKind::balanced:
            return fill_balanced(result.table, w, call);
        case RoutingKind::uniform:
            return fill_uniform(result.table, w, call);
        case RoutingKind::zipf:
            return fill_zipf(result.table, w, call, spec.zipf_exponent);
        case RoutingKind::hot:
            return fill_hot(result.table, w, call, spec.hot_experts, spec.hot_share, result.notes);
        case RoutingKind::file:
            break;
    }
    throw InternalError("routing kind that generates nothing");
}

void note_shortage(const std::vector<std::uint32_t>& tokens, const std::vector<std::uint32_t>& capacity,
                   std::vector<std::string>& notes) {
    std::size_t short_cards = 0;
    std::size_t idle_cards = 0;
    for (std::size_t card = 0; card < tokens.size(); ++card) {
        short_cards += tokens[card] < capacity[card] ? 1 : 0;
        idle_cards += tokens[card] == 0 && capacity[card] > 0 ? 1 : 0;
    }
    if (short_cards > 0) {
        notes.push_back(fmt::format("the routing file has too few tokens for {} of {} cards{}", short_cards,
                                    tokens.size(),
                                    idle_cards > 0 ? fmt::format("; {} of them have none", idle_cards) : ""));
    }
}

/// A profiling run writes the same token over and over; as a workload it sends everything to top_k experts.
void note_sameness(const RoutingTable& table, std::vector<std::string>& notes) {
    std::span<const std::int32_t> first;
    for (std::uint32_t card = 0; card < table.cards(); ++card) {
        const std::span<const std::int32_t> ids = table.ids(card);
        for (std::size_t i = 0; i < ids.size(); i += table.top_k()) {
            const std::span<const std::int32_t> token = ids.subspan(i, table.top_k());
            first = first.empty() ? token : first;
            if (!std::equal(token.begin(), token.end(), first.begin())) {
                return;
            }
        }
    }
    if (table.total_tokens() > 1) {
        notes.push_back(
            fmt::format("all {} tokens taken from the routing file choose the same experts, in the same order",
                        table.total_tokens()));
    }
}

/// Deals the tokens of a file to as many cards as `capacity` has entries.
void deal(const Trace& trace, const Workload& w, const std::vector<std::uint32_t>& capacity, RoutingResult& result) {
    const std::uint64_t total = trace.ids.size() / w.top_k;
    std::vector<std::uint32_t> tokens(capacity.size(), 0);
    std::vector<std::uint32_t> card_of(total);
    constexpr std::uint32_t kNobody = 0xFFFF'FFFF;
    std::size_t filling = 0;
    std::uint64_t of_unused_cards = 0;
    for (std::uint64_t i = 0; i < total; ++i) {
        if (!trace.card_of_token) {
            while (filling < capacity.size() && tokens[filling] == capacity[filling]) {
                ++filling;
            }
        }
        const std::size_t card = trace.card_of_token ? (*trace.card_of_token)[i] : filling;
        const bool taken = card < capacity.size() && tokens[card] < capacity[card];
        card_of[i] = taken ? static_cast<std::uint32_t>(card) : kNobody;
        if (taken) {
            ++tokens[card];
        } else {
            ++result.leftover_tokens;
            of_unused_cards += trace.card_of_token && card >= capacity.size() ? 1 : 0;
        }
    }
    result.table = RoutingTable(w.top_k, tokens);
    std::fill(tokens.begin(), tokens.end(), 0);
    for (std::uint64_t i = 0; i < total; ++i) {
        if (card_of[i] != kNobody) {
            const std::span<std::int32_t> ids = result.table.mutable_ids(card_of[i]);
            std::copy_n(trace.ids.begin() + static_cast<std::ptrdiff_t>(i * w.top_k), w.top_k,
                        ids.begin() + static_cast<std::ptrdiff_t>(tokens[card_of[i]]++) * w.top_k);
        }
    }
    note_sameness(result.table, result.notes);
    note_shortage(tokens, capacity, result.notes);
    if (result.leftover_tokens > 0) {
        result.notes.push_back(fmt::format(
            "{} of the {} tokens in the routing file are left over{}", result.leftover_tokens, total,
            of_unused_cards == 0
                ? ""
                : fmt::format(", {} of them on cards beyond the {} used", of_unused_cards, capacity.size())));
    }
}

}  // namespace

RoutingResult make_routing(const RoutingSpec& spec, const Workload& workload, std::uint32_t call) {
    validate_workload(workload);
    validate_spec(spec, workload);
    const std::vector<std::uint32_t> capacity =
        spec.tokens_per_card.value_or(std::vector<std::uint32_t>(workload.cards, workload.batch_size));
    // With the same table everywhere, one card is made, as long as the longest.
    const std::vector<std::uint32_t> made =
        spec.same_table_on_every_card ? std::vector{*std::max_element(capacity.begin(), capacity.end())} : capacity;

    RoutingResult result;
    if (spec.kind == RoutingKind::file) {
        const Trace trace = read_trace(spec.path, spec.layer, workload);
        result.notes = trace.notes;
        deal(trace, workload, made, result);
    } else {
        result.table = RoutingTable(workload.top_k, made);
        generate(spec, workload, call, result);
    }
    if (spec.same_table_on_every_card) {
        result.table = repeated(result.table, capacity);
    }
    result.correlation = routing_correlation(result.table, workload);
    return result;
}

}  // namespace podsim
