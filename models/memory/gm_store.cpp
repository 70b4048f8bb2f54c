// SPDX-License-Identifier: Apache-2.0
#include "models/memory/gm_store.hpp"

#include "models/engine/error.hpp"

#include <algorithm>

namespace podsim {

namespace {

/// Appends the bytes of [from, to) that lie in the slice of the line, and in the word behind it.
void read_extent(const Line& line, std::uint32_t from, std::uint32_t to, Content& out) {
    const std::uint32_t slice_end = line.slice_end();
    if (from < slice_end) {
        const std::uint32_t at = from - line.begin;
        const std::uint32_t end = std::min(to, slice_end);
        if (line.payload.composite()) {
            line.payload->resolve(line.payload_offset + at, end - from, out);
        } else {
            append(out,
                   Slice{line.payload, line.payload ? line.payload_offset + at : Slice::turned(line.payload_offset, at),
                         end - from});
        }
        from = end;
    }
    if (from < to) {
        append(out, Slice{nullptr, Slice::turned(line.word, from - slice_end), to - from});
    }
}

/// Appends bytes [from, from+count) of the line's contents to `out`, zeros where nothing was written.
void read_line(const Line& line, std::uint32_t from, std::uint32_t count, Content& out) {
    if (!out.empty() && line.payload && line.begin <= from && from + count <= line.slice_end()) {
        // Rows lie line after line in one payload: the slice before simply goes on.
        Slice& last = out.back();
        if (last.payload == line.payload && last.offset + last.length == line.payload_offset + (from - line.begin)) {
            last.length += count;
            return;
        }
    }
    const std::uint32_t begin = std::clamp<std::uint32_t>(line.begin, from, from + count);
    const std::uint32_t end = std::clamp<std::uint32_t>(line.end(), begin, from + count);
    append(out, Slice{nullptr, 0, begin - from});
    if (end > begin) {
        read_extent(line, begin, end, out);
    }
    append(out, Slice{nullptr, 0, from + count - end});
}

void append_copies(Content& out, const Content& found) {
    for (const Slice& slice : found) {
        append(out, {make_bytes(bytes_of(slice)), 0, slice.length});
    }
}

}  // namespace

Line& GmStore::line(std::uint64_t number) {
    const std::uint64_t page = number / kLinesPerPage;
    const std::uint64_t leaf = page / kPagesPerLeaf;
    if (leaf >= leaves_.size()) {
        leaves_.resize(leaf + 1);
    }
    if (!leaves_[leaf]) {
        leaves_[leaf] = std::make_unique<Leaf>();
    }
    auto& place = leaves_[leaf]->pages[page % kPagesPerLeaf];
    if (!place) {
        place = std::make_unique<Page>();
        lines_touched_ += kLinesPerPage;
    }
    return place->lines[number % kLinesPerPage];
}

const Line* GmStore::find(std::uint64_t number) const {
    const std::uint64_t page = number / kLinesPerPage;
    const std::uint64_t leaf = page / kPagesPerLeaf;
    if (leaf >= leaves_.size() || !leaves_[leaf]) {
        return nullptr;
    }
    const auto& place = leaves_[leaf]->pages[page % kPagesPerLeaf];
    return place ? &place->lines[number % kLinesPerPage] : nullptr;
}

Line* GmStore::find(std::uint64_t number) { return const_cast<Line*>(static_cast<const GmStore*>(this)->find(number)); }

Line& GmStore::write(std::uint64_t offset, const BlockData& data) {
    Line& target = line(line_of(offset));
    const auto from = static_cast<std::uint32_t>(offset % kBlockBytes);
    const std::uint32_t to = from + data.length();
    check(to <= kBlockBytes, "a store stays inside one line");
    const bool covers = target.end() == target.begin || (from <= target.begin && to >= target.end());
    if (covers && mode_ == PayloadMode::extents) {
        put(target, from, data);
        return target;
    }
    if (data.slice.zeros() && data.word_bytes == 0 && from > target.begin && to >= target.end()) {
        shorten(target, from);
        return target;
    }
    std::uint32_t begin = covers ? from : std::min<std::uint32_t>(from, target.begin);
    const std::uint32_t end = covers ? to : std::max(to, target.end());
    Content merged;
    read_line(target, begin, from - begin, merged);
    append(merged, data);
    read_line(target, to, end - to, merged);
    // A line reads as zeros around its extent: what was wiped off its ends takes no place.
    while (!merged.empty() && merged.back().zeros()) {
        merged.pop_back();
    }
    while (!merged.empty() && merged.front().zeros()) {
        begin += merged.front().length;
        merged.erase(merged.begin());
    }
    BlockData content = block_of(merged);
    if (mode_ == PayloadMode::copying) {
        const Slice whole = joined(merged);
        content = Slice{make_bytes(bytes_of(whole)), 0, whole.length};
    }
    put(target, begin, content);
    return target;
}

void GmStore::shorten(Line& target, std::uint32_t from) {
    const std::uint32_t slice_end = target.slice_end();
    target.word_bytes = from > slice_end ? std::min(target.word_bytes, from - slice_end) : 0;
    if (from < slice_end) {
        target.length = (from - target.begin) & 0x3ffU;
    }
}

void GmStore::put(Line& target, std::uint32_t begin, const BlockData& content) {
    target.payload = content.slice.payload;
    target.payload_offset = content.slice.offset;
    target.begin = begin & 0x3ffU;
    target.length = content.slice.zeros() && content.word_bytes == 0 ? 0 : content.slice.length & 0x3ffU;
    target.word = content.word;
    target.word_bytes = content.word_bytes;
}

void GmStore::read(std::uint64_t offset, std::uint64_t bytes, Content& out) const {
    if (mode_ == PayloadMode::copying) {
        Content found;
        collect(offset, bytes, found);
        append_copies(out, found);
    } else {
        collect(offset, bytes, out);
    }
}

void GmStore::read(const Line& line, std::uint32_t from, std::uint32_t count, Content& out) const {
    if (mode_ == PayloadMode::copying) {
        Content found;
        read_line(line, from, count, found);
        append_copies(out, found);
    } else {
        read_line(line, from, count, out);
    }
}

void GmStore::collect(std::uint64_t offset, std::uint64_t bytes, Content& out) const {
    while (bytes > 0) {
        const auto from = static_cast<std::uint32_t>(offset % kBlockBytes);
        const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, kBlockBytes - from));
        if (const Line* at = find(line_of(offset))) {
            read_line(*at, from, count, out);
        } else {
            append(out, {nullptr, 0, count});
        }
        offset += count;
        bytes -= count;
    }
}

}  // namespace podsim
