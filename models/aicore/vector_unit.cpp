// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/vector_unit.hpp"

#include "models/engine/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace podsim {

namespace {
constexpr std::size_t kTypes = 10;
std::size_t place(VectorOp op, DataType type) {
    return static_cast<std::size_t>(op) * kTypes + static_cast<std::size_t>(type);
}
}  // namespace

VectorTable::VectorTable(const VectorParams& params) : params_(params), by_op_and_type_(kVectorOps * kTypes, nullptr) {
    for (std::size_t o = 0; o < kVectorOps; ++o) {
        for (std::size_t t = 0; t < kTypes; ++t) {
            for (const VectorInstruction& row : params.instructions) {
                const auto type = name_of(static_cast<DataType>(t));
                if (row.name == name_of(static_cast<VectorOp>(o)) &&
                    std::find(row.types.begin(), row.types.end(), type) != row.types.end()) {
                    by_op_and_type_[o * kTypes + t] = &row;
                }
            }
        }
    }
}

const VectorInstruction* VectorTable::find(VectorOp op, DataType src) const { return by_op_and_type_[place(op, src)]; }

MilliCycles VectorTable::conflicts(const VectorCall& call, std::int64_t repeats) const {
    if (call.src0.length == 0 || call.src1.length == 0) {
        return 0;
    }
    // One repeat reads eight 32 B rows of each source in a cycle; two sources collide unless they lie half
    // the bank groups apart.
    const std::uint32_t groups = params_.bank_groups;
    const std::uint32_t distance =
        (call.src0.offset / kUbGranule + groups - call.src1.offset / kUbGranule % groups) % groups;
    return distance == groups / 2 ? 0 : repeats * params_.bank_conflict;
}

VectorCost VectorTable::cost(const VectorCall& call) const {
    const VectorInstruction* row = find(call.op, call.src_type);
    check(row != nullptr, "the instruction exists on this machine");
    const std::uint32_t width = std::max(size_of(call.src_type), size_of(call.dst_type));
    const std::uint32_t lanes = params_.repeat_bytes / width;
    VectorCost cost{row->head, 0, row->tail};
    if (call.dst_pitch > 0) {
        // A masked repeat serves eight 32 B granules, wherever their stride puts them, or a run of 256 B.
        const std::uint32_t bytes = call.count * width;
        const std::uint32_t repeats = bytes <= kUbGranule ? ceil_div(call.pieces, params_.repeat_bytes / kUbGranule)
                                                          : call.pieces * ceil_div(bytes, params_.repeat_bytes.get());
        cost.body = static_cast<std::int64_t>(repeats) * row->slope;
        return cost;
    }
    if (call.op == VectorOp::reduce_sum || call.op == VectorOp::reduce_max) {
        // Each stage leaves one value per repeat; the next waits for it.
        std::uint32_t left = call.count;
        while (true) {
            const auto repeats = static_cast<std::int64_t>(ceil_div(left, lanes));
            cost.body += repeats * row->slope;
            if (repeats <= 1) {
                break;
            }
            cost.body += row->tail + params_.barrier + row->head;
            left = static_cast<std::uint32_t>(repeats);
        }
    } else {
        const auto repeats = static_cast<std::int64_t>(ceil_div(std::max(call.count, 1U), lanes));
        cost.body = repeats * row->slope + conflicts(call, repeats);
    }
    if (call.count % lanes != 0) {
        cost.body += params_.count_mode_floor;
    }
    return cost;
}

InOrderPipe::Progress VectorUnit::execute(const Instruction& instruction, Picoseconds earliest) {
    const Picoseconds start = std::max(earliest, now());
    if (start > now()) {
        if (!armed_) {
            armed_ = true;
            core_.engine().schedule(*this, start, Phase::wake, 0);
        }
        return Progress::later;
    }
    const VectorCall& call = instruction.vector;
    VectorCost cost = table_.cost(call);
    if (start < complete_) {
        cost.head = 0;  // the pipe is still full of the instruction before
    }
    const CoreParams& params = core_.params();
    next_start_ = start + params.time(cost.head + cost.body);
    complete_ = std::max(complete_, start + params.time(cost.head + cost.body + cost.tail));
    results_.apply(call, *ub_, start, complete_);
    if (ObserverIf* o = core_.listeners().instructions) {
        InstructionEvent event;
        event.core = core_.self();
        event.pipe = Pipe::v;
        event.sequence = instruction.sequence;
        event.what = instruction.what;
        event.where = instruction.where;
        event.enabler = start == instruction.issued ? Enabler::issue : Enabler::pipe;
        tell_ranges(call, event);
        o->instruction_started(event, start);
        o->instruction_ended(event, complete_, Enabler::pipe);
    }
    return Progress::done;
}

void VectorUnit::on_event(Picoseconds /*now*/, Phase /*phase*/, std::uint64_t /*tag*/) {
    armed_ = false;
    advance();
}

void VectorUnit::flag_reached(const FlagCall& flag, Picoseconds earliest) {
    core_.set_flag(flag, std::max(earliest, complete_) + flag_hop());
}

}  // namespace podsim
