// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Results of vector instructions as payloads. On values derived from the run's input alone the result is
/// lazy and remembered by (operation, inputs): one token is quantized once on the host however often the
/// kernels pay for it.
#include "models/aicore/vector_ops.hpp"
#include "models/engine/payload.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace podsim {

class UbIf;
class VectorResult;

class VectorResults {
public:
    /// `remember` off: every result is computed at once and shared with nobody (PayloadMode::copying).
    explicit VectorResults(bool remember);
    VectorResults(const VectorResults&) = delete;
    VectorResults& operator=(const VectorResults&) = delete;
    ~VectorResults();

    /// The result of `call` on the given operand contents.
    Slice apply(const VectorCall& call, const Slice& src0, const Slice& src1);
    /// The same in UB, piece by piece where there are several: operands as they are at `from`, the result there at
    /// `to`.
    void apply(const VectorCall& call, UbIf& ub, Picoseconds from, Picoseconds to);
    std::size_t remembered() const { return known_.size(); }
    /// `result` holds its bytes from now on, until many others do.
    void holds(const VectorResult& result);

private:
    static constexpr std::size_t kHeld = 256;

    bool remember_;
    std::vector<std::unique_ptr<const VectorResult>>
        known_;  ///< found again by Payload::derived() of the first operand
    std::deque<const VectorResult*> held_;
};

}  // namespace podsim
