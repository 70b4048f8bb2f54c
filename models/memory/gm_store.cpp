// SPDX-License-Identifier: Apache-2.0
#include "models/memory/gm_store.hpp"

#include "models/engine/error.hpp"

#include <algorithm>

namespace podsim {

namespace {

/// Appends bytes [from, from+count) of the line's contents to `out`, zeros where nothing was written.
void read_line(const Line& line, std::uint32_t from, std::uint32_t count, Content& out) {
    const std::uint32_t line_end = line.begin + line.length;
    if (!out.empty() && line.payload && line.begin <= from && from + count <= line_end) {
        // Rows lie line after line in one payload: the slice before simply goes on, no reference is counted.
        Slice& last = out.back();
        if (last.payload == line.payload && last.offset + last.length == line.payload_offset + (from - line.begin)) {
            last.length += count;
            return;
        }
    }
    const std::uint32_t begin = std::clamp<std::uint32_t>(line.begin, from, from + count);
    const std::uint32_t end = std::clamp<std::uint32_t>(line.begin + line.length, begin, from + count);
    append(out, {nullptr, 0, begin - from});
    if (end > begin) {
        const std::uint32_t at = line.payload_offset + (begin - line.begin);
        if (line.payload) {
            line.payload->resolve(at, end - begin, out);
        } else {
            append(out, {nullptr, 0, end - begin});
        }
    }
    append(out, {nullptr, 0, from + count - end});
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

void GmStore::write(std::uint64_t offset, const Slice& data) {
    Line& target = line(line_of(offset));
    const auto from = static_cast<std::uint32_t>(offset % kBlockBytes);
    check(from + data.length <= kBlockBytes, "a store stays inside one line");
    Slice content = data;
    std::uint32_t begin = from;
    const bool covers = target.length == 0 ||
                        (from <= target.begin && from + data.length >= std::uint32_t{target.begin} + target.length);
    if (!covers) {
        begin = std::min<std::uint32_t>(from, target.begin);
        const std::uint32_t end =
            std::max<std::uint32_t>(from + data.length, std::uint32_t{target.begin} + target.length);
        Content merged;
        read_line(target, begin, from - begin, merged);
        append(merged, data);
        read_line(target, from + data.length, end - from - data.length, merged);
        // A line reads as zeros around its extent: a flag wiped off its end takes no place.
        while (!merged.empty() && !merged.back().payload) {
            merged.pop_back();
        }
        while (!merged.empty() && !merged.front().payload) {
            begin += merged.front().length;
            merged.erase(merged.begin());
        }
        content = merged.empty() ? Slice{} : joined(merged);
    } else if (!content.payload) {
        content.length = 0;
    }
    if (mode_ == PayloadMode::copying) {
        content = {make_bytes(bytes_of(content)), 0, content.length};
    }
    target.payload = std::move(content.payload);
    target.payload_offset = content.offset;
    target.begin = begin & 0x3ffU;
    target.length = content.length & 0x3ffU;
}

void GmStore::read(std::uint64_t offset, std::uint64_t bytes, Content& out) const {
    if (mode_ == PayloadMode::copying) {
        Content found;
        collect(offset, bytes, found);
        for (const Slice& slice : found) {
            append(out, {make_bytes(bytes_of(slice)), 0, slice.length});
        }
    } else {
        collect(offset, bytes, out);
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
