// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/aiv_core.hpp"

#include "models/engine/error.hpp"

#include <fmt/format.h>

namespace podsim {

AivCore::AivCore(const sc_core::sc_module_name& name, CoreRef self, const CoreShared& shared)
    : sc_module(name),
      CoreIf(*shared.params, self, shared.listeners),
      ub("ub", shared.payload),
      mte("mte", *this),
      table_(*shared.table),
      translation_(shared.params->translation),
      scalar_(*this, *shared.results, *shared.sites),
      vector_(*this, *shared.table, *shared.results),
      poller_(*this, scalar_, *shared.table, *shared.results, shared.polling, *shared.census) {
    mte.ub.bind(ub.port);
}

void AivCore::end_of_elaboration() {
    set_engine(*engine_port[0]);
    UbIf& buffer = *ub.port.operator->();
    for (Unit* unit : {static_cast<Unit*>(&scalar_), static_cast<Unit*>(&vector_), static_cast<Unit*>(&mte.in),
                       static_cast<Unit*>(&mte.out), static_cast<Unit*>(&poller_)}) {
        engine().register_unit(*unit, self().card);
    }
    vector_.connect(buffer);
    poller_.connect(buffer, *memory[0]);
    scalar_.connect({&vector_, &mte.in, &mte.out}, buffer, *memory[0], *sync[0], poller_);
}

void AivCore::set_flag(const FlagCall& flag, Picoseconds at) {
    if (ObserverIf* o = listeners().instructions) {
        o->ordered({self(), OrderEvent::Kind::fired, flag.from, flag.to, flag.id, 0}, at);
    }
    if (!flags_.set(flag, at, engine().now())) {
        throw KernelError(
            fmt::format("card {} core {}: SetFlag<{}_{}>({}) a third time before the first was waited for",
                        index(self().card), index(self().core), name_of(flag.from), name_of(flag.to), flag.id));
    }
    switch (flag.to) {
        case Pipe::s:
            scalar_.flag_fired();
            break;
        case Pipe::v:
            vector_.advance();
            break;
        case Pipe::mte2:
            mte.in.advance();
            break;
        case Pipe::mte3:
            mte.out.advance();
            break;
    }
}

std::optional<Picoseconds> AivCore::take_flag(const Instruction& wait, Picoseconds earliest) {
    bool lost = false;
    const auto at = flags_.take(wait.flag, earliest, lost);
    if (lost) {
        kernel_error(wait, "the flag was set twice before this WaitFlag: one of the two is lost");
    }
    if (ObserverIf* o = listeners().instructions; o != nullptr && at) {
        o->ordered({self(), OrderEvent::Kind::wait, wait.flag.from, wait.flag.to, wait.flag.id, wait.sequence}, *at);
    }
    return at;
}

void AivCore::kernel_error(const Instruction& instruction, const std::string& text) const {
    throw KernelError(fmt::format("{}:{}: card {} core {}: {}: {}", instruction.where.file_name(),
                                  instruction.where.line(), index(self().card), index(self().core), instruction.what,
                                  text));
}

namespace {

std::string describe(const Instruction& i) {
    const std::string where = fmt::format("{}:{}", i.where.file_name(), i.where.line());
    switch (i.op) {
        case Op::wait_flag:
            return fmt::format("WaitFlag<{}_{}>({}) at {}", name_of(i.flag.from), name_of(i.flag.to), i.flag.id, where);
        case Op::barrier_all:
        case Op::end:
            return fmt::format("all pipes to drain at {}", where);
        case Op::barrier:
            return fmt::format("PipeBarrier<{}> at {}", name_of(i.pipe), where);
        default:
            return fmt::format("{} at {}", i.what, where);
    }
}

}  // namespace

std::string AivCore::waits_for() const {
    if (const PollSpec* poll = poller_.active()) {
        const std::uint64_t bytes = (poll->copy.blocks - 1) * poll->copy.gm_stride + poll->copy.block_bytes;
        return fmt::format("{} on GM [{:#x}, {:#x}) of its card at {}:{}", poll->what, poll->copy.gm.offset,
                           poll->copy.gm.offset + bytes, poller_.where().file_name(), poller_.where().line());
    }
    if (const Instruction* head = scalar_.head()) {
        std::string text = describe(*head);
        for (const InOrderPipe* pipe :
             {static_cast<const InOrderPipe*>(&vector_), static_cast<const InOrderPipe*>(&mte.in),
              static_cast<const InOrderPipe*>(&mte.out)}) {
            if (const Instruction* blocked = pipe->head()) {
                text += fmt::format("; {} stands at {}", name_of(blocked->pipe), describe(*blocked));
            }
        }
        return text;
    }
    return "nothing: its kernel returned without End()";
}

}  // namespace podsim
