// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/unified_buffer.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace podsim {

Slice UbIf::operand(const UbRange& range, Picoseconds now) {
    if (range.length == 0) {
        return {};
    }
    Content content;
    read(range.offset, range.length, now, content);
    return joined(content);
}

void UnifiedBuffer::read(std::uint32_t offset, std::uint32_t length, Picoseconds now, Content& out) {
    settle(now);
    const std::uint32_t end = offset + length;
    while (offset < end) {
        const std::size_t page = offset / kPageBytes;
        if (page >= pages_.size()) {
            append(out, {nullptr, 0, end - offset});
            return;
        }
        const std::uint32_t stop = std::min(end, static_cast<std::uint32_t>((page + 1) * kPageBytes));
        read_page(pages_[page], offset, stop, out);
        offset = stop;
    }
}

void UnifiedBuffer::read_page(const Page& page, std::uint32_t offset, std::uint32_t end, Content& out) {
    auto it = std::upper_bound(page.begin(), page.end(), offset,
                               [](std::uint32_t at, const Extent& e) { return at < e.end(); });
    for (; offset < end; ++it) {
        if (it == page.end() || it->begin >= end) {
            append(out, {nullptr, 0, end - offset});
            return;
        }
        if (it->begin > offset) {
            append(out, {nullptr, 0, it->begin - offset});
            offset = it->begin;
        }
        const std::uint32_t count = std::min(end, it->end()) - offset;
        append(out, it->data.sub(offset - it->begin, count));
        offset += count;
    }
}

void UnifiedBuffer::write(std::uint32_t offset, Slice data, Picoseconds at) {
    if (data.length == 0) {
        return;
    }
    if (mode_ == PayloadMode::copying) {
        data = {make_bytes(bytes_of(data)), 0, data.length};
    }
    PendingWrite write{at, {offset, std::move(data)}};
    auto place = pending_.end();
    while (place != pending_.begin() && std::prev(place)->at > at) {
        --place;
    }
    pending_.insert(place, std::move(write));
}

void UnifiedBuffer::settle(Picoseconds now) {
    auto done = pending_.begin();
    while (done != pending_.end() && done->at <= now) {
        replace(std::move(done->extent));
        ++done;
    }
    pending_.erase(pending_.begin(), done);
}

void UnifiedBuffer::replace(Extent extent) {
    const std::size_t last = (extent.end() - 1) / kPageBytes;
    if (last >= pages_.size()) {
        pages_.resize(last + 1);
    }
    for (std::size_t page = extent.begin / kPageBytes; page < last; ++page) {
        const auto count = static_cast<std::uint32_t>((page + 1) * kPageBytes) - extent.begin;
        replace_in(pages_[page], {extent.begin, extent.data.sub(0, count)});
        extent = {extent.begin + count, extent.data.sub(count, extent.data.length - count)};
    }
    replace_in(pages_[last], std::move(extent));
}

void UnifiedBuffer::replace_in(Page& page, Extent extent) {
    auto first = std::upper_bound(page.begin(), page.end(), extent.begin,
                                  [](std::uint32_t at, const Extent& e) { return at < e.end(); });
    auto last = first;
    // What becomes of the stretch that `extent` touches: what is left before it, itself, what is left behind it.
    std::array<Extent, 3> fresh;
    std::size_t count = 0;
    Extent right;
    for (; last != page.end() && last->begin < extent.end(); ++last) {
        if (last->begin < extent.begin) {
            fresh[count++] = {last->begin, last->data.sub(0, extent.begin - last->begin)};
        }
        if (last->end() > extent.end()) {
            right = {extent.end(), last->data.sub(extent.end() - last->begin, last->end() - extent.end())};
        }
    }
    fresh[count++] = std::move(extent);
    if (right.data.length > 0) {
        fresh[count++] = std::move(right);
    }
    std::size_t done = 0;
    for (; done < count && first != last; ++first, ++done) {
        *first = std::move(fresh[done]);
    }
    if (done == count) {
        page.erase(first, last);
        return;
    }
    if (page.size() + fresh.size() > page.capacity()) {
        const auto at = first - page.begin();
        page.reserve(page.size() + std::max(kGrowth, page.size() / 4));  // doubling would leave a third unused
        first = page.begin() + at;
    }
    page.insert(first, std::make_move_iterator(fresh.begin() + static_cast<std::ptrdiff_t>(done)),
                std::make_move_iterator(fresh.begin() + static_cast<std::ptrdiff_t>(count)));
}

}  // namespace podsim
