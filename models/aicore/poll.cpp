// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/poll.hpp"

#include "models/aicore/mte.hpp"
#include "models/engine/error.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace podsim {

namespace {

constexpr std::uint64_t kSample = 0;
constexpr std::uint64_t kEvaluate = 1;

template <class T>
bool holds(Compare how, std::uint64_t left, std::uint64_t right) {
    T a, b;
    std::memcpy(&a, &left, sizeof(T));
    std::memcpy(&b, &right, sizeof(T));
    switch (how) {
        case Compare::eq:
            return a == b;
        case Compare::ne:
            return a != b;
        case Compare::lt:
            return a < b;
        case Compare::le:
            return a <= b;
        case Compare::gt:
            return a > b;
        case Compare::ge:
            return a >= b;
    }
    return false;
}

}  // namespace

Poller::CopyTimes Poller::copy_times(const PollSpec& spec) const {
    const CoreParams& p = core_.params();
    const Picoseconds noc = memory_->noc_latency();
    const Picoseconds lookup = memory_->hit_latency() - 2 * noc;
    CopyTimes times;
    InFlight flight;
    Picoseconds base = 0;
    const auto one_copy = [&](const CopyCall& copy) {
        MilliCycles cycles = 0;
        for (Pieces pieces(copy); !pieces.done();) {
            const Piece piece = pieces.next();
            const Picoseconds wanted = base + p.time(cycles);
            const Picoseconds leave = *flight.place(wanted, p.mte.local_in_flight);
            if (leave > wanted) {
                base = leave;
                cycles = 0;
            }
            const Picoseconds arrive = leave + noc;
            const Picoseconds back = arrive + lookup + noc;
            flight.returns_at(back);
            times.arrive.push_back(arrive);
            const MilliCycles own = piece_cycles(p.mte, piece, true);
            times.complete = std::max(times.complete, back + p.time(own));
            cycles += own;
        }
        return base + p.time(cycles);  // its last request is on its way
    };
    Picoseconds sent = one_copy(spec.copy);
    Picoseconds begun = 0;
    std::int64_t number = 0;
    for (const CopyCall& copy : spec.more) {
        const Picoseconds issued = p.time(++number * p.scalar.copy_issue);
        base = begun = std::max({issued, begun + p.time(p.mte.mte2_issue), sent});
        sent = one_copy(copy);
    }
    return times;
}

Picoseconds Poller::closed_form(const PollSpec& spec, Picoseconds copy, std::uint32_t others) const {
    const CoreParams& p = core_.params();
    MilliCycles scalar = p.scalar.copy_issue + p.scalar.flag_issue + spec.words * (p.scalar.ub_load + 2 * p.scalar.alu);
    MilliCycles chain = 0;
    for (const VectorCall& call : spec.chain) {
        if (table_.find(call.op, call.src_type) == nullptr) {
            // PipeBarrier<ALL>, the loop, and the issue of the barrier or flag after it, which nothing hides.
            chain += p.barrier_all + scalar_loop_cost(call, p.vector) + p.scalar.flag_issue;
            continue;
        }
        const VectorCost cost = table_.cost(call);
        chain += cost.head + cost.body + cost.tail;
    }
    if (spec.chain.size() > 1) {
        chain += static_cast<MilliCycles>(spec.chain.size() - 1) * p.vector.barrier;
    }
    const int hops = spec.chain.empty() ? 1 : 2;
    return p.time(scalar) + copy + others * memory_->conflict_service() + hops * p.time(p.flag_hop) + p.time(chain);
}

Picoseconds Poller::period(const PollSpec& spec) const { return closed_form(spec, copy_times(spec).complete, 0); }

void Poller::begin(const PollSpec& spec, Picoseconds now, const std::source_location& where) {
    where_ = where;
    check(spec_ == nullptr, "one poll loop at a time");
    check(spec.copy.gm.card == core_.self().card, "a poll reads the own card's memory");
    spec_ = &spec;
    ++statistics_.loops;
    requests_.clear();
    lines_.clear();
    bytes_ = 0;
    const CopyTimes times = copy_times(spec);
    std::uint32_t others = 0;
    add_requests(spec.copy, times, others);
    for (const CopyCall& copy : spec.more) {
        check(copy.gm.card == core_.self().card, "a poll reads the own card's memory");
        add_requests(copy, times, others);
    }
    for (const Watched& line : lines_) {
        now += core_.translate({core_.self().card, line.number * kBlockBytes});
        memory_->watch(line.number, *this);
    }
    period_ = closed_form(spec, times.complete, others);
    begun_ = now;
    set_load(1);
    go_live(0, now);
}

void Poller::add_requests(const CopyCall& copy, const CopyTimes& times, std::uint32_t& others) {
    const CoreParams& p = core_.params();
    for (Pieces pieces(copy); !pieces.done();) {
        Request request;
        request.piece = pieces.next();
        request.delay = p.time(p.scalar.copy_issue) + times.arrive[requests_.size()];
        bytes_ += std::max(request.piece.bytes, kUbGranule);
        const std::uint64_t number = line_of(request.piece.gm);
        const auto known =
            std::find_if(lines_.rbegin(), lines_.rend(), [number](const Watched& w) { return w.number == number; });
        if (known == lines_.rend()) {
            others = std::max(others, memory_->watchers(number));
            request.line = lines_.size();
            lines_.push_back({number, -1});
        } else {
            request.line = static_cast<std::size_t>(lines_.rend() - known) - 1;
        }
        requests_.push_back(std::move(request));
    }
}

void Poller::set_load(std::int64_t sign) {
    memory_->change_poll_load(sign * (static_cast<std::int64_t>(bytes_) * 1'000'000 / period_));
}

void Poller::go_live(std::int64_t iteration, Picoseconds now) {
    asleep_ = false;
    iteration_ = iteration;
    next_request_ = 0;
    // Requests of this iteration that lie before now found nothing new: they keep what they saw.
    while (next_request_ < requests_.size() && iteration_start(iteration_) + requests_[next_request_].delay < now) {
        Request& request = requests_[next_request_++];
        request.sampled = iteration_start(iteration_) + request.delay;
    }
    next_event(now);
}

void Poller::next_event(Picoseconds now) {
    ++census_.pending;
    if (next_request_ < requests_.size()) {
        const Picoseconds at = iteration_start(iteration_) + requests_[next_request_].delay;
        core_.engine().schedule(*this, std::max(at, now), Phase::sample, kSample);
    } else {
        core_.engine().schedule(*this, iteration_start(iteration_ + 1), Phase::wake, kEvaluate);
    }
}

void Poller::sample(Request& request, Picoseconds at) {
    request.sampled = at;
    request.content.clear();
    memory_->peek(request.piece.gm, request.piece.bytes, request.content);
}

void Poller::on_event(Picoseconds now, Phase /*phase*/, std::uint64_t tag) {
    --census_.pending;
    if (tag == kSample) {
        sample(requests_[next_request_++], now);
        next_event(now);
    } else {
        evaluate(now);
    }
}

bool Poller::satisfied(Picoseconds now) {
    for (const Request& request : requests_) {
        std::uint32_t at = request.piece.ub;
        for (const Slice& slice : request.content) {
            ub_->write(at, slice, now);
            at += slice.length;
        }
    }
    for (const VectorCall& call : spec_->chain) {
        results_.apply(call, *ub_, now, now);
    }
    for (std::uint32_t w = 0; w < spec_->words; ++w) {
        if (word_holds({spec_->word.offset + w * spec_->word_pitch, spec_->word.length}, now)) {
            return true;
        }
    }
    return false;
}

bool Poller::word_holds(const UbRange& word, Picoseconds now) {
    std::uint64_t value = 0;
    copy_bytes(ub_->operand(word, now), std::as_writable_bytes(std::span(&value, 1)).first(word.length));
    switch (spec_->type) {
        case DataType::f32:
            return holds<float>(spec_->compare, value, spec_->value);
        case DataType::s32:
            return holds<std::int32_t>(spec_->compare, value, spec_->value);
        case DataType::u32:
            return holds<std::uint32_t>(spec_->compare, value, spec_->value);
        case DataType::s64:
            return holds<std::int64_t>(spec_->compare, value, spec_->value);
        default:
            throw InternalError("poll on a type without comparison");
    }
}

bool Poller::missed_a_change() const {
    return std::any_of(requests_.begin(), requests_.end(),
                       [this](const Request& r) { return lines_[r.line].changed > r.sampled; });
}

void Poller::evaluate(Picoseconds now) {
    if (satisfied(now)) {
        finish(now);
        return;
    }
    const bool hopeless = core_.engine().pending() == census_.pending;
    if (missed_a_change() || (polling_ == Polling::explicit_steps && !hopeless)) {
        go_live(iteration_ + 1, now);
        return;
    }
    asleep_ = true;
}

void Poller::line_changed(std::uint64_t line, Picoseconds now) {
    const auto found =
        std::find_if(lines_.begin(), lines_.end(), [line](const Watched& w) { return w.number == line; });
    found->changed = now;
    if (!asleep_) {
        return;
    }
    // The iteration under way, if any of its requests is still to come: another line may change before the
    // next one, too. A change at the very instant of a request is seen by it.
    const std::int64_t under_way = (now - begun_) / period_;
    const bool over = iteration_start(under_way) + requests_.back().delay < now;
    go_live(std::max(iteration_ + 1, over ? under_way + 1 : under_way), now);
}

void Poller::finish(Picoseconds now) {
    for (const Watched& line : lines_) {
        memory_->unwatch(line.number, *this);
    }
    set_load(-1);
    const auto polls = static_cast<std::uint64_t>(iteration_ + 1);
    statistics_.polls += polls;
    statistics_.bytes += polls * bytes_;
    spec_ = nullptr;
    client_.poll_finished(now);
}

}  // namespace podsim
