// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/unified_buffer.hpp"

#include <algorithm>
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
    // A row cut into blocks comes as dozens of writes, each where the one before ended: its page is rebuilt once.
    Run run;
    auto done = pending_.begin();
    for (; done != pending_.end() && done->at <= now; ++done) {
        Extent rest = std::move(done->extent);
        if (!run.empty() && run.back().end() != rest.begin) {
            replace(run);
        }
        std::uint32_t room = kPageBytes - rest.begin % kPageBytes;
        while (rest.data.length > room) {
            run.push_back({rest.begin, rest.data.sub(0, room)});
            rest = {rest.begin + room, rest.data.sub(room, rest.data.length - room)};
            replace(run);
            room = kPageBytes;
        }
        const bool to_its_end = rest.data.length == room;
        run.push_back(std::move(rest));
        if (to_its_end) {
            replace(run);
        }
    }
    if (!run.empty()) {
        replace(run);
    }
    pending_.erase(pending_.begin(), done);
}

void UnifiedBuffer::replace(Run& run) {
    const std::size_t page = run.front().begin / kPageBytes;
    if (page >= pages_.size()) {
        pages_.resize(page + 1);
    }
    replace_in(pages_[page], run);
    run.clear();
}

void UnifiedBuffer::replace_in(Page& page, Run& run) {
    const std::uint32_t begin = run.front().begin;
    const std::uint32_t end = run.back().end();
    auto first = std::upper_bound(page.begin(), page.end(), begin,
                                  [](std::uint32_t at, const Extent& e) { return at < e.end(); });
    auto last = first;
    while (last != page.end() && last->begin < end) {
        ++last;
    }
    // What is left of the stretch before and behind the run.
    Extent left, right;
    if (first != last) {
        if (first->begin < begin) {
            left = {first->begin, first->data.sub(0, begin - first->begin)};
        }
        const Extent& over = *std::prev(last);
        if (over.end() > end) {
            right = {end, over.data.sub(end - over.begin, over.end() - end)};
        }
    }
    const std::size_t count = run.size() + (left.data.length > 0 ? 1 : 0) + (right.data.length > 0 ? 1 : 0);
    const auto held = static_cast<std::size_t>(last - first);
    if (count < held) {
        page.erase(first + static_cast<std::ptrdiff_t>(count), last);
    } else if (count > held) {
        const auto at = first - page.begin();
        const std::size_t more = count - held;
        if (page.size() + more > page.capacity()) {
            // Doubling would leave a third unused.
            page.reserve(page.size() + more + std::max(kGrowth, page.size() / 4));
            first = page.begin() + at;
        }
        page.insert(first, more, Extent{});
        first = page.begin() + at;
    }
    if (left.data.length > 0) {
        *first++ = std::move(left);
    }
    first = std::move(run.begin(), run.end(), first);
    if (right.data.length > 0) {
        *first = std::move(right);
    }
}

}  // namespace podsim
