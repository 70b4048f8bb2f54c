// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/timeline.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace podsim;
using nlohmann::json;

namespace {

constexpr CoreRef kCore{CardId{1}, CoreId{2}};

json written(const TimelineRecorder& timeline) {
    std::ostringstream text;
    timeline.write(text);
    return json::parse(text.str());
}

std::vector<json> slices(const json& trace) {
    std::vector<json> out;
    for (const json& event : trace.at("traceEvents")) {
        if (event.at("ph") == "X") {
            out.push_back(event);
        }
    }
    return out;
}

}  // namespace

TEST_CASE("timeline: slices with exact times from the first start, zero-length ones dropped", "[observe]") {
    TimelineRecorder timeline(2, 3);
    timeline.phase_entered(kCore, "init.setup", true, 2'000'000);
    timeline.phase_entered(kCore, "transfer.send", true, 3'000'001);
    timeline.phase_entered(kCore, "flags.poll", true, 3'000'001);
    timeline.phase_entered(kCore, "", true, 5'500'000);
    const json trace = written(timeline);
    const auto found = slices(trace);
    REQUIRE(found.size() == 2);
    CHECK(found[0]["name"] == "init.setup");
    CHECK(found[0]["cat"] == "init");
    CHECK(found[0]["pid"] == 1);
    CHECK(found[0]["tid"] == 2);
    CHECK(found[0]["ts"].get<double>() == 0.0);
    CHECK(found[0]["dur"].get<double>() == 1.000001);
    CHECK(found[1]["name"] == "flags.poll");
    CHECK(found[1]["ts"].get<double>() == 1.000001);
    CHECK(found[1]["dur"].get<double>() == 2.499999);
    std::size_t processes = 0, threads = 0;
    for (const json& event : trace["traceEvents"]) {
        processes += event["name"] == "process_name" ? 1 : 0;
        threads += event["name"] == "thread_name" ? 1 : 0;
    }
    CHECK(processes == 2);
    CHECK(threads == 6);
}

TEST_CASE("timeline: a stuck run ends its open slices, nothing at all is still a trace", "[observe]") {
    TimelineRecorder timeline(1, 1);
    CHECK(slices(written(timeline)).empty());
    timeline.phase_entered({}, "flags.poll", true, 10);
    timeline.close(1'000'010);
    timeline.close(2'000'000);
    const auto found = slices(written(timeline));
    REQUIRE(found.size() == 1);
    CHECK(found[0]["dur"].get<double>() == 1.0);
}

TEST_CASE("timeline: beyond its limit slices are counted and the trace says so", "[observe]") {
    TimelineRecorder timeline(1, 1, 2);
    for (Picoseconds at = 0; at < 5; ++at) {
        timeline.phase_entered({}, "reorder.copy", true, at);
    }
    timeline.phase_entered({}, "", true, 5);
    CHECK(timeline.slices() == 2);
    CHECK(timeline.dropped() == 3);
    CHECK(written(timeline)["otherData"]["slices_dropped"] == "3");
}
