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

void UbShadow::split(Page& page, std::size_t cell, std::uint32_t at) {
    Cell right = page[cell];
    right.begin = at;
    page[cell].end = at;
    page.insert(page.begin() + static_cast<std::ptrdiff_t>(cell) + 1, right);
}

/// Makes cells that cover exactly [from, to); returns the first.
std::size_t UbShadow::open(Page& page, std::uint32_t from, std::uint32_t to) {
    auto found = std::partition_point(page.begin(), page.end(), [from](const Cell& c) { return c.end <= from; });
    auto first = static_cast<std::size_t>(found - page.begin());
    if (first < page.size() && page[first].begin < from) {
        split(page, first, from);
        ++first;
    }
    std::uint32_t at = from;
    for (std::size_t i = first; at < to; ++i) {
        if (i == page.size() || page[i].begin > at) {
            const std::uint32_t end = i == page.size() ? to : std::min(to, page[i].begin);
            Cell fresh;
            fresh.begin = at;
            fresh.end = end;
            page.insert(page.begin() + static_cast<std::ptrdiff_t>(i), fresh);
        } else if (page[i].end > to) {
            split(page, i, to);
        }
        at = page[i].end;
    }
    return first;
}

/// Joins neighbours of one history among cells [first - 1, last].
void UbShadow::merge(Page& page, std::size_t first, std::size_t last) {
    std::size_t kept = first > 0 ? first - 1 : 0;
    const std::size_t end = std::min(last + 1, page.size());
    for (std::size_t i = kept + 1; i < end; ++i) {
        if (page[kept].end == page[i].begin && page[kept].same_history(page[i])) {
            page[kept].end = page[i].end;
        } else if (++kept != i) {
            page[kept] = page[i];
        }
    }
    if (kept + 1 < end) {
        page.erase(page.begin() + static_cast<std::ptrdiff_t>(kept) + 1,
                   page.begin() + static_cast<std::ptrdiff_t>(end));
    }
}

void UbShadow::clear() {
    for (Page& page : pages_) {
        page.clear();
    }
}

void UbShadow::access(const UbAccess& access, UbRange range, bool write, std::vector<UbConflict>& conflicts) {
    const std::uint32_t to = range.offset + range.length;
    const std::size_t pages = (to + kPageBytes - 1) / kPageBytes;
    if (pages > pages_.size()) {
        pages_.resize(pages);
    }
    for (std::uint32_t from = range.offset; from < to;) {
        const std::uint32_t page = from / kPageBytes;
        const std::uint32_t stop = std::min(to, (page + 1) * kPageBytes);
        access_page(pages_[page], access, from, stop, write, conflicts);
        from = stop;
    }
}

void UbShadow::access_page(Page& page, const UbAccess& access, std::uint32_t from, std::uint32_t to, bool write,
                           std::vector<UbConflict>& conflicts) {
    const std::size_t first = open(page, from, to);
    const auto self = static_cast<std::size_t>(access.pipe);
    std::size_t i = first;
    for (; i < page.size() && page[i].begin < to; ++i) {
        Cell& cell = page[i];
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
    merge(page, first, i);
}

}  // namespace podsim
