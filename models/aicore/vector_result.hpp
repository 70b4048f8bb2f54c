// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Results of vector instructions as payloads. On values derived from the run's input alone the result is
/// lazy and remembered by (operation, inputs): one token is quantized once on the host however often the
/// kernels pay for it.
#include "models/aicore/vector_ops.hpp"
#include "models/engine/payload.hpp"

#include <unordered_map>

namespace podsim {

class VectorResults {
public:
    /// `remember` off: every result is computed at once and shared with nobody (PayloadMode::copying).
    explicit VectorResults(bool remember) : remember_(remember) {}

    /// The result of `call` on the given operand contents.
    Slice apply(const VectorCall& call, const Slice& src0, const Slice& src1);
    std::size_t remembered() const { return known_.size(); }

private:
    struct Key {
        VectorCall call;  ///< with UB ranges reduced to lengths
        Slice src0, src1;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };

    bool remember_;
    std::unordered_map<Key, PayloadRef, Hash> known_;
};

}  // namespace podsim
