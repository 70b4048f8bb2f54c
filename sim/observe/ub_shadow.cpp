// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/ub_shadow.hpp"

#include <algorithm>

namespace podsim {

namespace {

bool is_before(Pipe pipe, std::uint32_t number, const UbAccess& access) {
    if (pipe == access.pipe && (pipe != Pipe::v || number == access.number)) {
        return true;  // S and each MTE touch UB in order
    }
    return number <= access.after[static_cast<std::size_t>(pipe)];
}

void add(std::vector<UbConflict>& conflicts, const UbConflict& conflict) {
    for (UbConflict& known : conflicts) {
        if (known.pipe == conflict.pipe && known.number == conflict.number &&
            known.other_wrote == conflict.other_wrote && known.wrote == conflict.wrote && known.to == conflict.from) {
            known.to = conflict.to;
            return;
        }
    }
    conflicts.push_back(conflict);
}

}  // namespace

void UbShadow::split(std::size_t cell, std::uint32_t at) {
    Cell right = cells_[cell];
    right.begin = at;
    cells_[cell].end = at;
    cells_.insert(cells_.begin() + static_cast<std::ptrdiff_t>(cell) + 1, right);
}

/// Makes cells that cover exactly [from, to); returns the first.
std::size_t UbShadow::open(std::uint32_t from, std::uint32_t to) {
    auto found = std::partition_point(cells_.begin(), cells_.end(), [from](const Cell& c) { return c.end <= from; });
    auto first = static_cast<std::size_t>(found - cells_.begin());
    if (first < cells_.size() && cells_[first].begin < from) {
        split(first, from);
        ++first;
    }
    std::uint32_t at = from;
    for (std::size_t i = first; at < to; ++i) {
        if (i == cells_.size() || cells_[i].begin > at) {
            const std::uint32_t end = i == cells_.size() ? to : std::min(to, cells_[i].begin);
            Cell fresh;
            fresh.begin = at;
            fresh.end = end;
            cells_.insert(cells_.begin() + static_cast<std::ptrdiff_t>(i), fresh);
        } else if (cells_[i].end > to) {
            split(i, to);
        }
        at = cells_[i].end;
    }
    return first;
}

/// Joins neighbours of one history among cells [first - 1, last].
void UbShadow::merge(std::size_t first, std::size_t last) {
    std::size_t kept = first > 0 ? first - 1 : 0;
    const std::size_t end = std::min(last + 1, cells_.size());
    for (std::size_t i = kept + 1; i < end; ++i) {
        if (cells_[kept].end == cells_[i].begin && cells_[kept].same_history(cells_[i])) {
            cells_[kept].end = cells_[i].end;
        } else if (++kept != i) {
            cells_[kept] = cells_[i];
        }
    }
    if (kept + 1 < end) {
        cells_.erase(cells_.begin() + static_cast<std::ptrdiff_t>(kept) + 1,
                     cells_.begin() + static_cast<std::ptrdiff_t>(end));
    }
}

void UbShadow::access(const UbAccess& access, UbRange range, bool write, std::vector<UbConflict>& conflicts) {
    const std::uint32_t to = range.offset + range.length;
    const std::size_t first = open(range.offset, to);
    const auto self = static_cast<std::size_t>(access.pipe);
    std::size_t i = first;
    for (; i < cells_.size() && cells_[i].begin < to; ++i) {
        Cell& cell = cells_[i];
        for (std::size_t p = 0; p < kPipes; ++p) {
            const auto pipe = static_cast<Pipe>(p);
            if (cell.written[p] > 0) {
                if (!is_before(pipe, cell.written[p], access)) {
                    add(conflicts, {pipe, cell.written[p], true, write, cell.begin, cell.end});
                } else if (write) {
                    cell.written[p] = 0;
                }
            }
            if (cell.read[p] > 0) {
                // Whoever comes after this access comes after what this access comes after.
                if (is_before(pipe, cell.read[p], access)) {
                    cell.read[p] = 0;
                } else if (write) {
                    add(conflicts, {pipe, cell.read[p], false, true, cell.begin, cell.end});
                }
            }
        }
        (write ? cell.written : cell.read)[self] = access.number;
    }
    merge(first, i);
}

}  // namespace podsim
