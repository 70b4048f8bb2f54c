// SPDX-License-Identifier: Apache-2.0
#include "models/engine/param.hpp"

#include <catch2/catch.hpp>

using namespace podsim;

TEST_CASE("a parameter is used once a model reads it, not when it is printed or set") {
    Param<int> bound(40);
    CHECK_FALSE(bound.used());
    CHECK(bound.peek() == 40);
    bound.set(56);
    CHECK_FALSE(bound.used());

    SECTION("by get()") {
        CHECK(bound.get() == 56);
        CHECK(bound.used());
    }
    SECTION("by use as a number") {
        const int twice = bound + bound;
        CHECK(twice == 112);
        CHECK(bound.used());
    }
    SECTION("a copy has a life of its own") {
        const Param<int> copy = bound;
        CHECK(copy.get() == 56);
        CHECK_FALSE(bound.used());
    }
}
