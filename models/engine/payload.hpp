// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Contents of memory by reference.
///
/// UB, GM and packets in flight hold slices of immutable payloads instead of copies. A payload may be
/// plain bytes, or lazy: generated input, the result of a vector instruction, or a concatenation. What the
/// bytes are is defined by the payload alone, so sharing one among a thousand cards changes no result.
#include <boost/container/small_vector.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace podsim {

class Payload;
using PayloadRef = boost::intrusive_ptr<const Payload>;

/// `length` bytes of `payload` from `offset`; a null payload reads as zeros.
struct Slice {
    PayloadRef payload;
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
    friend bool operator==(const Slice&, const Slice&) = default;

    /// Bytes [from, from+count) of this slice.
    Slice sub(std::uint32_t from, std::uint32_t count) const;
};

/// Some bytes as the concatenation of slices.
using Content = boost::container::small_vector<Slice, 4>;

/// Immutable bytes, counted by reference (not atomically: one simulation is one thread).
class Payload {
public:
    explicit Payload(std::uint32_t size) : size_(size) {}
    Payload(const Payload&) = delete;
    Payload& operator=(const Payload&) = delete;
    virtual ~Payload() = default;

    std::uint32_t size() const { return size_; }
    /// Writes bytes [offset, offset + out.size()) to `out`.
    virtual void copy_to(std::uint32_t offset, std::span<std::byte> out) const = 0;
    /// The bytes, where they are held; nullptr where they are lazy.
    virtual const std::byte* data() const { return nullptr; }
    /// The parts of a concatenation that make up [offset, offset+length); appends to `out`.
    virtual void resolve(std::uint32_t offset, std::uint32_t length, Content& out) const;
    /// True for values derived from the run's input alone: what is computed of them is remembered (VectorResults).
    virtual bool memoizable() const { return false; }
    /// The latest of what was computed of this payload: kept alive by who remembers it, not by this.
    const Payload* derived() const { return derived_; }
    void set_derived(const Payload* latest) const { derived_ = latest; }

private:
    friend void intrusive_ptr_add_ref(const Payload* p) { ++p->references_; }
    friend void intrusive_ptr_release(const Payload* p) {
        if (--p->references_ == 0) {
            delete p;
        }
    }
    std::uint32_t size_;
    mutable std::uint32_t references_ = 0;
    mutable const Payload* derived_ = nullptr;
};

/// Plain bytes.
PayloadRef make_bytes(std::span<const std::byte> bytes);

/// Plain bytes to be written once by the maker: `room` is their place, good until the payload is shared.
PayloadRef make_room(std::uint32_t size, std::span<std::byte>& room);

template <class T>
PayloadRef make_value(const T& value) {
    return make_bytes(std::as_bytes(std::span<const T, 1>(&value, 1)));
}

/// One payload with the bytes of `content`: a copy when everything is plain bytes and small, else a lazy
/// concatenation. A content of one slice is best used as that slice.
Slice joined(const Content& content);

/// A place in a content that is taken from front to back.
class ContentCursor {
public:
    /// The next `count` bytes, joined.
    Slice next(const Content& content, std::uint32_t count);

private:
    std::size_t slice_ = 0;
    std::uint32_t within_ = 0;
};

/// Turns many small pieces of plain bytes into one; leaves lazy contents as they are.
void compact(Content& content);

std::uint32_t length_of(const Content& content);

/// Appends `slice`, merging it into the last one when it goes on where that ended.
void append(Content& content, Slice slice);

/// Writes the bytes of `content` to `out` (sizes must agree).
void copy_bytes(const Content& content, std::span<std::byte> out);
void copy_bytes(const Slice& slice, std::span<std::byte> out);
/// Bytes without the cost of clearing them first.
class Bytes {
public:
    explicit Bytes(std::size_t size) : room_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}
    std::byte* data() { return room_.get(); }
    const std::byte* data() const { return room_.get(); }
    std::size_t size() const { return size_; }
    std::byte* begin() { return data(); }
    std::byte* end() { return data() + size_; }
    const std::byte* begin() const { return data(); }
    const std::byte* end() const { return data() + size_; }

private:
    std::unique_ptr<std::byte[]> room_;
    std::size_t size_;
};
std::vector<std::byte> bytes_of(const Slice& slice);

}  // namespace podsim
