// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Who touched which bytes of a Unified Buffer last, as far as a later access could still collide with it.
#include "models/engine/observer.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace podsim {

/// For each pipe: its instructions up to number n (0: none). Numbers ascend along a pipe; they need not follow
/// each other.
using PipeClock = std::array<std::uint32_t, kPipes>;

inline void join(PipeClock& into, const PipeClock& from) {
    for (std::size_t p = 0; p < kPipes; ++p) {
        into[p] = into[p] < from[p] ? from[p] : into[p];
    }
}

/// Instruction `number` of a pipe, about to touch UB, and what is complete before it starts.
struct UbAccess {
    Pipe pipe{};
    std::uint32_t number = 0;
    PipeClock after{};
};

/// An earlier reported access to [from, to) that `UbAccess` is not ordered with.
struct UbConflict {
    Pipe pipe{};
    std::uint32_t number = 0;
    bool other_wrote = false;
    bool wrote = false;  ///< the access at hand
    std::uint32_t from = 0, to = 0;
};

class UbShadow {
public:
    /// Notes the access to `range`; appends to `conflicts` what it is not ordered with.
    void access(const UbAccess& access, UbRange range, bool write, std::vector<UbConflict>& conflicts);
    /// Everything so far is ordered before everything to come.
    void clear();

private:
    /// Bytes with one history. Per pipe the latest access is enough: who comes after it comes after those before.
    struct Cell {
        std::uint32_t begin = 0, end = 0;
        PipeClock read{}, written{};
        bool same_history(const Cell& o) const { return read == o.read && written == o.written; }
    };

    /// In order, without overlaps, inside one stretch of kPageBytes. Strided copies leave a cell a burst: one more
    /// must not move them all. Larger than the pages of UnifiedBuffer, as most cores have few cells.
    using Page = std::vector<Cell>;
    static constexpr std::uint32_t kPageBytes = 8192;

    static void access_page(Page& page, const UbAccess& access, std::uint32_t from, std::uint32_t to, bool write,
                            std::vector<UbConflict>& conflicts);
    static std::size_t open(Page& page, std::uint32_t from, std::uint32_t to);
    static void split(Page& page, std::size_t cell, std::uint32_t at);
    static void merge(Page& page, std::size_t first, std::size_t last);

    std::vector<Page> pages_;  ///< by offset / kPageBytes, as far as was touched
};

}  // namespace podsim
