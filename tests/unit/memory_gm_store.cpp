// SPDX-License-Identifier: Apache-2.0
// Contents of global memory against a flat array.
#include "models/engine/error.hpp"
#include "models/engine/random.hpp"
#include "models/memory/gm_store.hpp"
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace podsim;
using namespace podsim::test;

namespace {

std::vector<std::byte> read(const GmStore& gm, std::uint64_t offset, std::uint64_t bytes) {
    Content content;
    gm.read(offset, bytes, content);
    std::vector<std::byte> out(bytes);
    copy_bytes(content, out);
    return out;
}
/// Bytes that are not held anywhere to be copied: what a concatenation is made of.
class LazyBytes final : public Payload {
public:
    explicit LazyBytes(std::vector<std::byte> bytes)
        : Payload(static_cast<std::uint32_t>(bytes.size())), bytes_(std::move(bytes)) {}
    void copy_to(std::uint32_t offset, std::span<std::byte> out) const override {
        std::copy_n(bytes_.begin() + offset, out.size(), out.begin());
    }

private:
    std::vector<std::byte> bytes_;
};

/// `length` bytes of one of the kinds a store may carry.
BlockData some_block(std::uint64_t kind, std::uint32_t length, std::uint64_t seed) {
    const auto word = static_cast<std::uint32_t>(random_u64(seed, RandomStream::sampling, 1, 2));
    const std::uint32_t half = length / 2;
    Content content;
    switch (kind) {
        case 0:
        case 1:
            return Slice{nullptr, 0, length};
        case 2:
            return Slice{nullptr, word, length};
        case 3:  // a block and its flag
            append(content, Slice{PayloadRef(new LazyBytes(random_bytes(length, seed))), 0, length - half});
            append(content, Slice{nullptr, word, half});
            return block_of(content);
        case 4:  // a concatenation
            append(content, Slice{PayloadRef(new LazyBytes(random_bytes(length, seed))), half, length - half});
            append(content, Slice{make_bytes(random_bytes(length, seed + 1)), 0, half});
            return block_of(content);
        default:  // from inside a larger payload
            return Slice{make_bytes(random_bytes(length + 5, seed)), 5, length};
    }
}

PayloadMode mode() { return GENERATE(PayloadMode::extents, PayloadMode::copying); }

}  // namespace

TEST_CASE("gm: random writes and reads against a flat array", "[memory]") {
    GmStore gm(mode());
    const std::uint64_t seed = GENERATE(range(1, 60));
    const auto draw = [seed](std::uint64_t n, std::uint64_t bound) {
        return random_below(seed, RandomStream::sampling, 17, n, bound);
    };
    constexpr std::uint64_t kSize = 16 * 512;
    std::vector<std::byte> flat(kSize);
    std::uint64_t n = 0;
    for (int step = 0; step < 1000; ++step) {
        const std::uint64_t offset = draw(++n, kSize);
        if (draw(++n, 2) == 0) {
            const std::uint64_t room = 512 - offset % 512;
            const auto length = static_cast<std::uint32_t>(1 + draw(++n, room));
            const BlockData data = some_block(draw(++n, 8), length, seed * 10'000 + static_cast<std::uint64_t>(step));
            REQUIRE(data.length() == length);
            gm.write(offset, data);
            Content content;
            append(content, data);
            copy_bytes(content, std::span(flat).subspan(offset, length));
        } else {
            const std::uint64_t length = 1 + draw(++n, kSize - offset);
            const auto begin = flat.begin() + static_cast<std::ptrdiff_t>(offset);
            REQUIRE(read(gm, offset, length) ==
                    std::vector<std::byte>(begin, begin + static_cast<std::ptrdiff_t>(length)));
        }
    }
}

TEST_CASE("gm: zeros behind an extent that ends in a word change nothing", "[memory]") {
    GmStore gm(mode());
    const std::uint32_t word = 0x07070707;
    gm.write(0, Slice{make_bytes(random_bytes(64, 1)), 0, 64});
    gm.write(64, Slice{nullptr, word, 32});
    auto expected = read(gm, 0, 512);
    const std::uint32_t from = GENERATE(96, 97, 256, 500);
    gm.write(from, Slice{nullptr, 0, 8});
    CHECK(read(gm, 0, 512) == expected);
    gm.write(80, Slice{nullptr, 0, 400});  // wipes the word's end, then behind it again
    std::fill(expected.begin() + 80, expected.end(), std::byte{0});
    gm.write(200, Slice{nullptr, 0, 8});
    CHECK(read(gm, 0, 512) == expected);
}

TEST_CASE("gm: a line tells when it was stored to and read, to the ns at first, then coarsely", "[memory]") {
    Line line;
    for (const std::uint64_t ns : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1'048'575},
                                   std::uint64_t{1'048'576}, std::uint64_t{4'194'304}, std::uint64_t{8'000'000'123}}) {
        line.landed(static_cast<Picoseconds>(ns) * 1000);
        line.read(static_cast<Picoseconds>(ns) * 1000 + 999);
        const std::uint64_t step = ns < 1'048'576 ? 1 : 8192;
        CHECK(line.landed_ns() == ns / step * step);
        CHECK(line.read_ns() == ns / step * step);
    }
}

TEST_CASE("gm: untouched memory is zeros and costs nothing, however far", "[memory]") {
    GmStore gm(mode());
    const std::uint64_t far = std::uint64_t{60} << 30;
    CHECK(read(gm, far, 1000) == std::vector<std::byte>(1000));
    CHECK(gm.lines_touched() == 0);
    CHECK(gm.find(line_of(far)) == nullptr);
    const auto bytes = random_bytes(512, 4);
    gm.write(far, Slice{make_bytes(bytes), 0, 512});
    CHECK(read(gm, far, 512) == bytes);
    CHECK(read(gm, far - 512, 512) == std::vector<std::byte>(512));
    CHECK(gm.lines_touched() <= 16);
    REQUIRE(gm.find(line_of(far)) != nullptr);
}

TEST_CASE("gm: a store that crosses a line is podsim's bug", "[memory]") {
    GmStore gm(PayloadMode::extents);
    CHECK_THROWS_AS(gm.write(500, Slice{make_bytes(random_bytes(13, 1)), 0, 13}), InternalError);
    CHECK_NOTHROW(gm.write(500, Slice{make_bytes(random_bytes(12, 1)), 0, 12}));
}

TEST_CASE("gm: what was read stays what it was", "[memory]") {
    GmStore gm(mode());
    const auto before = random_bytes(512, 1);
    gm.write(0, Slice{make_bytes(before), 0, 512});
    Content content;
    gm.read(0, 512, content);
    gm.write(100, Slice{make_bytes(random_bytes(50, 2)), 0, 50});
    std::vector<std::byte> out(512);
    copy_bytes(content, out);
    CHECK(out == before);
}
