// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/mte.hpp"

#include "models/engine/error.hpp"

#include <algorithm>
#include <iterator>

namespace podsim {

namespace {

constexpr std::uint64_t kArm = ~std::uint64_t{0};
constexpr std::uint64_t kAnswer = std::uint64_t{1} << 63;
constexpr unsigned kRequestBits = 20;

}  // namespace

std::optional<Picoseconds> InFlight::place(Picoseconds from, std::uint32_t bound) {
    while (first_ < known_.size() && known_[first_] <= from) {
        ++first_;
    }
    const std::size_t waiting = known_.size() - first_;
    if (waiting + open_ < bound) {
        return from;
    }
    if (waiting == 0) {
        return std::nullopt;
    }
    return known_[first_];
}

void InFlight::returns_at(Picoseconds at) {
    if (first_ >= kSpent || first_ == known_.size()) {
        known_.erase(known_.begin(), known_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }
    auto place = known_.end();
    while (place != known_.begin() + static_cast<std::ptrdiff_t>(first_) && *std::prev(place) > at) {
        --place;
    }
    known_.insert(place, at);
}

void MteChannel::connect(UbIf& ub, MemoryIf& memory, FabricIf* fabric) {
    ub_ = &ub;
    memory_ = &memory;
    fabric_ = fabric;
}

std::uint32_t MteChannel::bound() const {
    const MteParams& mte = core_.params().mte;
    return remote() ? mte.remote_in_flight : mte.local_in_flight;
}

InOrderPipe::Progress MteChannel::execute(const Instruction& instruction, Picoseconds earliest) {
    // MTE3 takes UB contents at its start, so it waits for that instant; MTE2's first effect is its first
    // request in memory, later than its start.
    const bool needs_instant = !inbound_ || instruction.copy.gm.card != core_.self().card;
    if (needs_instant && earliest > now()) {
        if (!armed_) {
            armed_ = true;
            core_.engine().schedule(*this, earliest, Phase::wake, kArm);
        }
        return Progress::later;
    }
    begin(instruction, needs_instant ? std::max(earliest, now()) : earliest);
    return sending_ ? Progress::running : Progress::done;
}

void MteChannel::begin(const Instruction& instruction, Picoseconds start) {
    OpenCopy copy;
    copy.call = instruction.copy;
    copy.sequence = instruction.sequence;
    copy.what = instruction.what;
    copy.where = instruction.where;
    copy.started = start;
    copy.last = start;
    open_.push(std::move(copy));
    ++statistics_.copies;
    pieces_ = Pieces(instruction.copy);
    request_number_ = 0;
    translated_ = false;
    base_ = start;
    cycles_ = 0;
    sending_ = true;
    source_.clear();
    taken_ = {};
    const CopyCall& call = instruction.copy;
    if (!inbound_) {
        for (std::uint32_t b = 0; b < call.blocks; ++b) {
            ub_->read(call.ub + b * call.ub_stride, call.block_bytes, start, source_);
        }
    }
    if (ObserverIf* o = core_.listeners().instructions) {
        InstructionEvent event;
        event.core = core_.self();
        event.pipe = pipe_;
        event.sequence = instruction.sequence;
        event.what = instruction.what;
        event.where = instruction.where;
        event.enabler = start == instruction.issued ? Enabler::issue : Enabler::pipe;
        set_ranges(event, call);
        o->instruction_started(event, start);
    }
    if (ObserverIf* o = core_.listeners().stores; o != nullptr && !inbound_) {
        o->store_began(store_event(open_.back()), start);
    }
    plan_request();
}

StoreEvent MteChannel::store_event(const OpenCopy& copy) const {
    const CopyCall& call = copy.call;
    return {core_.self(),   copy.sequence,  copy.where,          call.gm, call.blocks, call.block_bytes,
            call.gm_stride, call.announced, call.announced_bytes};
}

void MteChannel::set_ranges(InstructionEvent& event, const CopyCall& call) const {
    (inbound_ ? event.writes[0] : event.reads[0]) = {call.ub, (call.blocks - 1) * call.ub_stride + call.block_bytes};
    event.bursts = call.blocks;
    event.burst_bytes = call.block_bytes;
    event.burst_stride = call.ub_stride;
}

void MteChannel::plan_request() {
    if (!translated_) {
        translated_ = true;
        const Picoseconds walk = core_.translate({open_.back().call.gm.card, pieces_.next_gm()});
        if (walk > 0) {
            base_ += core_.params().time(cycles_) + walk;
            cycles_ = 0;
        }
    }
    InFlight& flight = remote() ? remote_ : local_;
    const Picoseconds wanted = base_ + core_.params().time(cycles_);
    const auto free = flight.place(wanted, bound());
    waiting_place_ = !free || *free > wanted;
    if (!free) {
        planned_ = kNever;
        return;
    }
    if (*free > wanted) {
        base_ = *free;
        cycles_ = 0;
    }
    const bool reads_own = inbound_ && !remote();
    const Picoseconds at = std::max(*free + (reads_own ? memory_->noc_latency() : 0), now());
    planned_ = at;
    if (!remote()) {
        memory_->expect(pieces_.next_gm());
    }
    core_.engine().schedule(*this, at, reads_own ? Phase::sample : Phase::wake, ++generation_);
}

void MteChannel::on_event(Picoseconds now, Phase /*phase*/, std::uint64_t tag) {
    if (tag == kArm) {
        armed_ = false;
        advance();
    } else if ((tag & kAnswer) != 0) {
        answered((tag & ~kAnswer) >> kRequestBits, now);
    } else if (tag == generation_ && sending_) {
        do_request(now);
    }
}

void MteChannel::do_request(Picoseconds now) {
    OpenCopy& copy = open_.back();
    const Piece piece = pieces_.next();
    translated_ = false;
    const MilliCycles cycles = piece_cycles(core_.params().mte, piece, inbound_);
    ++statistics_.requests;
    statistics_.issue_cycles += cycles;
    const CoreId core = core_.self().core;
    if (copy.call.announced_bytes > 0 && request_number_ == 0) {
        if (ObserverIf* o = core_.listeners().stores) {
            o->flag_left(store_event(copy), now);
        }
    }
    if (remote()) {
        statistics_.remote_bytes += piece.bytes;
        send_remote(copy, piece, now);
    } else if (inbound_) {
        statistics_.local_bytes += piece.bytes;
        const ReadReply reply = memory_->read(core, piece.gm, piece.bytes, copy.call.hint, now, copy.content);
        local_.returns_at(reply.ready);
        copy.last = std::max(copy.last, reply.ready + core_.params().time(cycles));
        copy.informs |= reply.stored;
        if (reply.stall > 0) {
            base_ += core_.params().time(cycles_) + reply.stall;
            cycles_ = 0;
        }
    } else {
        statistics_.local_bytes += piece.bytes;
        const Picoseconds acknowledged = memory_->store(core, piece.gm, taken_.next(source_, piece.bytes, joins_), now);
        local_.returns_at(acknowledged);
        copy.last = std::max(copy.last, acknowledged);
    }
    ++request_number_;
    cycles_ += cycles;
    if (pieces_.done()) {
        end_of_requests(copy);
    } else {
        plan_request();
    }
}

void MteChannel::send_remote(OpenCopy& copy, const Piece& piece, Picoseconds now) {
    check(fabric_ != nullptr, "a card with a remote address has a fabric");
    BlockPacket packet;
    packet.kind = inbound_ ? BlockPacket::Kind::read_request : BlockPacket::Kind::write;
    packet.address = {copy.call.gm.card, piece.gm};
    packet.requester_card = core_.self().card;
    packet.requester_core = core_.self().core;
    packet.bytes = piece.bytes;
    packet.requester = this;
    packet.tag = ((first_open_ + open_.size() - 1) << kRequestBits) | request_number_;
    packet.sent_at = now;
    copy.informs = inbound_;
    if (!inbound_) {
        packet.data = taken_.next(source_, piece.bytes, joins_);
    }
    ++copy.unanswered;
    remote_.opened();
    if (ObserverIf* o = core_.listeners().blocks) {
        o->block_sent({packet.requester_card, packet.requester_core, packet.address, packet.bytes, true}, now);
    }
    fabric_->send(std::move(packet), now);
}

void MteChannel::end_of_requests(OpenCopy& copy) {
    const CoreParams& params = core_.params();
    const Picoseconds sent = base_ + params.time(cycles_);
    const Picoseconds apart = params.time(inbound_ ? params.mte.mte2_issue : params.mte.mte3_issue);
    next_work_ = copy.started + apart;
    copy.issued = true;
    read_done_ = sent;
    sending_ = false;
    settle();
    finish_running(sent);
}

void MteChannel::completed(std::uint64_t tag, Picoseconds at, BlockData data) {
    if (!inbound_) {
        // The far card tells it when the store lands, and may be ahead of this one: nothing but the event may change.
        core_.engine().schedule(*this, at, Phase::land, kAnswer | tag);
        return;
    }
    const std::uint64_t number = tag >> kRequestBits;
    const auto request = static_cast<std::uint32_t>(tag & ((1U << kRequestBits) - 1));
    OpenCopy& copy = open_[number - first_open_];
    copy.replies.resize(std::max<std::size_t>(copy.replies.size(), request + 1));
    copy.replies[request] = std::move(data);
    answered(number, at);
}

void MteChannel::answered(std::uint64_t number, Picoseconds at) {
    OpenCopy& copy = open_[number - first_open_];
    --copy.unanswered;
    copy.last = std::max(copy.last, at);
    remote_.answered(at);
    if (sending_ && waiting_place_ && remote() && at < planned_) {
        plan_request();
    }
    settle();
}

void MteChannel::settle() {
    bool any = false;
    while (!open_.empty() && open_.front().issued && open_.front().unanswered == 0) {
        complete(open_.front());
        open_.pop();
        ++first_open_;
        any = true;
    }
    if (!any) {
        return;
    }
    while (!flags_.empty() && flags_.front().after <= first_open_) {
        const WaitingFlag flag = flags_.pop();
        core_.set_flag(flag.flag, std::max(flag.earliest, done_) + flag_hop());
    }
    advance();
}

void MteChannel::complete(OpenCopy& copy) {
    done_ = std::max(done_, copy.last);
    const CopyCall& call = copy.call;
    if (inbound_) {
        Content content = std::move(copy.content);
        for (const BlockData& reply : copy.replies) {
            append(content, reply);
        }
        compact(content);  // a table read cell by cell is one piece of UB from now on
        std::uint32_t at = 0;
        for (const Slice& slice : content) {
            // A slice can run over the gap between two bursts in UB.
            std::uint32_t taken = 0;
            while (taken < slice.length) {
                const std::uint32_t within = at % call.block_bytes;
                const std::uint32_t room =
                    call.ub_stride == call.block_bytes ? slice.length : call.block_bytes - within;
                const std::uint32_t count = std::min(slice.length - taken, room);
                ub_->write(call.ub + at / call.block_bytes * call.ub_stride + within, slice.sub(taken, count), done_);
                taken += count;
                at += count;
            }
        }
    }
    if (ObserverIf* o = core_.listeners().instructions) {
        InstructionEvent event;
        event.core = core_.self();
        event.pipe = pipe_;
        event.sequence = copy.sequence;
        event.what = copy.what;
        event.where = copy.where;
        set_ranges(event, call);
        o->instruction_ended(event, copy.last, Enabler::memory);
    }
    if (ObserverIf* o = core_.listeners().stores) {
        if (!inbound_) {
            o->store_acknowledged(store_event(copy), copy.last);
        } else if (copy.informs) {
            o->learned(core_.self(), copy.last);
        }
    }
}

void MteChannel::flag_reached(const FlagCall& flag, Picoseconds earliest) {
    if (!inbound_ && core_.params().mte.mte3_event == Mte3Event::at_read) {
        core_.set_flag(flag, std::max(earliest, read_done_) + flag_hop());
    } else if (open_.empty()) {
        core_.set_flag(flag, std::max(earliest, done_) + flag_hop());
    } else {
        flags_.push({first_open_ + open_.size(), flag, earliest});
    }
}

std::optional<Picoseconds> MteChannel::work_done() const { return open_.empty() ? std::optional(done_) : std::nullopt; }

void Mte::end_of_elaboration() {
    FabricIf* remote = fabric.size() > 0 ? fabric[0] : nullptr;
    in.connect(*ub[0], *memory[0], remote);
    out.connect(*ub[0], *memory[0], remote);
}

}  // namespace podsim
