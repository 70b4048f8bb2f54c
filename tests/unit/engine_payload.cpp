// SPDX-License-Identifier: Apache-2.0
#include "models/engine/payload.hpp"

#include "models/engine/error.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

using namespace podsim;

namespace {

std::vector<std::byte> pattern(std::uint32_t size, std::uint32_t start = 0) {
    std::vector<std::byte> bytes(size);
    for (std::uint32_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>((start + i) * 7 + 1);
    }
    return bytes;
}

Slice whole(const PayloadRef& payload) { return {payload, 0, payload->size()}; }

std::vector<std::byte> bytes_of_content(const Content& content) {
    std::vector<std::byte> out(length_of(content));
    copy_bytes(content, out);
    return out;
}

/// Bytes that exist only when asked for; counts how many were, and notes its own end.
class LazyPayload final : public Payload {
public:
    explicit LazyPayload(std::uint32_t size, bool* alive = nullptr, Kind kind = Kind::counted)
        : Payload(size, kind), alive_(alive) {
        if (alive_ != nullptr) {
            *alive_ = true;
        }
    }
    ~LazyPayload() override {
        if (alive_ != nullptr) {
            *alive_ = false;
        }
    }
    void copy_to(std::uint32_t offset, std::span<std::byte> out) const override {
        const auto bytes = pattern(static_cast<std::uint32_t>(out.size()), offset);
        std::copy(bytes.begin(), bytes.end(), out.begin());
        generated += static_cast<std::uint32_t>(out.size());
    }
    mutable std::uint32_t generated = 0;

private:
    bool* alive_;
};

}  // namespace

TEST_CASE("plain bytes come back as they went in") {
    const auto size = GENERATE(0U, 1U, 31U, 32U, 512U, 7172U);
    const auto in = pattern(size);
    const PayloadRef payload = make_bytes(in);
    REQUIRE(payload->size() == size);
    CHECK(payload->data() != nullptr);
    CHECK(bytes_of(whole(payload)) == in);
    CHECK_FALSE(payload->memoizable());
}

TEST_CASE("payloads do not see later changes of what they were made from") {
    auto in = pattern(64);
    const PayloadRef payload = make_bytes(in);
    std::fill(in.begin(), in.end(), std::byte{0xff});
    CHECK(bytes_of(whole(payload)) == pattern(64));
}

TEST_CASE("make_value keeps the bytes of a value") {
    const PayloadRef payload = make_value(std::uint32_t{0x04030201});
    CHECK(bytes_of(whole(payload)) == std::vector<std::byte>{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}});
}

TEST_CASE("a slice of a slice") {
    const PayloadRef payload = make_bytes(pattern(100));
    const Slice inner = Slice{payload, 10, 80}.sub(5, 20).sub(1, 3);
    CHECK(inner == Slice{payload, 16, 3});
    CHECK(bytes_of(inner) == pattern(3, 16));
}

TEST_CASE("a slice of nothing reads as zeros") {
    CHECK(bytes_of(Slice{nullptr, 0, 5}) == std::vector<std::byte>(5));
    CHECK(bytes_of(Slice{}).empty());
}

TEST_CASE("a slice without payload is a word over and over, from any byte on") {
    const std::uint32_t word = GENERATE(0U, 0x01020304U, 0xffff0001U);
    const auto byte_at = [word](std::uint32_t i) { return static_cast<std::byte>(word >> (8 * (i % 4))); };
    const Slice all{nullptr, word, 37};
    for (std::uint32_t from = 0; from < all.length; ++from) {
        for (std::uint32_t count = 0; from + count <= all.length; ++count) {
            const auto bytes = bytes_of(all.sub(from, count));
            REQUIRE(bytes.size() == count);
            for (std::uint32_t i = 0; i < count; ++i) {
                REQUIRE(bytes[i] == byte_at(from + i));
            }
        }
        // In two parts it is one slice again; what goes on with another byte of the word is not.
        Content content;
        append(content, all.sub(0, from));
        append(content, all.sub(from, all.length - from));
        REQUIRE(content.size() == 1);
        REQUIRE(content.front() == all);
    }
    Content content;
    append(content, Slice{nullptr, word, 3});
    append(content, Slice{nullptr, word + 1, 4});
    CHECK(content.size() == 2);
    CHECK(Slice{nullptr, word, 1}.zeros() == (word == 0));
}

TEST_CASE("a cursor takes a content from front to back in pieces of any size") {
    Content content;
    append(content, Slice{PayloadRef(new LazyPayload(100)), 3, 40});
    append(content, Slice{nullptr, 0x01020304U, 9});
    append(content, Slice{make_bytes(pattern(64)), 1, 30});
    append(content, Slice{nullptr, 0, 5});
    const auto expected = bytes_of_content(content);
    for (std::uint32_t step = 1; step <= expected.size(); ++step) {
        ContentCursor cursor;
        RecentJoins recent;
        Content taken;
        for (std::uint32_t at = 0; at < expected.size(); at += step) {
            append(taken,
                   cursor.next(content, std::min(step, static_cast<std::uint32_t>(expected.size()) - at), recent));
        }
        REQUIRE(bytes_of_content(taken) == expected);
    }
    ContentCursor cursor;
    RecentJoins recent;
    CHECK_THROWS_AS(cursor.next(content, static_cast<std::uint32_t>(expected.size()) + 1, recent), InternalError);
}

TEST_CASE("a block and its flag need no concatenation") {
    Content content;
    append(content, Slice{PayloadRef(new LazyPayload(504)), 0, 504});
    append(content, Slice{nullptr, 0x3f800000U, 8});
    const BlockData block = block_of(content);
    CHECK(block.length() == 512);
    CHECK(block.slice == content[0]);
    CHECK(block.word == 0x3f800000U);
    CHECK(block.word_bytes == 8);
    append(content, Slice{make_bytes(pattern(4)), 0, 4});
    const BlockData longer = block_of(content);
    CHECK(longer.word_bytes == 0);
    CHECK(longer.slice.payload.composite());
}

TEST_CASE("equal pieces made lately share one concatenation") {
    const PayloadRef row = PayloadRef(new LazyPayload(7168));
    const auto tail = [](const PayloadRef& of, std::uint32_t block, std::uint32_t flag) {
        Content content;
        append(content, Slice{nullptr, 0, 24});
        append(content, Slice{of, block * 512 + 504, 8});
        append(content, Slice{nullptr, 0, 472});
        append(content, Slice{nullptr, flag, 8});
        return content;
    };
    RecentJoins recent;
    std::vector<Slice> first;
    for (std::uint32_t block = 0; block < 7; ++block) {
        first.push_back(block_of(tail(row, block, 1), recent).slice);
        CHECK(bytes_of(first.back()) == bytes_of_content(tail(row, block, 1)));
    }
    for (std::uint32_t block = 0; block < 7; ++block) {
        CHECK(block_of(tail(row, block, 1), recent).slice == first[block]);
    }
    // What differs in a flag, in the row or in the place is another one, in whatever order they come.
    const PayloadRef other = PayloadRef(new LazyPayload(7168));
    for (const auto& content : {tail(row, 3, 2), tail(other, 3, 1), tail(row, 11, 1), tail(row, 3, 1)}) {
        CHECK(bytes_of(block_of(content, recent).slice) == bytes_of_content(content));
    }
    CHECK(bytes_of(first[3]) == bytes_of_content(tail(row, 3, 1)));
}

TEST_CASE("append merges what goes on where the last slice ended") {
    const PayloadRef a = make_bytes(pattern(100));
    const PayloadRef b = make_bytes(pattern(100, 50));
    Content content;

    append(content, {a, 0, 10});
    append(content, {a, 10, 22});
    CHECK(content.size() == 1);
    CHECK(content.front() == Slice{a, 0, 32});

    append(content, {a, 33, 7});  // a gap
    CHECK(content.size() == 2);
    append(content, {b, 40, 8});  // fits by offset, but another payload
    CHECK(content.size() == 3);
    append(content, {b, 5, 0});  // nothing
    CHECK(content.size() == 3);

    append(content, {nullptr, 0, 4});  // zeros merge, too
    append(content, {nullptr, 0, 6});
    REQUIRE(content.size() == 4);
    CHECK(content.back().length == 10);

    CHECK(length_of(content) == 32 + 7 + 8 + 10);
    auto expected = pattern(32);
    const auto extend = [&](const std::vector<std::byte>& more) {
        expected.insert(expected.end(), more.begin(), more.end());
    };
    extend(pattern(7, 33));
    extend(pattern(8, 90));
    extend(std::vector<std::byte>(10));
    CHECK(bytes_of_content(content) == expected);
}

TEST_CASE("joined: one slice with the bytes of many") {
    const PayloadRef a = make_bytes(pattern(64));
    const PayloadRef lazy(new LazyPayload(4096));
    Content content;

    SECTION("one slice is itself") {
        append(content, {a, 8, 16});
        CHECK(joined(content) == Slice{a, 8, 16});
    }
    SECTION("nothing") {
        CHECK(joined(content).length == 0);
        CHECK(bytes_of(joined(content)).empty());
    }
    SECTION("plain bytes and zeros become plain bytes") {
        append(content, {a, 0, 16});
        append(content, {nullptr, 0, 8});
        append(content, {a, 16, 16});
        const Slice one = joined(content);
        CHECK(one.payload->data() != nullptr);
        CHECK(bytes_of(one) == bytes_of_content(content));
    }
    SECTION("lazy parts stay lazy") {
        append(content, {lazy, 100, 1000});
        append(content, {a, 0, 32});
        append(content, {nullptr, 0, 8});
        const Slice one = joined(content);
        CHECK(one.length == 1040);
        CHECK(one.payload->data() == nullptr);
        CHECK(static_cast<const LazyPayload&>(*lazy).generated == 0);
        CHECK(bytes_of(one) == bytes_of_content(content));
        // Any window of it, across every border.
        const auto all = bytes_of(one);
        for (const std::uint32_t from : {0U, 1U, 999U, 1000U, 1031U, 1032U}) {
            for (const std::uint32_t count : {1U, 8U}) {
                const std::vector<std::byte> expected(all.begin() + from, all.begin() + from + count);
                CHECK(bytes_of(one.sub(from, count)) == expected);
            }
        }
    }
}

TEST_CASE("resolve finds the parts under a window of a concatenation") {
    const PayloadRef a = make_bytes(pattern(64));
    const PayloadRef lazy(new LazyPayload(4096));
    Content content;
    append(content, {lazy, 100, 50});
    append(content, {a, 8, 20});
    append(content, {nullptr, 0, 30});
    const PayloadRef concat = joined(content).payload;

    const auto parts = [&](std::uint32_t offset, std::uint32_t length) {
        Content out;
        concat->resolve(offset, length, out);
        return out;
    };
    CHECK(parts(0, 100) == content);
    CHECK(parts(10, 5) == Content{{lazy, 110, 5}});
    CHECK(parts(45, 10) == Content{{lazy, 145, 5}, {a, 8, 5}});
    CHECK(parts(49, 22) == Content{{lazy, 149, 1}, {a, 8, 20}, {nullptr, 0, 1}});
    CHECK(parts(50, 20) == Content{{a, 8, 20}});
    CHECK(parts(70, 0).empty());

    SECTION("a payload that is no concatenation is its own part") {
        Content out;
        a->resolve(5, 6, out);
        CHECK(out == Content{{a, 5, 6}});
    }
    SECTION("resolve appends, and merges with what is there") {
        Content out{{a, 0, 8}};
        concat->resolve(50, 4, out);
        CHECK(out == Content{{a, 0, 12}});
    }
}

TEST_CASE("a concatenation of concatenations has the same bytes") {
    const PayloadRef lazy(new LazyPayload(1000));
    Content inner;
    append(inner, {lazy, 0, 100});
    append(inner, {nullptr, 0, 10});
    const Slice first = joined(inner);
    Content outer;
    append(outer, first.sub(50, 60));
    append(outer, {lazy, 500, 10});
    const Slice both = joined(outer);

    auto expected = pattern(50, 50);
    expected.resize(60);
    const auto tail = pattern(10, 500);
    expected.insert(expected.end(), tail.begin(), tail.end());
    CHECK(bytes_of(both) == expected);
}

TEST_CASE("copying to a buffer of another size is a bug of the caller") {
    const PayloadRef a = make_bytes(pattern(64));
    std::vector<std::byte> out(8);
    CHECK_THROWS_AS(copy_bytes(Slice{a, 0, 9}, out), InternalError);
    CHECK_THROWS_AS(copy_bytes(Content{{a, 0, 4}}, out), InternalError);
}

TEST_CASE("a payload lives exactly as long as something refers to it") {
    bool alive = false;
    {
        Slice kept;
        {
            const PayloadRef lazy(new LazyPayload(64, &alive));
            kept = Slice{lazy, 0, 64}.sub(8, 8);
        }
        CHECK(alive);
        Content content{kept, {nullptr, 0, 1}};
        const Slice one = joined(content);
        kept = {};
        content.clear();
        CHECK(alive);
        CHECK(bytes_of(one.sub(0, 8)) == pattern(8, 8));
    }
    CHECK_FALSE(alive);
}

TEST_CASE("a kept payload lives as long as its maker says, whatever refers to it") {
    bool alive = false;
    auto kept = std::make_unique<LazyPayload>(64, &alive, Payload::Kind::kept);
    Slice left;
    {
        const PayloadRef one(kept.get());
        left = {one, 8, 16};
        CHECK(one == PayloadRef(kept.get()));
    }
    CHECK(alive);
    CHECK(bytes_of(left) == pattern(16, 8));
    kept.reset();
    CHECK_FALSE(alive);
    left = {};  // touches nothing
}
