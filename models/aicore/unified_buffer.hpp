// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Unified Buffer of one AIV core: contents in simulated time.
///
/// A write given now for a later instant replaces the contents then; a read takes what is there at its own
/// instant. Without a flag or barrier between them the race is real: whoever comes first wins.
#include "models/engine/observer.hpp"
#include "models/engine/payload.hpp"
#include "models/engine/systemc.hpp"
#include "models/engine/units.hpp"
#include "models/memory/gm_store.hpp"

#include <vector>

namespace podsim {

class UbIf : public virtual sc_core::sc_interface {
public:
    /// Contents of [offset, offset+length) at `now`. Reads come in time order; appends to `out`.
    virtual void read(std::uint32_t offset, std::uint32_t length, Picoseconds now, Content& out) = 0;
    /// `data` replaces the contents at `at`, which is not before the last read.
    virtual void write(std::uint32_t offset, Slice data, Picoseconds at) = 0;
    /// Contents of `range` at `now` as one slice, nothing for an empty range: an operand of a vector operation.
    Slice operand(const UbRange& range, Picoseconds now);
};

class UnifiedBuffer final : public sc_core::sc_module, private UbIf {
public:
    sc_core::sc_export<UbIf> port{"port"};

    UnifiedBuffer(const sc_core::sc_module_name& name, PayloadMode mode) : sc_module(name), mode_(mode) {
        port.bind(*this);
    }

private:
    struct Extent {
        std::uint32_t begin = 0;
        Slice data;
        std::uint32_t end() const { return begin + data.length; }
    };
    struct PendingWrite {
        Picoseconds at = 0;
        Extent extent;
    };

    void read(std::uint32_t offset, std::uint32_t length, Picoseconds now, Content& out) override;
    void write(std::uint32_t offset, Slice data, Picoseconds at) override;
    void settle(Picoseconds now);
    void replace(Extent extent);

    PayloadMode mode_;
    std::vector<Extent> extents_;        ///< sorted, not overlapping; gaps read as zeros
    std::vector<PendingWrite> pending_;  ///< sorted by time, equal times in order of arrival
};

}  // namespace podsim
