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
PayloadMode mode() { return GENERATE(PayloadMode::extents, PayloadMode::copying); }

}  // namespace

TEST_CASE("gm: random writes and reads against a flat array", "[memory]") {
    GmStore gm(mode());
    const std::uint64_t seed = GENERATE(1, 2, 3);
    const auto draw = [seed](std::uint64_t n, std::uint64_t bound) {
        return random_below(seed, RandomStream::sampling, 17, n, bound);
    };
    constexpr std::uint64_t kSize = 16 * 512;
    std::vector<std::byte> flat(kSize);
    std::uint64_t n = 0;
    for (int step = 0; step < 4000; ++step) {
        const std::uint64_t offset = draw(++n, kSize);
        if (draw(++n, 2) == 0) {
            const std::uint64_t room = 512 - offset % 512;
            const auto length = static_cast<std::uint32_t>(1 + draw(++n, room));
            auto bytes = random_bytes(length + 5, seed * 10'000 + static_cast<std::uint64_t>(step));
            if (draw(++n, 6) == 0) {
                gm.write(offset, {nullptr, 0, length});
                std::fill_n(flat.begin() + static_cast<std::ptrdiff_t>(offset), length, std::byte{0});
            } else {
                gm.write(offset, {make_bytes(bytes), 5, length});  // from inside a larger payload
                std::copy_n(bytes.begin() + 5, length, flat.begin() + static_cast<std::ptrdiff_t>(offset));
            }
        } else {
            const std::uint64_t length = 1 + draw(++n, kSize - offset);
            const auto begin = flat.begin() + static_cast<std::ptrdiff_t>(offset);
            REQUIRE(read(gm, offset, length) ==
                    std::vector<std::byte>(begin, begin + static_cast<std::ptrdiff_t>(length)));
        }
    }
}

TEST_CASE("gm: untouched memory is zeros and costs nothing, however far", "[memory]") {
    GmStore gm(mode());
    const std::uint64_t far = std::uint64_t{60} << 30;
    CHECK(read(gm, far, 1000) == std::vector<std::byte>(1000));
    CHECK(gm.lines_touched() == 0);
    CHECK(gm.find(line_of(far)) == nullptr);
    const auto bytes = random_bytes(512, 4);
    gm.write(far, {make_bytes(bytes), 0, 512});
    CHECK(read(gm, far, 512) == bytes);
    CHECK(read(gm, far - 512, 512) == std::vector<std::byte>(512));
    CHECK(gm.lines_touched() <= 16);
    REQUIRE(gm.find(line_of(far)) != nullptr);
}

TEST_CASE("gm: a store that crosses a line is podsim's bug", "[memory]") {
    GmStore gm(PayloadMode::extents);
    CHECK_THROWS_AS(gm.write(500, {make_bytes(random_bytes(13, 1)), 0, 13}), InternalError);
    CHECK_NOTHROW(gm.write(500, {make_bytes(random_bytes(12, 1)), 0, 12}));
}

TEST_CASE("gm: what was read stays what it was", "[memory]") {
    GmStore gm(mode());
    const auto before = random_bytes(512, 1);
    gm.write(0, {make_bytes(before), 0, 512});
    Content content;
    gm.read(0, 512, content);
    gm.write(100, {make_bytes(random_bytes(50, 2)), 0, 50});
    std::vector<std::byte> out(512);
    copy_bytes(content, out);
    CHECK(out == before);
}
