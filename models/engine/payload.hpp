// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Contents of memory by reference.
///
/// UB, GM and packets in flight hold slices of immutable payloads instead of copies. A payload may be
/// plain bytes, or lazy: generated input, the result of a vector instruction, or a concatenation. What the
/// bytes are is defined by the payload alone, so sharing one among a thousand cards changes no result.
#include <boost/container/small_vector.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace podsim {

class Payload;

/// Reference to a payload. Payloads of cards far apart are seldom in the host's cache: what they are is noted in
/// the reference, so that passing one on or dropping it need not touch them.
class PayloadRef {
public:
    PayloadRef() = default;
    PayloadRef(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): as of any pointer
    inline explicit PayloadRef(const Payload* payload);
    PayloadRef(const PayloadRef& other) : bits_(other.bits_) { add(); }
    PayloadRef(PayloadRef&& other) noexcept : bits_(std::exchange(other.bits_, 0)) {}
    PayloadRef& operator=(const PayloadRef& other) {
        PayloadRef(other).swap(*this);
        return *this;
    }
    PayloadRef& operator=(PayloadRef&& other) noexcept {
        PayloadRef(std::move(other)).swap(*this);
        return *this;
    }
    ~PayloadRef() { release(); }
    void swap(PayloadRef& other) noexcept { std::swap(bits_, other.bits_); }

    // NOLINTNEXTLINE(performance-no-int-to-ptr): the marks ride in the pointer's low bits
    const Payload* get() const { return reinterpret_cast<const Payload*>(bits_ & ~kMarks); }
    const Payload* operator->() const { return get(); }
    const Payload& operator*() const { return *get(); }
    explicit operator bool() const { return bits_ != 0; }
    friend bool operator==(const PayloadRef&, const PayloadRef&) = default;
    /// A concatenation: resolve() leads to its parts.
    bool composite() const { return (bits_ & kComposite) != 0; }

private:
    static constexpr std::uintptr_t kKept = 1;
    static constexpr std::uintptr_t kComposite = 2;
    static constexpr std::uintptr_t kMarks = kKept | kComposite;

    bool counted() const { return bits_ != 0 && (bits_ & kKept) == 0; }
    inline void add() const;
    inline void release();
    static void destroy(const Payload* payload);

    std::uintptr_t bits_ = 0;
};

/// `length` bytes of `payload` from `offset`. Without a payload: the bytes of the 32-bit word `offset` (low byte
/// first) over and over, so that flags, counters and cleared memory need no allocation; {nullptr, 0, n} is zeros.
struct Slice {
    PayloadRef payload;
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
    friend bool operator==(const Slice&, const Slice&) = default;

    /// Bytes [from, from+count) of this slice.
    Slice sub(std::uint32_t from, std::uint32_t count) const {
        return {payload, payload ? offset + from : turned(offset, from), count};
    }
    bool zeros() const { return !payload && offset == 0; }
    /// A repeated word as seen from its byte `from` on.
    static std::uint32_t turned(std::uint32_t word, std::uint32_t from) {
        return std::rotr(word, static_cast<int>(from % sizeof word * 8));
    }
};

/// A value of 1 to 8 bytes over and over as a repeated 32-bit word, if it can be one.
std::optional<std::uint32_t> repeated_word(std::uint64_t value, std::uint32_t bytes);

/// Some bytes as the concatenation of slices.
using Content = boost::container::small_vector<Slice, 4>;

/// Contents of at most one line: a slice, and behind it a repeated word, because most lines that cross the fabric end
/// in a flag. So a flag need not make a concatenation of its block.
struct BlockData {
    Slice slice;
    std::uint32_t word = 0;
    std::uint32_t word_bytes = 0;

    BlockData() = default;
    BlockData(Slice s) : slice(std::move(s)) {}  // NOLINT(google-explicit-constructor): the usual case
    BlockData(Slice s, std::uint32_t w, std::uint32_t bytes) : slice(std::move(s)), word(w), word_bytes(bytes) {}
    std::uint32_t length() const { return slice.length + word_bytes; }
};

/// Immutable bytes, counted by reference (not atomically: one simulation is one thread).
class Payload {
public:
    enum class Kind : std::uint8_t {
        counted,
        composite,  ///< counted, and resolve() leads to its parts
        kept,       ///< not counted: its maker keeps it as long as anybody may read it
    };
    explicit Payload(std::uint32_t size, Kind kind = Kind::counted)
        : size_(size & 0x3fff'ffffU), kind_(static_cast<std::uint32_t>(kind) & 3U) {}
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
    friend class PayloadRef;
    bool is(Kind kind) const { return kind_ == static_cast<std::uint32_t>(kind); }

    std::uint32_t size_ : 30;
    std::uint32_t kind_ : 2;  ///< a Kind
    mutable std::uint32_t references_ = 0;
    mutable const Payload* derived_ = nullptr;
};

inline PayloadRef::PayloadRef(const Payload* payload)
    : bits_(reinterpret_cast<std::uintptr_t>(payload) | (payload->is(Payload::Kind::kept) ? kKept : 0U) |
            (payload->is(Payload::Kind::composite) ? kComposite : 0U)) {
    add();
}
inline void PayloadRef::add() const {
    if (counted()) {
        ++get()->references_;
    }
}
inline void PayloadRef::release() {
    if (counted() && --get()->references_ == 0) {
        destroy(get());
    }
}

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

/// Concatenations made lately. A row that goes to several cards has the same pieces each time: one for all will do.
class RecentJoins {
public:
    /// As joined(), but an equal one made lately serves again.
    Slice joined(const Content& content);

private:
    std::array<PayloadRef, 8> made_;
};

/// A place in a content that is taken from front to back.
class ContentCursor {
public:
    /// The next `count` bytes, at most one line of them.
    BlockData next(const Content& content, std::uint32_t count, RecentJoins& recent);

private:
    std::size_t slice_ = 0;
    std::uint32_t within_ = 0;
};

/// A content of at most one line.
BlockData block_of(const Content& content);
BlockData block_of(const Content& content, RecentJoins& recent);
void append(Content& content, const BlockData& block);

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
