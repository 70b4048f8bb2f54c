// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/unified_buffer.hpp"

#include <algorithm>

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
    auto it = std::upper_bound(extents_.begin(), extents_.end(), offset,
                               [](std::uint32_t at, const Extent& e) { return at < e.end(); });
    for (; offset < end; ++it) {
        if (it == extents_.end() || it->begin >= end) {
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
    auto first = std::upper_bound(extents_.begin(), extents_.end(), extent.begin,
                                  [](std::uint32_t at, const Extent& e) { return at < e.end(); });
    auto last = first;
    Extent left, right;
    while (last != extents_.end() && last->begin < extent.end()) {
        if (last->begin < extent.begin) {
            left = {last->begin, last->data.sub(0, extent.begin - last->begin)};
        }
        if (last->end() > extent.end()) {
            right = {extent.end(), last->data.sub(extent.end() - last->begin, last->end() - extent.end())};
        }
        ++last;
    }
    // Most writes go exactly over an earlier one.
    if (last - first == 1 && left.data.length == 0 && right.data.length == 0) {
        *first = std::move(extent);
        return;
    }
    first = extents_.erase(first, last);
    if (right.data.length > 0) {
        first = extents_.insert(first, std::move(right));
    }
    first = extents_.insert(first, std::move(extent));
    if (left.data.length > 0) {
        extents_.insert(first, std::move(left));
    }
}

}  // namespace podsim
