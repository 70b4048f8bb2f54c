// SPDX-License-Identifier: Apache-2.0
#include "sim/run/dispatch_job.hpp"

#include "algorithms/dispatch/token_payload.hpp"
#include "models/engine/error.hpp"
#include "models/engine/random.hpp"

#include <algorithm>

namespace podsim {

namespace {

/// Window base of every rank, as the context table holds it; the value only has to be there to be loaded.
PayloadRef context_table(std::uint32_t cards) {
    std::vector<std::uint64_t> bases(cards);
    for (std::uint32_t c = 0; c < cards; ++c) {
        bases[c] = static_cast<std::uint64_t>(c) << 40U;
    }
    return make_bytes(std::as_bytes(std::span(bases)));
}

}  // namespace

DispatchJob::DispatchJob(const JobParams& params, const DispatchLayout& layout)
    : params_(params),
      layout_(layout),
      calls_(params.calls),
      cards_(params.workload.cards),
      times_(params.calls, std::vector<CardCall>(params.workload.cards)),
      check_(params_.workload, layout),
      flags_(params_.workload, layout) {
    // All routing is made before the run: a bad trace is found now.
    for (std::uint32_t call = 0; call < params_.calls; ++call) {
        prepare_call(call);
    }
}

void DispatchJob::prepare_call(std::uint32_t call) {
    RoutingResult routing = make_routing(params_.routing, params_.workload, call);
    if (call == 0) {
        notes_ = routing.notes;
    }
    ReferenceDispatch reference(params_.workload, routing.table, call);
    calls_[call] = std::make_unique<Call>(Call{std::move(routing.table), std::move(reference)});
}

std::uint64_t DispatchJob::expected_rows() const {
    std::uint64_t rows = 0;
    for (const auto& call : calls_) {
        rows += call->reference.total_rows();
    }
    return rows;
}

void DispatchJob::start(Pod& pod, EngineIf& engine) {
    pod_ = &pod;
    engine_ = &engine;
    const std::uint32_t cards = params_.workload.cards;
    args_.resize(static_cast<std::size_t>(cards) * params_.cores);
    for (std::uint32_t card = 0; card < cards; ++card) {
        place_fixed(card);
        for (std::uint32_t core = 0; core < params_.cores; ++core) {
            DispatchArgs& args = args_[static_cast<std::size_t>(card) * params_.cores + core];
            args.workload = &params_.workload;
            args.options = &params_.options;
            args.layout = &layout_;
            args.card = card;
            args.core = core;
            args.cores = params_.cores;
            args.count_cores = params_.count_cores;
            aivs_.push_back(std::make_unique<Aiv>(pod.card(CardId{card}).core(CoreId{core}), cards,
                                                  align_up<std::uint64_t>(layout_.end(), kBlockBytes)));
        }
        const Picoseconds spread = pod.machine().launch.card_start_skew;
        const auto skew = static_cast<Picoseconds>(random_unit(params_.seed, RandomStream::card_start_skew, card, 0) *
                                                   static_cast<double>(spread));
        cards_[card].job = this;
        cards_[card].card = card;
        engine.register_unit(cards_[card], CardId{card});
        engine.schedule(cards_[card], skew, Phase::wake, 0);
    }
}

void DispatchJob::place_fixed(std::uint32_t card) {
    CardMemory& memory = pod_->card(CardId{card}).memory;
    const bool in_l2 = pod_->machine().memory.inputs_in_l2;
    const PayloadRef context = context_table(params_.workload.cards);
    memory.preset(layout_.context(card, 0).address.offset, {context, 0, context->size()}, in_l2);
    memory.preset(layout_.tiling(card).address.offset, {nullptr, 0, DispatchLayout::kTilingBytes}, in_l2);
    pod_->card(CardId{card}).sync.port->set_participants(params_.cores);
}

Picoseconds DispatchJob::core_skew(std::uint32_t card, std::uint32_t core, std::uint32_t call) const {
    const Picoseconds spread = pod_->machine().launch.core_start_skew;
    const std::uint64_t who = (static_cast<std::uint64_t>(card) << 16U) | core;
    return static_cast<Picoseconds>(random_unit(params_.seed, RandomStream::core_start_skew, who, call) *
                                    static_cast<double>(spread));
}

void DispatchJob::launch(std::uint32_t card, Picoseconds at) {
    CardState& state = cards_[card];
    const std::uint32_t call = state.call;
    const RoutingTable& table = calls_[call]->table;
    CardMemory& memory = pod_->card(CardId{card}).memory;
    const bool in_l2 = pod_->machine().memory.inputs_in_l2;
    const auto ids = table.ids(card);
    if (!ids.empty()) {
        const PayloadRef payload = make_bytes(std::as_bytes(ids));
        memory.preset(layout_.expert_ids(card).address.offset, {payload, 0, payload->size()}, in_l2);
    }
    for (std::uint32_t t = 0; t < table.tokens(card); ++t) {
        const PayloadRef token = make_token_payload({params_.seed, call, card, t}, params_.workload.hidden);
        memory.preset(layout_.token(card, t).address.offset, {token, 0, token->size()}, in_l2);
    }
    state.running = params_.cores;
    state.ended = 0;
    for (std::uint32_t core = 0; core < params_.cores; ++core) {
        const std::size_t place = static_cast<std::size_t>(card) * params_.cores + core;
        args_[place].tokens = table.tokens(card);
        aivs_[place]->FreeAll();
        if (params_.stamps) {
            aivs_[place]->StampPhases(layout_.stamps(card, core), DispatchLayout::kStamps);
        }
        const Picoseconds start = at + core_skew(card, core, call);
        times_[call][card].started = std::min(times_[call][card].started, start);
        pod_->card(CardId{card}).core(CoreId{core}).launch(params_.body(*aivs_[place], args_[place]), start);
    }
}

void DispatchJob::phase_entered(CoreRef core, std::string_view phase, bool /*step*/, Picoseconds at) {
    if (!phase.empty()) {
        return;
    }
    const std::uint32_t card = index(core.card);
    CardState& state = cards_[card];
    state.ended = std::max(state.ended, at);
    if (--state.running == 0) {
        // The end may lie ahead; the call has ended when its event comes.
        engine_->schedule(state, state.ended, Phase::wake, 0);
    }
}

void DispatchJob::CardState::on_event(Picoseconds now, Phase /*phase*/, std::uint64_t /*tag*/) {
    job->go_on(card, now);
}

void DispatchJob::check_flags(std::uint32_t card, Picoseconds now) {
    const ReferenceDispatch& reference = calls_[cards_[card].call]->reference;
    for (const EarlyFlag& flag : params_.early_flags->end_call(card, now)) {
        flags_.add(flag, reference, way_back(flag.store));
    }
}

/// From the memory a store landed in to its core. Of its first block, where edits make planes differ.
Picoseconds DispatchJob::way_back(const StoreEvent& store) const {
    return store.to.card == store.core.card ? pod_->machine().memory.noc_latency.peek()
                                            : pod_->fabric().network().return_latency(store.to, store.core.card);
}

void DispatchJob::take_open_flags() {
    for (const CardState& card : cards_) {
        if (card.call < params_.calls) {
            check_flags(card.card, engine_->now());
        }
    }
}

void DispatchJob::go_on(std::uint32_t card, Picoseconds now) {
    CardState& state = cards_[card];
    if (times_[state.call][card].started != kNever) {
        times_[state.call][card].ended = now;
        check_.check_card(calls_[state.call]->reference, card, pod_->card(CardId{card}).memory.store_contents());
        check_flags(card, now);
        params_.landings->close_call(card);
        if (++state.call == params_.calls) {
            ++cards_done_;
            return;
        }
        now += pod_->machine().launch.call_gap;
    }
    launch(card, now);
}

}  // namespace podsim
