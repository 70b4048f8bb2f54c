// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Contents of a card's global memory, by 512 B line, sparse: untouched memory reads as zeros and costs
/// nothing. Addresses are byte offsets below 2^40.
#include "models/engine/payload.hpp"
#include "models/engine/run_modes.hpp"
#include "models/engine/units.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace podsim {

/// One line: at most one extent of non-zero contents, and the state the timing model keeps per line.
struct Line {
    PayloadRef payload;
    std::uint32_t payload_offset = 0;  ///< as in Slice
    std::uint32_t begin : 10 = 0;      ///< the slice covers bytes [begin, begin + length) of the line
    std::uint32_t length : 10 = 0;
    std::uint32_t in_l2 : 1 = 0;
    std::uint32_t dirty : 1 = 0;  ///< a store changed it in L2
    std::uint32_t watched : 1 = 0;
    Picoseconds busy_until = 0;   ///< the next request to the line starts no earlier
    std::uint32_t landed_ns = 0;  ///< last store, for the diagnosis of a wrong output; saturates at 4.29 s
    std::uint32_t read_ns = 0;    ///< last read by an MTE
    std::uint32_t word = 0;       ///< fills what follows the slice: as in BlockData
    std::uint32_t word_bytes = 0;

    std::uint32_t slice_end() const { return std::uint32_t{begin} + length; }
    std::uint32_t end() const { return slice_end() + word_bytes; }
};

class GmStore {
public:
    explicit GmStore(PayloadMode mode) : mode_(mode) {}

    /// The line's state, made when first asked for.
    Line& line(std::uint64_t number);
    /// nullptr when the line was never touched.
    const Line* find(std::uint64_t number) const;
    Line* find(std::uint64_t number);

    /// Replaces [offset, offset+data.length()), which lies inside one line; returns that line.
    Line& write(std::uint64_t offset, const BlockData& data);
    /// Appends the contents of [offset, offset+bytes) to `out`; any length.
    void read(std::uint64_t offset, std::uint64_t bytes, Content& out) const;
    /// The same of a line at hand: appends its bytes [from, from+count).
    void read(const Line& line, std::uint32_t from, std::uint32_t count, Content& out) const;

    std::uint64_t lines_touched() const { return lines_touched_; }

private:
    // Three levels: windows are huge and sparsely used, so leaves are small.
    static constexpr std::uint64_t kLinesPerPage = 16;
    static constexpr std::uint64_t kPagesPerLeaf = 16;
    struct Page {
        std::array<Line, kLinesPerPage> lines;
    };
    struct Leaf {
        std::array<std::unique_ptr<Page>, kPagesPerLeaf> pages;
    };

    static void put(Line& target, std::uint32_t begin, const BlockData& content);
    /// Wipes the line from byte `from` on.
    static void shorten(Line& target, std::uint32_t from);
    void collect(std::uint64_t offset, std::uint64_t bytes, Content& out) const;

    PayloadMode mode_;
    std::vector<std::unique_ptr<Leaf>> leaves_;
    std::uint64_t lines_touched_ = 0;
};

}  // namespace podsim
