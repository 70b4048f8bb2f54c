// SPDX-License-Identifier: Apache-2.0
#include "algorithms/kernel_api/aiv.hpp"

#include "models/engine/error.hpp"

#include <fmt/format.h>

namespace podsim {

namespace {

struct PipePair {
    Pipe from, to;
};

PipePair pipes_of(HardEvent event) {
    switch (event) {
        case HardEvent::MTE2_V:
            return {Pipe::mte2, Pipe::v};
        case HardEvent::MTE2_S:
            return {Pipe::mte2, Pipe::s};
        case HardEvent::MTE2_MTE3:
            return {Pipe::mte2, Pipe::mte3};
        case HardEvent::V_MTE2:
            return {Pipe::v, Pipe::mte2};
        case HardEvent::V_MTE3:
            return {Pipe::v, Pipe::mte3};
        case HardEvent::V_S:
            return {Pipe::v, Pipe::s};
        case HardEvent::MTE3_MTE2:
            return {Pipe::mte3, Pipe::mte2};
        case HardEvent::MTE3_V:
            return {Pipe::mte3, Pipe::v};
        case HardEvent::MTE3_S:
            return {Pipe::mte3, Pipe::s};
        case HardEvent::S_V:
            return {Pipe::s, Pipe::v};
        case HardEvent::S_MTE2:
            return {Pipe::s, Pipe::mte2};
        case HardEvent::S_MTE3:
            return {Pipe::s, Pipe::mte3};
    }
    throw InternalError("unknown HardEvent");
}

}  // namespace

void Aiv::refuse(const char* what, Where where, const std::string& text) const {
    throw KernelError(fmt::format("{}:{}: card {} core {}: {}: {}", where.file_name(), where.line(), index(self().card),
                                  index(self().core), what, text));
}

Instruction Aiv::instruction(Op op, const char* what, Where where) const {
    Instruction i;
    i.op = op;
    i.what = what;
    i.where = where;
    return i;
}

std::uint32_t Aiv::reserve(std::uint64_t bytes, Where where) {
    const std::uint64_t top = align_up<std::uint64_t>(ub_top_ + bytes, kUbGranule);
    const std::uint32_t size = core_.params().ub_bytes;
    if (top > size) {
        refuse("Alloc", where,
               fmt::format("{} B more than the {} B of the Unified Buffer that are left (of {} B)", bytes,
                           size - ub_top_, size));
    }
    const std::uint32_t at = ub_top_;
    ub_top_ = static_cast<std::uint32_t>(top);
    return at;
}

void Aiv::whole_granules(std::uint32_t ub, std::uint64_t bytes, const char* what, Where where) const {
    if (bytes % kUbGranule != 0 || ub % kUbGranule != 0) {
        refuse(what, where,
               fmt::format("{} B at UB offset {}: DataCopy moves whole 32 B granules (DataCopyPad takes any length)",
                           bytes, ub));
    }
}

CopyCall Aiv::checked_copy(Pipe pipe, std::uint32_t ub, GmAddress gm, const DataCopyExtParams& p, const char* what,
                           Where where) const {
    if (p.block_count == 0 || p.block_len == 0) {
        refuse(what, where,
               fmt::format("{} blocks of {} B: an empty copy is undefined on hardware", p.block_count, p.block_len));
    }
    if (ub % kUbGranule != 0) {
        refuse(what, where, fmt::format("UB offset {} is not 32 B aligned", ub));
    }
    const bool inbound = pipe == Pipe::mte2;
    const std::uint64_t gm_gap = inbound ? p.src_stride : p.dst_stride;
    const std::uint64_t ub_gap = inbound ? p.dst_stride : p.src_stride;
    CopyCall call;
    call.gm = gm;
    call.ub = ub;
    call.blocks = p.block_count;
    call.block_bytes = p.block_len;
    call.gm_stride = p.block_len + gm_gap;
    call.ub_stride = align_up(p.block_len, kUbGranule) + static_cast<std::uint32_t>(ub_gap * kUbGranule);
    if (p.block_count == 1) {
        call.gm_stride = call.ub_stride = p.block_len;
    }
    const std::uint64_t ub_end = ub + static_cast<std::uint64_t>(call.blocks - 1) * call.ub_stride + call.block_bytes;
    if (ub_end > core_.params().ub_bytes) {
        refuse(what, where,
               fmt::format("ends at UB offset {}, beyond the {} B buffer", ub_end, core_.params().ub_bytes));
    }
    const std::uint64_t gm_end = gm.offset + (call.blocks - 1) * call.gm_stride + call.block_bytes;
    if (index(gm.card) >= cards_ || gm_end > gm_bytes_) {
        refuse(what, where,
               fmt::format("card {} offset {:#x}..{:#x}: MTE DDR address out of range", index(gm.card), gm.offset,
                           gm_end));
    }
    return call;
}

void Aiv::copy(Pipe pipe, std::uint32_t ub, GmAddress gm, const DataCopyExtParams& p, CacheHint hint, const char* what,
               Where where, Announces announces) {
    if (announces.bytes > 0 && announces.first.card != gm.card) {
        refuse(
            what, where,
            fmt::format("a flag on card {} announces memory of card {}", index(gm.card), index(announces.first.card)));
    }
    Instruction i = instruction(Op::copy, what, where);
    i.pipe = pipe;
    i.cycles = core_.params().scalar.copy_issue;
    i.copy = checked_copy(pipe, ub, gm, p, what, where);
    i.copy.hint = hint;
    i.copy.announced = announces.first.offset;
    i.copy.announced_bytes = announces.bytes;
    core_.scalar().emit(i);
}

VectorCall Aiv::checked_vector(VectorCall call, Where where) const {
    const char* what = name_of(call.op).data();
    if (call.count == 0) {
        refuse(what, where, "0 elements");
    }
    call.dst.length = result_bytes(call);
    if (!defined(call)) {
        refuse(what, where,
               fmt::format("is not defined from {} to {}", name_of(call.src_type), name_of(call.dst_type)));
    }
    if (call.dst_pitch > 0) {
        check_pieces(call, where);
        call.dst.length += (call.pieces - 1) * call.dst_pitch;
    }
    for (const UbRange& range : {call.dst, call.src0, call.src1}) {
        if (range.length == 0) {
            continue;
        }
        if (call.dst_pitch == 0 && range.offset % kUbGranule != 0) {
            refuse(what, where, fmt::format("operand at UB offset {} is not 32 B aligned", range.offset));
        }
        if (range.offset + range.length > core_.params().ub_bytes) {
            refuse(what, where,
                   fmt::format("operand ends at UB offset {}, beyond the {} B buffer", range.offset + range.length,
                               core_.params().ub_bytes));
        }
    }
    return call;
}

void Aiv::check_pieces(const VectorCall& call, Where where) const {
    const std::uint32_t bytes = call.count * size_of(call.dst_type);
    const std::uint32_t to = call.dst.offset % kUbGranule;
    const std::uint32_t from = call.src0.length > 0 ? call.src0.offset % kUbGranule : to;
    // A mask leaves out lanes, it moves none: what starts inside a granule ends in it, at the same place.
    const bool masked = from == to && to + bytes <= kUbGranule;
    const bool whole = from == 0 && to == 0 && bytes % kUbGranule == 0 && bytes <= core_.params().vector.repeat_bytes;
    if ((!masked && !whole) || call.src_pitch % kUbGranule != 0 || call.dst_pitch % kUbGranule != 0) {
        refuse(name_of(call.op).data(), where,
               fmt::format("pieces of {} B from UB offset {} to {}, {} and {} B apart: neither lanes of one 32 B "
                           "granule nor whole granules of one repeat",
                           bytes, call.src0.offset, call.dst.offset, call.src_pitch, call.dst_pitch));
    }
}

void Aiv::vector(const VectorCall& call, Where where) {
    const char* what = name_of(call.op).data();
    Instruction i = instruction(Op::vector, what, where);
    i.vector = checked_vector(call, where);
    if (has_instruction(call, what, where)) {
        i.pipe = Pipe::v;
        i.cycles = core_.params().scalar.vector_issue;
    } else {
        // The vector unit's results must be there first, and its next instructions wait for the loop.
        PipeBarrierAll(where);
        i.op = Op::scalar_loop;
        i.cycles = scalar_loop_cost(call, core_.params().vector);
    }
    core_.scalar().emit(i);
}

bool Aiv::has_instruction(const VectorCall& call, const char* what, Where where) const {
    const bool has = core_.vector_table().find(call.op, call.src_type) != nullptr;
    if (!has && core_.params().vector.scalar_path.peek() == 0) {
        refuse(what, where, fmt::format("this machine has no such instruction for {}", name_of(call.src_type)));
    }
    return has;
}

void Aiv::flag(Op op, HardEvent event, std::uint8_t id, const char* what, Where where) {
    const PipePair pair = pipes_of(event);
    if (id >= core_.params().event_ids) {
        refuse(what, where,
               fmt::format("event id {}: this machine has {} per pipe pair", id, core_.params().event_ids.get()));
    }
    Instruction i = instruction(op, what, where);
    i.pipe = op == Op::set_flag ? pair.from : pair.to;
    i.cycles = core_.params().scalar.flag_issue;
    i.flag = {pair.from, pair.to, id};
    core_.scalar().emit(i);
}

void Aiv::barrier(Pipe pipe, Where where) {
    Instruction i = instruction(Op::barrier, "PipeBarrier", where);
    i.pipe = pipe;
    i.cycles = core_.params().scalar.flag_issue;
    core_.scalar().emit(i);
}

void Aiv::PipeBarrierAll(Where where) { core_.scalar().emit(instruction(Op::barrier_all, "PipeBarrier<ALL>", where)); }

void Aiv::SyncAll(Where where) {
    PipeBarrierAll(where);
    core_.scalar().emit(instruction(Op::sync_all, "SyncAll", where));
}

void Aiv::Alu(std::uint32_t n, Where where) {
    Instruction i = instruction(Op::cost, "Alu", where);
    i.cycles = n * core_.params().scalar.alu;
    core_.scalar().emit(i);
}

void Aiv::word(Op op, std::uint64_t address, std::uint32_t bytes, std::uint64_t value, MilliCycles cycles,
               const char* what, Where where) {
    if (op == Op::ub_load || op == Op::ub_store || op == Op::ub_store_value) {
        if (address % bytes != 0) {
            refuse(what, where, fmt::format("UB offset {} is not aligned to the {} B of its type", address, bytes));
        }
        if (address + bytes > core_.params().ub_bytes) {
            refuse(what, where,
                   fmt::format("UB offset {} is beyond the {} B buffer", address, core_.params().ub_bytes.get()));
        }
    }
    Instruction i = instruction(op, what, where);
    i.cycles = cycles;
    i.word = {address, value, bytes};
    core_.scalar().emit(i);
}

void Aiv::own_card(GmAddress address, std::uint32_t bytes, const char* what, Where where) const {
    if (address.card != self().card) {
        refuse(what, where, "a scalar access goes to the own card's memory only");
    }
    if (address.offset % bytes != 0) {
        refuse(what, where, fmt::format("offset {:#x} is not aligned to the {} B of its type", address.offset, bytes));
    }
    if (address.offset + bytes > gm_bytes_) {
        refuse(what, where, fmt::format("offset {:#x}: address out of range", address.offset));
    }
}

Aiv::ValueOf<std::int64_t> Aiv::GetSystemCycle(Where where) {
    Instruction i = instruction(Op::clock, "GetSystemCycle", where);
    i.cycles = core_.params().scalar.alu;
    core_.scalar().emit(i);
    return ValueOf<std::int64_t>(core_.scalar());
}

Aiv::ValueOf<std::uint64_t> Aiv::PollUntil(const PollSpec& spec, Where where) {
    for (const VectorCall& call : spec.chain) {
        has_instruction(call, spec.what, where);
    }
    core_.scalar().emit_poll(spec, instruction(Op::poll, spec.what, where));
    return ValueOf<std::uint64_t>(core_.scalar());
}

void Aiv::StampPhases(GlobalTensor<std::int64_t> to, std::uint32_t most, Where where) {
    ub_top_ = 0;
    stamp_buffer_ = {reserve(static_cast<std::uint64_t>(most) * sizeof(std::int64_t), where), most};
    ub_floor_ = ub_top_;
    stamps_to_ = to;
    stamps_ = stamps_sent_ = stamps_lost_ = 0;
}

void Aiv::mark(const char* phase, bool step, Where where) {
    Instruction marker = instruction(Op::phase, phase, where);
    marker.step = step;
    core_.scalar().emit(marker);
}

void Aiv::stamp(const char* phase, Where where) {
    if (stamps_ == 0) {
        mark(phase, true, where);  // a core starts when it starts, not after its first stamp's barrier
        PipeBarrierAll(where);
    } else {
        PipeBarrierAll(where);
        mark(phase, true, where);
    }
    // The value goes to UB as it is read: a kernel would wait for it, and so does the scalar unit.
    Instruction clock = instruction(Op::clock, "GetSystemCycle", where);
    clock.cycles = core_.params().scalar.alu;
    core_.scalar().emit(clock);
    word(Op::ub_store_value, stamp_buffer_[stamps_].offset, sizeof(std::int64_t), 0, core_.params().scalar.ub_store,
         "SetValue", where);
    ++stamps_;
}

void Aiv::Phase(const char* name, Where where) {
    if (stamp_buffer_.count == 0) {
        mark(name, true, where);
    } else if (stamps_ + 1 < stamp_buffer_.count) {
        stamp(name, where);
    } else {  // the last place is End()'s
        ++stamps_lost_;
        mark(name, true, where);
    }
}

void Aiv::End(Where where) {
    if (stamp_buffer_.count > 0) {
        stamp("stamps.write", where);
        PipeBarrierAll(where);
        DataCopyPad(stamps_to_, stamp_buffer_, {1, static_cast<std::uint32_t>(stamps_ * sizeof(std::int64_t)), 0, 0},
                    where);
        stamps_sent_ = stamps_;
    }
    core_.scalar().emit(instruction(Op::end, "end of kernel", where));
}

}  // namespace podsim
