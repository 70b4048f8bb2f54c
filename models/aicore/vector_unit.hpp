// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Vector pipe of an AIV core.
///
/// Cost    head (only into an empty pipe) + slope × 256 B repeats (+ count-mode floor, + UB bank conflicts);
///         the result can be read `tail` later, which the next barrier or flag waits for.
/// Data    operands are taken when the instruction starts, the result replaces UB contents when complete.
#include "models/aicore/in_order_pipe.hpp"
#include "models/aicore/unified_buffer.hpp"
#include "models/aicore/vector_result.hpp"

namespace podsim {

struct VectorCost {
    MilliCycles head = 0;
    MilliCycles body = 0;
    MilliCycles tail = 0;
};

/// A call element by element on the scalar unit, for want of the instruction.
inline MilliCycles scalar_loop_cost(const VectorCall& call, const VectorParams& params) {
    return static_cast<MilliCycles>(call.count) * call.pieces * params.scalar_path;
}

/// The vector table of the machine file, looked up by operation and type.
class VectorTable {
public:
    explicit VectorTable(const VectorParams& params);
    /// nullptr: this machine has no such instruction for this type.
    const VectorInstruction* find(VectorOp op, DataType src) const;
    /// Cost of a call that exists.
    VectorCost cost(const VectorCall& call) const;

private:
    MilliCycles conflicts(const VectorCall& call, std::int64_t repeats) const;
    const VectorParams& params_;
    std::vector<const VectorInstruction*> by_op_and_type_;
};

class VectorUnit final : public InOrderPipe {
public:
    VectorUnit(CoreIf& core, const VectorTable& table, VectorResults& results)
        : InOrderPipe(core, Pipe::v), table_(table), results_(results) {}
    void connect(UbIf& ub) { ub_ = &ub; }

    void on_event(Picoseconds now, Phase phase, std::uint64_t tag) override;

private:
    Progress execute(const Instruction& instruction, Picoseconds earliest) override;
    void flag_reached(const FlagCall& flag, Picoseconds earliest) override;
    std::optional<Picoseconds> work_done() const override { return complete_; }
    MilliCycles barrier_cost() const override { return core_.params().vector.barrier; }

    const VectorTable& table_;
    VectorResults& results_;
    UbIf* ub_ = nullptr;
    Picoseconds complete_ = 0;  ///< last result visible
    bool armed_ = false;
};

}  // namespace podsim
