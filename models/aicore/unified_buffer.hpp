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

#include <boost/container/small_vector.hpp>

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
    /// Sorted, not overlapping, inside one stretch of kPageBytes; gaps read as zeros. Flags and striped rows make
    /// extents of 8 B by the hundred: a write must not move them all.
    using Page = std::vector<Extent>;
    static constexpr std::uint32_t kPageBytes = 2048;
    static constexpr std::size_t kGrowth = 4;

    /// Extents that follow each other without a gap, all in one page.
    using Run = boost::container::small_vector<Extent, 32>;

    void settle(Picoseconds now);
    /// Puts `run` in place of what its page has there; leaves it empty.
    void replace(Run& run);
    static void replace_in(Page& page, Run& run);
    /// Appends [offset, end), which lies in one page.
    static void read_page(const Page& page, std::uint32_t offset, std::uint32_t end, Content& out);

    PayloadMode mode_;
    std::vector<Page> pages_;            ///< by offset / kPageBytes, as far as was written
    std::vector<PendingWrite> pending_;  ///< sorted by time, equal times in order of arrival
};

}  // namespace podsim
