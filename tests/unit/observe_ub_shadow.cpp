// SPDX-License-Identifier: Apache-2.0
/// The shadow of UB against a plain list of every access.
#include "models/engine/random.hpp"
#include "sim/observe/ub_shadow.hpp"

#include <catch2/catch.hpp>

using namespace podsim;

namespace {

struct Past {
    UbAccess access;
    UbRange range;
    bool write;
};

/// What UbShadow leaves to transitivity is spelled out: clocks that only ever grow, as a program's do.
bool in_order(const Past& a, const UbAccess& b) {
    const bool same_unit = a.access.pipe == b.pipe && b.pipe != Pipe::v;
    return same_unit || a.access.number <= b.after[static_cast<std::size_t>(a.access.pipe)];
}

}  // namespace

TEST_CASE("ub shadow: finds a conflict exactly where a list of all accesses does", "[observe]") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        std::uint64_t drawn = 0;
        const auto draw = [&](std::uint64_t below) {
            return random_u64(seed, RandomStream::sampling, 7, drawn++) % below;
        };
        UbShadow shadow;
        std::vector<Past> past;
        PipeClock known[kPipes]{};
        PipeClock last{};
        for (int step = 0; step < 300; ++step) {
            const auto p = static_cast<std::size_t>(draw(kPipes));
            if (draw(3) == 0) {  // a flag: `p` learns all of another pipe, or its own at a barrier
                const auto q = static_cast<std::size_t>(draw(kPipes));
                PipeClock done = known[q];
                done[q] = last[q];
                join(known[p], done);
                continue;
            }
            const UbAccess access{static_cast<Pipe>(p), ++last[p], known[p]};
            // Around 32 KB: a boundary of any page the shadow may have.
            const UbRange range{static_cast<std::uint32_t>(32768 - 64 + 4 * draw(32)),
                                static_cast<std::uint32_t>(4 + 4 * draw(16))};
            const bool write = draw(2) == 0;
            std::vector<UbConflict> found;
            shadow.access(access, range, write, found);
            bool expected = false;
            for (const Past& a : past) {
                expected = expected || ((a.write || write) && a.range.overlaps(range) && !in_order(a, access));
            }
            CAPTURE(seed, step);
            REQUIRE(!found.empty() == expected);
            for (const UbConflict& c : found) {
                const bool real = std::any_of(past.begin(), past.end(), [&](const Past& a) {
                    return a.access.pipe == c.pipe && a.access.number == c.number && a.write == c.other_wrote &&
                           a.range.overlaps({c.from, c.to - c.from}) && !in_order(a, access);
                });
                REQUIRE(real);
                REQUIRE(range.overlaps({c.from, c.to - c.from}));
            }
            past.push_back({access, range, write});
        }
    }
}

TEST_CASE("ub shadow: bytes with one history make one conflict, however many there are", "[observe]") {
    constexpr UbRange kWritten{100, 60000}, kRead{40, 50000};
    UbShadow shadow;
    std::vector<UbConflict> found;
    shadow.access({Pipe::mte2, 1, {}}, kWritten, true, found);
    REQUIRE(found.empty());
    shadow.access({Pipe::v, 1, {}}, kRead, false, found);
    REQUIRE(found.size() == 1);
    CHECK(found[0].from == 100);
    CHECK(found[0].to == 50040);
    shadow.clear();
    shadow.access({Pipe::mte3, 1, {}}, kWritten, true, found);
    CHECK(found.size() == 1);
}
