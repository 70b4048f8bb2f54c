// SPDX-License-Identifier: Apache-2.0
#include "sim/config/nearest.hpp"
#include "sim/config/quantity.hpp"

#include <catch2/catch.hpp>

using namespace podsim;

TEST_CASE("config names: the nearest valid name, or the list", "[config]") {
    const std::vector<std::string> names{"batch_size", "hidden", "top_k", "experts"};
    CHECK(nearest_name("batchsize", names) == "batch_size");
    CHECK(nearest_name("batch-size", names) == "batch_size");
    CHECK(nearest_name("BATCH_SIZE", names) == "batch_size");
    CHECK(nearest_name("hiden", names) == "hidden");
    CHECK(nearest_name("hiddne", names) == "hidden");
    CHECK(nearest_name("expert", names) == "experts");
    CHECK(nearest_name("zzzzzzzzzz", names).empty());
    CHECK(name_hint("zzzzzzzzzz", names) == "valid: batch_size, hidden, top_k, experts");
    CHECK(name_hint("x", {}).empty());
    CHECK(nearest_name(std::string(1'000'000, 'a'), names).empty());
}

TEST_CASE("config units: sizes by definition, none across dimensions", "[config]") {
    CHECK(unit_size(Dimension::time, "ns") == 1e3);
    CHECK(unit_size(Dimension::time, "us") == 1e6);
    CHECK(unit_size(Dimension::bytes, "KB") == 1000);
    CHECK(unit_size(Dimension::bytes, "KiB") == 1024);
    CHECK(unit_size(Dimension::bytes, "GiB") == 1024.0 * 1024 * 1024);
    CHECK(unit_size(Dimension::rate, "GB/s") == 1000);  // bytes per us
    CHECK(unit_size(Dimension::rate, "Gbps") == 125);   // 1e9 / 8 / 1e6
    CHECK(unit_size(Dimension::rate, "GiB/s") == Approx(1073.741824));
    CHECK(unit_size(Dimension::frequency, "GHz") == 1000);
    CHECK(unit_size(Dimension::cycles, "cycles") == 1000);
    CHECK_FALSE(unit_size(Dimension::time, "cycles"));
    CHECK_FALSE(unit_size(Dimension::rate, "Gb/s"));
    CHECK_FALSE(unit_size(Dimension::bytes, "kb"));
}

TEST_CASE("config units: quantities as typed", "[config]") {
    CHECK(parse_quantity("56GB/s")->value == 56);
    CHECK(parse_quantity("56GB/s")->unit == "GB/s");
    CHECK(parse_quantity("1.2 us")->unit == "us");
    CHECK(parse_quantity("-3ns")->value == -3);
    CHECK_FALSE(parse_quantity("fast"));
    CHECK_FALSE(parse_quantity("inf us"));
    CHECK_FALSE(parse_quantity("1e999ns"));
    CHECK_FALSE(parse_quantity(""));
}
