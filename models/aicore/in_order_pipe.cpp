// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/in_order_pipe.hpp"

#include <algorithm>

namespace podsim {

void InOrderPipe::push(const Instruction& instruction) {
    queue_.push(instruction);
    ++taken_;
    advance();
}

std::optional<Picoseconds> InOrderPipe::place() const {
    const std::uint32_t depth = core_.params().mte.queue_depth;
    if (queue_.size() >= depth) {
        return std::nullopt;
    }
    return taken_ < depth ? 0 : left_[(taken_ - depth) % depth];
}

void InOrderPipe::advance() {
    // Setting a flag or freeing a place can come back here through another pipe; the outer loop goes on.
    if (advancing_) {
        return;
    }
    advancing_ = true;
    while (step()) {
    }
    advancing_ = false;
    if (queue_.empty() && !running_ && work_done()) {
        core_.pipe_settled();
    }
}

bool InOrderPipe::step() {
    if (running_ || queue_.empty()) {
        return false;
    }
    // Stays where it is while nothing is pushed: setting a flag and freeing a place may push.
    const Instruction& head = queue_.front();
    const Picoseconds earliest = std::max(head.issued, next_start_);
    Picoseconds freed = earliest;
    switch (head.op) {
        case Op::wait_flag: {
            const auto fired = core_.take_flag(head, earliest);
            if (!fired) {
                return false;
            }
            next_start_ = freed = *fired;
            break;
        }
        case Op::set_flag:
            next_start_ = earliest;
            if (ObserverIf* o = core_.listeners().instructions) {
                o->ordered(
                    {core_.self(), OrderEvent::Kind::set, head.flag.from, head.flag.to, head.flag.id, head.sequence},
                    earliest);
            }
            flag_reached(FlagCall(head.flag), earliest);
            break;
        case Op::barrier: {
            const auto done = work_done();
            if (!done) {
                return false;
            }
            next_start_ = freed = std::max(earliest, *done) + core_.params().time(barrier_cost());
            if (ObserverIf* o = core_.listeners().instructions) {
                o->ordered({core_.self(), OrderEvent::Kind::barrier_pipe, pipe_, pipe_, 0, head.sequence}, next_start_);
            }
            break;
        }
        default: {
            freed = std::max(earliest, next_work_);
            const Progress progress = execute(head, freed);
            if (progress == Progress::later) {
                return false;
            }
            running_ = progress == Progress::running;
            break;
        }
    }
    queue_.pop();
    left_.resize(core_.params().mte.queue_depth);
    left_[gone_++ % left_.size()] = freed;
    core_.place_freed();
    return true;
}

void InOrderPipe::finish_running(Picoseconds next_start) {
    running_ = false;
    next_start_ = next_start;
    advance();
}

std::optional<Picoseconds> InOrderPipe::drained() const {
    if (running_ || !queue_.empty()) {
        return std::nullopt;
    }
    const auto done = work_done();
    return done ? std::optional(std::max(*done, next_start_)) : std::nullopt;
}

}  // namespace podsim
