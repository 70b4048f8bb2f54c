// SPDX-License-Identifier: Apache-2.0
#include "models/memory/gm_store.hpp"

#include "models/engine/error.hpp"

#include <algorithm>

namespace podsim {

namespace {

/// Appends bytes [from, from+count) of the line's contents to `out`, zeros where nothing was written.
void read_line(const Line& line, std::uint32_t from, std::uint32_t count, Content& out) {
    const std::uint32_t to = from + count;
    const std::uint32_t begin = std::clamp(line.begin(), from, to);
    const std::uint32_t slice_end = std::clamp(line.slice_end(), begin, to);
    const std::uint32_t end = std::clamp(line.end(), slice_end, to);
    append(out, Slice{nullptr, 0, begin - from});
    if (slice_end > begin) {
        const Slice slice = line.slice(begin, slice_end - begin);
        if (line.payload().composite()) {
            line.payload()->resolve(slice.offset, slice.length, out);
        } else {
            append(out, slice);
        }
    }
    if (end > slice_end) {
        append(out, line.words(slice_end, end - slice_end));
    }
    append(out, Slice{nullptr, 0, to - end});
}

void append_copies(Content& out, const Content& found) {
    for (const Slice& slice : found) {
        append(out, {make_bytes(bytes_of(slice)), 0, slice.length});
    }
}

}  // namespace

void Line::put(std::uint32_t begin, const BlockData& content) {
    payload_ = content.slice.payload;
    payload_offset_ = content.slice.offset;
    word_ = content.word;
    begin_ = begin & kPlace;
    length_ = content.slice.zeros() && content.word_bytes == 0 ? 0 : content.slice.length & kPlace;
    word_bytes_ = content.word_bytes & kPlace;
}

void Line::shorten(std::uint32_t from) {
    check(begin() < from && from < end(), "a line is shortened inside its extent");
    if (from < slice_end()) {
        length_ = (from - begin()) & kPlace;
        word_bytes_ = 0;
    } else {
        word_bytes_ = (from - slice_end()) & kPlace;
    }
}

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

void GmStore::write(Line& target, std::uint32_t from, const BlockData& data) const {
    const std::uint32_t to = from + data.length();
    check(to <= kBlockBytes, "a store stays inside one line");
    const bool covers = target.end() == target.begin() || (from <= target.begin() && to >= target.end());
    if (covers && mode_ == PayloadMode::extents) {
        target.put(from, data);
        return;
    }
    if (data.slice.zeros() && data.word_bytes == 0 && from > target.begin() && from < target.end() &&
        to >= target.end()) {
        target.shorten(from);
        return;
    }
    std::uint32_t begin = covers ? from : std::min(from, target.begin());
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
    if (mode_ == PayloadMode::copying) {
        const Slice whole = joined(merged);
        target.put(begin, Slice{make_bytes(bytes_of(whole)), 0, whole.length});
    } else {
        target.put(begin, block_of(merged));
    }
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
