// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/scalar_unit.hpp"

#include "models/engine/error.hpp"

#include <algorithm>
#include <cstring>

namespace podsim {

void ScalarUnit::connect(std::array<InOrderPipe*, 3> v_mte2_mte3, UbIf& ub, MemoryIf& memory, SyncIf& sync,
                         Poller& poller) {
    pipes_ = v_mte2_mte3;
    ub_ = &ub;
    memory_ = &memory;
    sync_ = &sync;
    poller_ = &poller;
}

void ScalarUnit::launch(Task<void> kernel, Picoseconds at) {
    check(finished_, "one kernel at a time");
    kernel_ = std::move(kernel);
    finished_ = false;
    to_start_ = true;
    time_ = at;
    cache_ = {};
    armed_ = true;
    core_.engine().schedule(*this, at, Phase::wake, 0);
}

void ScalarUnit::emit(const Instruction& instruction) {
    program_.push(instruction);
    program_.back().sequence = sequence_++;
}

void ScalarUnit::emit_poll(const PollSpec& spec, const Instruction& instruction) {
    poll_ = &spec;
    emit(instruction);
}

void ScalarUnit::on_event(Picoseconds /*now*/, Phase /*phase*/, std::uint64_t /*tag*/) {
    armed_ = false;
    if (std::exchange(to_start_, false)) {
        running_ = true;
        kernel_.start(trampoline_);
        running_ = false;
    }
    run();
}

void ScalarUnit::run() {
    // A hand-over can come back here through a pipe that frees a place; the outer loop goes on.
    if (running_) {
        return;
    }
    running_ = true;
    while (!finished_ && !busy_ && !armed_) {
        if (!program_.empty()) {
            if (step() == Step::blocked) {
                break;
            }
            continue;
        }
        if (!waiting_kernel_) {
            break;
        }
        // The value it waits for is there.
        trampoline_.transfer(std::exchange(waiting_kernel_, {}));
        trampoline_.run();
    }
    running_ = false;
    if (kernel_.done()) {
        kernel_.check();
    }
}

bool ScalarUnit::at_its_instant() {
    if (time_ <= core_.engine().now()) {
        time_ = core_.engine().now();
        return true;
    }
    armed_ = true;
    core_.engine().schedule(*this, time_, Phase::wake, 0);
    return false;
}

bool ScalarUnit::translated(const Instruction& access) {
    if (access.op != Op::gm_load && access.op != Op::gm_store) {
        return true;
    }
    if (std::exchange(walked_, false) || cache_.find(access.word.address / core_.params().scalar.cache_line)) {
        return true;
    }
    const Picoseconds walk = core_.translate({core_.self().card, access.word.address});
    time_ += walk;
    walked_ = walk > 0;
    return walk == 0 || at_its_instant();
}

ScalarUnit::Step ScalarUnit::hand_over(Instruction& instruction) {
    InOrderPipe& to = pipe(instruction.pipe);
    const auto place = to.place();
    if (!place) {
        return Step::blocked;
    }
    spend(instruction.cycles);
    time_ = std::max(time_, *place);
    instruction.issued = time_;
    ++statistics_.instructions;
    to.push(instruction);  // the program stays as it is meanwhile: run() does not enter itself
    program_.pop();
    return Step::done;
}

ScalarUnit::Step ScalarUnit::wait_all() {
    Picoseconds until = time_;
    for (const InOrderPipe* p : pipes_) {
        const auto drained = p->drained();
        if (!drained) {
            return Step::blocked;
        }
        until = std::max(until, *drained);
    }
    time_ = until + core_.params().time(core_.params().barrier_all);
    observe_order(OrderEvent::Kind::barrier_all, program_.front());
    return Step::done;
}

/// Thousandths of instructions: where the scalar side is work, its cycles; where it waits for a value, load and use.
std::int64_t ScalarUnit::code_of(const Instruction& instruction) const {
    switch (instruction.op) {
        case Op::phase:
        case Op::end:
            return 0;
        case Op::copy:
        case Op::vector:
        case Op::set_flag:
        case Op::wait_flag:
        case Op::barrier:
            return instruction.cycles;
        case Op::cost:
            return instruction.cycles * 1000 / core_.params().scalar.alu.get();
        default:
            return 2'000;
    }
}

ScalarUnit::Step ScalarUnit::step() {
    Instruction& head = program_.front();
    time_ += code_.fetch(head.where, code_of(head));
    if (head.pipe != Pipe::s && head.op != Op::scalar_loop) {
        return hand_over(head);
    }
    switch (head.op) {
        case Op::cost:
            break;
        case Op::phase:
            if (ObserverIf* o = core_.listeners().phases) {
                o->phase_entered(core_.self(), head.what, head.step, time_);
            }
            break;
        case Op::set_flag:
            observe_order(OrderEvent::Kind::set, head);
            core_.set_flag(head.flag, time_ + core_.params().time(core_.params().flag_hop));
            break;
        case Op::wait_flag: {
            const auto fired = core_.take_flag(head, time_);
            if (!fired) {
                return Step::blocked;
            }
            time_ = *fired;
            break;
        }
        case Op::barrier:
            break;  // the scalar unit is in order by itself
        case Op::barrier_all:
            if (wait_all() == Step::blocked) {
                return Step::blocked;
            }
            break;
        case Op::ub_store_value:
            head.word.value = value_;
            [[fallthrough]];
        case Op::ub_store:
            ub_store(head);
            break;
        case Op::end:
            if (wait_all() == Step::blocked) {
                return Step::blocked;
            }
            finished_ = true;
            if (ObserverIf* o = core_.listeners().phases) {
                o->phase_entered(core_.self(), "", true, time_);
            }
            break;
        default: {
            if (head.op == Op::poll && (!pipe(Pipe::v).drained() || !pipe(Pipe::mte2).drained())) {
                return Step::blocked;  // the loop has both pipes to itself
            }
            if (head.op == Op::poll) {
                time_ = std::max({time_, *pipe(Pipe::v).drained(), *pipe(Pipe::mte2).drained()});
            }
            if (!at_its_instant() || !translated(head)) {
                return Step::blocked;
            }
            const Instruction now = head;
            ++statistics_.instructions;
            switch (now.op) {
                case Op::ub_load:
                    ub_load(now);
                    break;
                case Op::scalar_loop:
                    scalar_loop(now);
                    break;
                case Op::gm_load:
                    gm_load(now);
                    break;
                case Op::gm_store:
                    gm_store(now);
                    break;
                case Op::cache_clean:
                    cache_clean(now);
                    break;
                case Op::clock:
                    value_ = static_cast<std::uint64_t>(time_) * core_.params().counter_mhz / 1'000'000;
                    spend(now.cycles);
                    break;
                case Op::sync_all:
                    ++statistics_.sync_alls;
                    statistics_.sync_all_wait -= time_;
                    busy_ = true;
                    sync_->arrive(*this, time_);  // it stays the head until released
                    return Step::done;
                case Op::poll:
                    busy_ = true;
                    program_.pop();
                    if (core_.listeners().instructions != nullptr) {
                        polling_ = now;
                        polled_ = poll_;
                        poll_begun_ = time_;
                    }
                    poller_->begin(*std::exchange(poll_, nullptr), time_, now.where);
                    return Step::done;
                default:
                    throw InternalError("instruction of another pipe in the scalar unit");
            }
            program_.pop();
            return Step::done;
        }
    }
    ++statistics_.instructions;
    spend(head.cycles);
    program_.pop();
    return Step::done;
}

void ScalarUnit::released(Picoseconds at) {
    statistics_.sync_all_wait += at;
    time_ = at;
    observe_learned(at);
    busy_ = false;
    program_.pop();
    // Not here and now: the last core to arrive would run all the others from inside its own step.
    armed_ = true;
    core_.engine().schedule(*this, at, Phase::wake, 0);
}

void ScalarUnit::poll_finished(Picoseconds at) {
    time_ = at;
    busy_ = false;
    observe_poll();
    observe_learned(at);
    run();
}

template <class Touch>
void ScalarUnit::observe(const Instruction& instruction, Touch touch) {
    if (ObserverIf* o = core_.listeners().instructions) {
        InstructionEvent event;
        event.core = core_.self();
        event.pipe = Pipe::s;
        event.sequence = instruction.sequence;
        event.what = instruction.what;
        event.where = instruction.where;
        touch(event);
        o->instruction_started(event, time_);
        o->instruction_ended(event, time_, Enabler::issue);
    }
}

void ScalarUnit::observe_order(OrderEvent::Kind kind, const Instruction& instruction) {
    if (ObserverIf* o = core_.listeners().instructions) {
        const bool flag = kind == OrderEvent::Kind::set;
        o->ordered({core_.self(), kind, Pipe::s, flag ? instruction.flag.to : Pipe::s,
                    flag ? instruction.flag.id : std::uint8_t{0}, instruction.sequence},
                   time_);
    }
}

void ScalarUnit::observe_poll() {
    ObserverIf* o = core_.listeners().instructions;
    if (o == nullptr || polled_ == nullptr) {
        return;
    }
    // The loop as one turn of it: copy, chain, word, each waiting for the one before.
    const PollSpec& spec = *std::exchange(polled_, nullptr);
    InstructionEvent event;
    event.core = core_.self();
    event.sequence = polling_.sequence;
    event.what = polling_.what;
    event.where = polling_.where;
    const auto tell = [&](Pipe pipe) {
        observe_order(OrderEvent::Kind::poll, polling_);
        event.pipe = pipe;
        o->instruction_started(event, poll_begun_);
        o->instruction_ended(event, time_, Enabler::poll);
    };
    const auto tell_copy = [&](const CopyCall& copy) {
        event.writes[0] = {copy.ub, (copy.blocks - 1) * copy.ub_stride + copy.block_bytes};
        event.bursts = copy.blocks;
        event.burst_bytes = copy.block_bytes;
        event.burst_stride = copy.ub_stride;
        tell(Pipe::mte2);
    };
    tell_copy(spec.copy);
    for (const CopyCall& copy : spec.more) {
        tell_copy(copy);
    }
    event.bursts = 1;
    for (const VectorCall& call : spec.chain) {
        tell_ranges(call, event);
        tell(Pipe::v);
    }
    event.reads[0] = {spec.word.offset, (spec.words - 1) * spec.word_pitch + spec.word.length};
    event.bursts = spec.words;
    event.burst_bytes = spec.word.length;
    event.burst_stride = spec.word_pitch;
    event.reads[1] = event.writes[0] = {};
    tell(Pipe::s);
    observe_order(OrderEvent::Kind::poll, polling_);
}

void ScalarUnit::ub_store(const Instruction& instruction) {
    const WordCall& word = instruction.word;
    const auto bytes = std::as_bytes(std::span(&word.value, 1)).first(word.bytes);
    const auto offset = static_cast<std::uint32_t>(word.address);
    observe(instruction, [&](InstructionEvent& event) { event.writes[0] = {offset, word.bytes}; });
    const auto repeated = repeated_word(word.value, word.bytes);
    ub_->write(offset, {repeated ? PayloadRef() : make_bytes(bytes), repeated.value_or(0), word.bytes}, time_);
}

void ScalarUnit::ub_load(const Instruction& instruction) {
    const WordCall& word = instruction.word;
    const auto offset = static_cast<std::uint32_t>(word.address);
    observe(instruction, [&](InstructionEvent& event) { event.reads[0] = {offset, word.bytes}; });
    Content content;
    ub_->read(offset, word.bytes, time_, content);
    value_ = 0;
    copy_bytes(content, std::as_writable_bytes(std::span(&value_, 1)).first(word.bytes));
    spend(instruction.cycles);
}

void ScalarUnit::scalar_loop(const Instruction& instruction) {
    const VectorCall& call = instruction.vector;
    observe(instruction, [&](InstructionEvent& event) { tell_ranges(call, event); });
    const Picoseconds begun = time_;
    spend(instruction.cycles);
    results_.apply(call, *ub_, begun, time_);
    observe_order(OrderEvent::Kind::barrier_all, instruction);  // what comes next is issued after the loop
}

void ScalarUnit::observe_learned(Picoseconds at) {
    if (ObserverIf* o = core_.listeners().stores) {
        o->learned(core_.self(), at);
    }
}

void ScalarUnit::write_back(const DataCache::Entry& entry) {
    memory_->store(core_.self().core, entry.line * core_.params().scalar.cache_line, entry.data, core_.engine().now());
}

DataCache::Entry& ScalarUnit::cached(std::uint64_t address, bool& hit) {
    const ScalarParams& p = core_.params().scalar;
    const std::uint32_t size = p.cache_line;
    const std::uint64_t line = address / size;
    DataCache::Entry* entry = cache_.find(line);
    hit = entry != nullptr;
    if (!hit) {
        Content content;
        const ReadReply reply = memory_->read(core_.self().core, line * size, size, CacheHint::normal, time_, content);
        // gm_load_miss is the whole way on an uncontended L2 hit; what contention and HBM add comes on top.
        time_ += p.gm_load_miss + (reply.ready - time_ - (memory_->hit_latency() - memory_->noc_latency()));
        if (reply.stored) {
            observe_learned(time_);
        }
        if (const auto evicted = cache_.fill(line, joined(content), p.cache_bytes / size)) {
            write_back(*evicted);
        }
        entry = cache_.find(line);
    }
    return *entry;
}

void ScalarUnit::gm_load(const Instruction& instruction) {
    const WordCall& word = instruction.word;
    bool hit = false;
    const DataCache::Entry& entry = cached(word.address, hit);
    value_ = 0;
    const auto within = static_cast<std::uint32_t>(word.address % core_.params().scalar.cache_line);
    copy_bytes(entry.data.sub(within, word.bytes), std::as_writable_bytes(std::span(&value_, 1)).first(word.bytes));
    if (hit) {
        spend(core_.params().scalar.gm_load_hit);
    }
}

void ScalarUnit::gm_store(const Instruction& instruction) {
    const WordCall& word = instruction.word;
    bool hit = false;
    DataCache::Entry& entry = cached(word.address, hit);
    auto bytes = bytes_of(entry.data);
    std::memcpy(bytes.data() + word.address % core_.params().scalar.cache_line, &word.value, word.bytes);
    entry.data = {make_bytes(bytes), 0, static_cast<std::uint32_t>(bytes.size())};
    entry.dirty = true;
    spend(core_.params().scalar.gm_store);
}

void ScalarUnit::cache_clean(const Instruction& instruction) {
    if (const auto dirty = cache_.drop(instruction.word.address / core_.params().scalar.cache_line)) {
        write_back(*dirty);
    }
    time_ += core_.params().scalar.dcci;
}

}  // namespace podsim
