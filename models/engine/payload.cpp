// SPDX-License-Identifier: Apache-2.0
#include "models/engine/payload.hpp"

#include "models/engine/error.hpp"

#include <algorithm>
#include <memory>
#include <new>

namespace podsim {

namespace {

/// Bytes in the same allocation as the object: most are a few words.
class BytesPayload final : public Payload {
public:
    static PayloadRef make(std::uint32_t size, std::span<std::byte>& room) {
        auto* payload = new (::operator new(sizeof(BytesPayload) + size)) BytesPayload(size);
        room = {payload->own(), size};
        return PayloadRef(payload);
    }
    static void operator delete(void* room) { ::operator delete(room); }

    void copy_to(std::uint32_t offset, std::span<std::byte> out) const override {
        std::copy_n(own() + offset, out.size(), out.data());
    }
    const std::byte* data() const override { return own(); }

private:
    explicit BytesPayload(std::uint32_t size) : Payload(size) {}
    std::byte* own() { return reinterpret_cast<std::byte*>(this + 1); }
    const std::byte* own() const { return reinterpret_cast<const std::byte*>(this + 1); }
};

/// Slices in the same allocation as the object: there is one of these for every tail block of a striped row.
class ConcatPayload final : public Payload {
public:
    static PayloadRef make(const Content& parts, std::uint32_t size) {
        void* room = ::operator new(sizeof(ConcatPayload) + parts.size() * sizeof(Slice));
        return PayloadRef(new (room) ConcatPayload(parts, size));
    }
    ~ConcatPayload() override { std::destroy_n(own(), count_); }
    static void operator delete(void* room) { ::operator delete(room); }

    void copy_to(std::uint32_t offset, std::span<std::byte> out) const override {
        Content wanted;
        resolve(offset, static_cast<std::uint32_t>(out.size()), wanted);
        copy_bytes(wanted, out);
    }
    void resolve(std::uint32_t offset, std::uint32_t length, Content& out) const override {
        std::uint32_t begin = 0;
        for (const Slice& part : std::span(own(), count_)) {
            const std::uint32_t end = begin + part.length;
            const std::uint32_t lo = std::max(begin, offset);
            const std::uint32_t hi = std::min(end, offset + length);
            if (lo < hi) {
                append(out, part.sub(lo - begin, hi - lo));
            }
            begin = end;
        }
    }

    bool is(const Content& parts) const { return std::ranges::equal(std::span(own(), count_), parts); }

private:
    ConcatPayload(const Content& parts, std::uint32_t size)
        : Payload(size, Kind::composite), count_(static_cast<std::uint32_t>(parts.size())) {
        std::uninitialized_copy(parts.begin(), parts.end(), own());
    }
    Slice* own() { return reinterpret_cast<Slice*>(this + 1); }
    const Slice* own() const { return reinterpret_cast<const Slice*>(this + 1); }

    std::uint32_t count_;
};

}  // namespace

void PayloadRef::destroy(const Payload* payload) { delete payload; }

void Payload::resolve(std::uint32_t offset, std::uint32_t length, Content& out) const {
    append(out, {PayloadRef(this), offset, length});
}

PayloadRef make_room(std::uint32_t size, std::span<std::byte>& room) { return BytesPayload::make(size, room); }

PayloadRef make_bytes(std::span<const std::byte> bytes) {
    std::span<std::byte> room;
    PayloadRef payload = make_room(static_cast<std::uint32_t>(bytes.size()), room);
    std::copy(bytes.begin(), bytes.end(), room.begin());
    return payload;
}

std::optional<std::uint32_t> repeated_word(std::uint64_t value, std::uint32_t bytes) {
    switch (bytes) {
        case 1:
            return static_cast<std::uint32_t>(value & 0xffU) * 0x01010101U;
        case 2:
            return static_cast<std::uint32_t>(value & 0xffffU) * 0x00010001U;
        default:
            if (bytes == 8 && value >> 32U != (value & 0xffff'ffffU)) {
                return std::nullopt;
            }
            return static_cast<std::uint32_t>(value);
    }
}

std::uint32_t length_of(const Content& content) {
    std::uint32_t sum = 0;
    for (const Slice& s : content) {
        sum += s.length;
    }
    return sum;
}

void append(Content& content, Slice slice) {
    if (slice.length == 0) {
        return;
    }
    if (!content.empty()) {
        Slice& last = content.back();
        if (last.payload == slice.payload &&
            slice.offset == (slice.payload ? last.offset + last.length : Slice::turned(last.offset, last.length))) {
            last.length += slice.length;
            return;
        }
    }
    content.push_back(std::move(slice));
}

namespace {
bool is_plain(const Content& content) {
    return std::all_of(content.begin(), content.end(),
                       [](const Slice& s) { return !s.payload || s.payload->data() != nullptr; });
}
}  // namespace

void compact(Content& content) {
    if (content.size() > 1 && is_plain(content)) {
        Slice whole = joined(content);
        content.clear();
        content.push_back(std::move(whole));
    }
}

Slice joined(const Content& content) {
    if (content.size() == 1) {
        return content.front();
    }
    const std::uint32_t size = length_of(content);
    if (is_plain(content)) {
        std::span<std::byte> room;
        PayloadRef bytes = make_room(size, room);
        copy_bytes(content, room);
        return {std::move(bytes), 0, size};
    }
    return {ConcatPayload::make(content, size), 0, size};
}

Slice RecentJoins::joined(const Content& content) {
    if (content.size() == 1 || is_plain(content)) {
        return podsim::joined(content);
    }
    // Pieces of one row are told apart by the block they were taken from.
    constexpr std::uint32_t kApart = 512;
    const auto lazy = std::ranges::find_if(content, [](const Slice& s) { return s.payload && !s.payload->data(); });
    PayloadRef& place = made_[lazy->offset / kApart % made_.size()];
    if (!place || !static_cast<const ConcatPayload&>(*place).is(content)) {
        place = podsim::joined(content).payload;
    }
    return {place, 0, place->size()};
}

namespace {
bool fits(const Content& content) { return content.size() == 2 && content[0].payload && !content[1].payload; }
BlockData fitted(const Content& content) { return {content[0], content[1].offset, content[1].length}; }
}  // namespace

BlockData block_of(const Content& content) {
    return fits(content) ? fitted(content) : content.empty() ? BlockData{} : joined(content);
}

BlockData block_of(const Content& content, RecentJoins& recent) {
    return fits(content) ? fitted(content) : content.empty() ? BlockData{} : recent.joined(content);
}

void append(Content& content, const BlockData& block) {
    append(content, block.slice);
    append(content, Slice{nullptr, block.word, block.word_bytes});
}

BlockData ContentCursor::next(const Content& content, std::uint32_t count, RecentJoins& recent) {
    Content wanted;
    while (count > 0) {
        check(slice_ < content.size(), "a cursor stays inside its content");
        const Slice& slice = content[slice_];
        const std::uint32_t taken = std::min(count, slice.length - within_);
        append(wanted, slice.sub(within_, taken));
        count -= taken;
        within_ += taken;
        if (within_ == slice.length) {
            ++slice_;
            within_ = 0;
        }
    }
    return block_of(wanted, recent);
}

void copy_bytes(const Slice& slice, std::span<std::byte> out) {
    check(out.size() == slice.length, "copy_bytes: sizes agree");
    if (slice.zeros()) {
        std::fill(out.begin(), out.end(), std::byte{0});
    } else if (!slice.payload) {
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = static_cast<std::byte>(slice.offset >> (i % sizeof slice.offset * 8));
        }
    } else if (const std::byte* data = slice.payload->data()) {
        std::copy_n(data + slice.offset, slice.length, out.data());
    } else {
        slice.payload->copy_to(slice.offset, out);
    }
}

void copy_bytes(const Content& content, std::span<std::byte> out) {
    std::size_t at = 0;
    for (const Slice& s : content) {
        copy_bytes(s, out.subspan(at, s.length));
        at += s.length;
    }
    check(at == out.size(), "copy_bytes: sizes agree");
}

std::vector<std::byte> bytes_of(const Slice& slice) {
    std::vector<std::byte> out(slice.length);
    copy_bytes(slice, out);
    return out;
}

}  // namespace podsim
