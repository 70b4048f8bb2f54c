// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Contents of a card's global memory, by 512 B line, sparse: untouched memory reads as zeros and costs
/// nothing. Addresses are byte offsets below 2^40.
#include "models/engine/error.hpp"
#include "models/engine/payload.hpp"
#include "models/engine/run_modes.hpp"
#include "models/engine/units.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace podsim {

/// One line: at most one extent of non-zero contents (a slice, then a repeated word: as in BlockData), and the state
/// the timing model keeps per line. There are millions: two fit a line of the host's cache.
class Line {
public:
    /// No request to the line starts earlier.
    Picoseconds busy_until() const { return static_cast<Picoseconds>(busy_until_); }
    void set_busy_until(Picoseconds at) {
        check(at >= 0 && at <= kLatest, "simulated time is below 8.7 s");
        busy_until_ = static_cast<std::uint64_t>(at) & static_cast<std::uint64_t>(kLatest);
    }
    /// Who made the last request: 7 bits of the core, and whether it came over the fabric. Two remote cores may look
    /// like one; that spares one of 128 pairs a conflict.
    std::uint8_t requester() const { return static_cast<std::uint8_t>(requester_); }
    void set_requester(std::uint8_t code) { requester_ = code; }
    /// Last store and last read by an MTE in ns, for the diagnosis of a wrong output; beyond 1 ms in steps of 8192 ns.
    std::uint64_t landed_ns() const { return decoded(landed_); }
    std::uint64_t read_ns() const { return decoded(read_); }
    void landed(Picoseconds at) { landed_ = coded(at) & kCode; }
    void read(Picoseconds at) { read_ = coded(at) & kCode; }

    /// The extent covers bytes [begin, end) of the line.
    std::uint32_t begin() const { return static_cast<std::uint32_t>(begin_); }
    std::uint32_t slice_end() const { return static_cast<std::uint32_t>(begin_ + length_); }
    std::uint32_t end() const { return static_cast<std::uint32_t>(begin_ + length_ + word_bytes_); }
    const PayloadRef& payload() const { return payload_; }
    /// Bytes [from, from+count) of the line, which lie in the slice.
    Slice slice(std::uint32_t from, std::uint32_t count) const {
        const std::uint32_t at = from - begin();
        return {payload_, payload_ ? payload_offset_ + at : Slice::turned(payload_offset_, at), count};
    }
    /// Bytes [from, from+count) of the line, which lie behind the slice.
    Slice words(std::uint32_t from, std::uint32_t count) const {
        return {nullptr, Slice::turned(word_, from - slice_end()), count};
    }
    /// Replaces the extent.
    void put(std::uint32_t begin, const BlockData& content);
    /// Wipes the line from byte `from` on, which lies in the extent.
    void shorten(std::uint32_t from);

private:
    static constexpr unsigned kTimeBits = 43;
    static constexpr Picoseconds kLatest = (Picoseconds{1} << kTimeBits) - 1;
    static constexpr std::uint64_t kPlace = 0x3ff;                     ///< 0 … 512
    static constexpr std::uint64_t kCoarse = std::uint64_t{1} << 20U;  ///< marks steps of 8192 ns
    static constexpr std::uint64_t kCode = 2 * kCoarse - 1;
    static constexpr unsigned kCoarseShift = 13;
    static std::uint64_t coded(Picoseconds at) {
        const auto ns = static_cast<std::uint64_t>(at / 1000);
        return ns < kCoarse ? ns : kCoarse | std::min(ns >> kCoarseShift, kCoarse - 1);
    }
    static std::uint64_t decoded(std::uint64_t code) {
        return code < kCoarse ? code : (code - kCoarse) << kCoarseShift;
    }

    PayloadRef payload_;
    std::uint32_t payload_offset_ = 0;
    std::uint32_t word_ = 0;
    std::uint64_t busy_until_ : kTimeBits = 0;
    std::uint64_t begin_ : 10 = 0;
    std::uint64_t length_ : 10 = 0;

public:
    std::uint64_t in_l2 : 1 = 0;

private:
    std::uint64_t word_bytes_ : 10 = 0;
    std::uint64_t landed_ : 21 = 0;
    std::uint64_t read_ : 21 = 0;
    std::uint64_t requester_ : 8 = 0;

public:
    std::uint64_t dirty : 1 = 0;     ///< a store changed it in L2
    std::uint64_t from_hbm : 1 = 0;  ///< the last request waits for HBM
    std::uint64_t watched : 1 = 0;   ///< somebody wants to hear of stores
};
static_assert(sizeof(Line) == 32);

class GmStore {
public:
    explicit GmStore(PayloadMode mode) : mode_(mode) {}

    /// The line's state, made when first asked for; it stays where it is.
    Line& line(std::uint64_t number);
    /// nullptr when the line was never touched.
    const Line* find(std::uint64_t number) const;
    void prefetch(std::uint64_t number) const {
        if (const Line* line = find(number)) {
            __builtin_prefetch(line, 1);
        }
    }

    /// Replaces [offset, offset+data.length()), which lies inside one line.
    void write(std::uint64_t offset, const BlockData& data) {
        write(line(line_of(offset)), static_cast<std::uint32_t>(offset % kBlockBytes), data);
    }
    /// The same of a line at hand: from its byte `from` on.
    void write(Line& target, std::uint32_t from, const BlockData& data) const;
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

    void collect(std::uint64_t offset, std::uint64_t bytes, Content& out) const;

    PayloadMode mode_;
    std::vector<std::unique_ptr<Leaf>> leaves_;
    std::uint64_t lines_touched_ = 0;
};

}  // namespace podsim
