// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/plane_hash.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace podsim;

namespace {

std::vector<int> blocks_per_plane(const PlaneHash& hash, std::uint32_t planes, CardId card, std::uint64_t first,
                                  std::uint32_t blocks) {
    std::vector<int> count(planes, 0);
    for (std::uint32_t i = 0; i < blocks; ++i) {
        ++count[hash.plane({card, first + std::uint64_t{i} * kBlockBytes})];
    }
    return count;
}

}  // namespace

TEST_CASE("fabric: a 7 KB row is exactly 1 KB on each of 7 planes, wherever it starts", "[fabric]") {
    const PlaneHash hash(7, 512);
    for (std::uint64_t start = 0; start < 64; ++start) {
        for (std::uint32_t card = 0; card < 9; ++card) {
            CHECK(blocks_per_plane(hash, 7, CardId{card}, start * 512 + (std::uint64_t{1} << 33), 14) ==
                  std::vector<int>(7, 2));
        }
    }
    // 21 blocks with in-block flags: 3 a plane.
    CHECK(blocks_per_plane(hash, 7, CardId{5}, 21 * 512, 21) == std::vector<int>(7, 3));
}

TEST_CASE("fabric: any contiguous run is even to within one granule", "[fabric]") {
    const std::uint32_t planes = GENERATE(1U, 2U, 3U, 6U, 7U);
    const PlaneHash hash(planes, 512);
    for (std::uint32_t blocks = 1; blocks < 40; ++blocks) {
        const auto count = blocks_per_plane(hash, planes, CardId{3}, 0, blocks);
        CHECK(*std::max_element(count.begin(), count.end()) - *std::min_element(count.begin(), count.end()) <= 1);
    }
}

TEST_CASE("fabric: 1 KB granules keep pairs of blocks together", "[fabric]") {
    const PlaneHash hash(7, 1024);
    CHECK(hash.plane({CardId{0}, 0}) == hash.plane({CardId{0}, 512}));
    CHECK(hash.plane({CardId{0}, 0}) != hash.plane({CardId{0}, 1024}));
    CHECK(blocks_per_plane(hash, 7, CardId{0}, 7 * 1024, 14) == std::vector<int>(7, 2));
}

TEST_CASE("fabric: a granule of three blocks stays together", "[fabric]") {
    const PlaneHash hash(5, 1536);
    for (std::uint64_t granule = 0; granule < 20; ++granule) {
        for (std::uint64_t byte : {0U, 511U, 512U, 1535U}) {
            CHECK(hash.plane({CardId{1}, granule * 1536 + byte}) == (granule + 1) % 5);
        }
    }
}

TEST_CASE("fabric: one offset of many cards uses all planes, one line one plane", "[fabric]") {
    const PlaneHash hash(7, 512);
    std::vector<int> count(7, 0);
    for (std::uint32_t card = 0; card < 70; ++card) {
        ++count[hash.plane({CardId{card}, 4096})];
        CHECK(hash.plane({CardId{card}, 4096}) == hash.plane({CardId{card}, 4096 + 511}));
    }
    CHECK(count == std::vector<int>(7, 10));
}

TEST_CASE("fabric: blocks of a dead plane spread evenly over the others", "[fabric]") {
    const PlaneHash hash(7, 512);
    std::vector<int> count(6, 0);
    for (std::uint64_t granule = 0; granule < 7 * 60; ++granule) {
        const GmAddress address{CardId{2}, granule * 512};
        if (hash.plane(address) == 4) {
            ++count[hash.substitute(address, 6)];
        }
    }
    CHECK(count == std::vector<int>(6, 10));
}

TEST_CASE("fabric: two dead planes of four, whose number is a multiple of those left", "[fabric]") {
    const PlaneHash hash(4, 512);
    std::vector<int> count(2, 0);
    for (std::uint64_t granule = 0; granule < 4 * 40; ++granule) {
        const GmAddress address{CardId{1}, granule * 512};
        if (hash.plane(address) == 3) {
            ++count[hash.substitute(address, 2)];
        }
    }
    CHECK(count == std::vector<int>(2, 20));
}
