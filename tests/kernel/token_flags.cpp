// SPDX-License-Identifier: Apache-2.0
/// A token flag behind its row: what its barrier is for, and what the ordered fabric gives instead.
#include "models/engine/error.hpp"
#include "tests/kernel/kernel_support.hpp"

#include <catch2/catch.hpp>

using namespace podsim;

namespace {

const Sets kTokenFlags{"/algorithm/options/sync_mode=token_flag"};
const Sets kBare{"/algorithm/options/token_barrier=false"};
const Sets kInOrder{"/machine/hccs/network_in_order=true"};
const Sets kOrdered{"/machine/hccs/network_in_order=true", "/machine/hccs/noc_first_packet_order=true"};

/// Ends in a mismatch that names a row, and a block that landed after it was read.
void reads_too_early(const Sets& sets) {
    const auto simulation = run_with(sets);
    CHECK(simulation->status() == RunStatus::mismatch);
    CHECK(exit_code_of(simulation->status()) == ExitCode::kernel_wrong);
    const OutputCheck& check = simulation->job().check();
    CHECK(check.mismatches() > 0);
    REQUIRE(!check.examples().empty());
    const Workload& w = simulation->config().workload;
    for (const Mismatch& m : check.examples()) {
        CHECK(m.card < w.cards);
        CHECK(m.expert >= 0);
        CHECK(w.card_of_expert(static_cast<std::uint32_t>(m.expert)) == m.card);
        CHECK(m.row >= 0);
        CHECK(m.source >= 0);
        CHECK(m.expected != m.found);
        CHECK(m.landed_us >= m.read_us);
        CHECK(m.read_us > 0);
    }
    REQUIRE(!simulation->diagnosis().empty());
    const std::string& told = simulation->diagnosis().front();
    for (const char* part : {"card ", "expert ", "byte ", "landed at ", "read at "}) {
        CHECK(told.find(part) != std::string::npos);
    }
    CHECK_FALSE(check.examples().size() > 16);
}

/// Ends in a mismatch, at least so many flags having left too early.
void leave_too_early(const Sets& sets, std::uint64_t flags) {
    const auto simulation = run_with(sets);
    CHECK(simulation->status() == RunStatus::mismatch);
    CHECK(exit_code_of(simulation->status()) == ExitCode::kernel_wrong);
    CHECK(simulation->job().flags().early() >= flags);
    REQUIRE(!simulation->diagnosis().empty());
    CHECK(simulation->diagnosis().back().find("row_sender.cpp") != std::string::npos);
}

}  // namespace

TEST_CASE("token flag without barrier: wrong where blocks are delayed at random", "[kernel]") {
    const Sets jitter = sized({8, 2, 8, 4, 1024, 48}) + kTokenFlags + Sets{"/machine/hccs/extra_reorder=2000"};
    const std::uint64_t rows = 8 * 8 * 4;
    reads_too_early(jitter + kBare);
    delivers(jitter, rows);
    delivers(jitter + kBare + kOrdered, rows);
    delivers(jitter + kOrdered, rows);
}

TEST_CASE("token flag without barrier: wrong under incast alone, with default settings", "[kernel]") {
    // Two nodes, everybody to one expert: the destination's ports queue for some dozen us, and not all alike.
    const Sets incast = sized({24, 1, 32, 1, 7168, 48}) + kTokenFlags +
                        Sets{"/workload/routing/kind=hot", "/workload/routing/hot_share=1", "/check/hazards=on"};
    const std::uint64_t rows = 24 * 32;
    reads_too_early(incast + kBare);
    delivers(incast, rows);
    delivers(incast + kBare + kOrdered, rows);
    delivers(incast + kOrdered, rows);
}

TEST_CASE("token flag without barrier: wrong on an unordered fabric also where no byte is", "[kernel]") {
    // Nothing is late here. A row takes longer to be acknowledged than the next copy to leave, so every flag is early.
    const Sets quiet = sized({8, 2, 8, 4, 1024, 48}) + kTokenFlags;
    const std::uint64_t rows = 8 * 8 * 4;
    const Sets kModes[] = {{"/seed=2"},
                           {kTiny, "/algorithm/aiv_cores=4"},
                           {"/algorithm/options/early_counts=true", "/algorithm/options/cumsum=early"},
                           {"/algorithm/options/out_of_order=true", "/algorithm/options/receive_batch=4"},
                           {"/calls=3", "/algorithm/options/soft_sync=true", "/algorithm/options/flag_reset=clear"}};
    for (const Sets& mode : kModes) {
        CAPTURE(mode);
        // There a flag waits for one of its core's few requests in flight, and may leave behind its row by luck.
        const bool few_in_flight = mode.front() == kTiny;
        const std::uint64_t all = rows * (mode.front() == "/calls=3" ? 3 : 1);
        for (const Sets& fabric : {Sets{}, kInOrder}) {
            leave_too_early(quiet + mode + kBare + fabric, few_in_flight ? 1 : all);
            delivers(quiet + mode + fabric, all);
        }
        delivers(quiet + mode + kBare + kOrdered, all);
        delivers(quiet + mode + kOrdered, all);
    }
}

TEST_CASE("token flag without barrier: order in the network alone is not enough where planes differ", "[kernel]") {
    // A slow uplink lets later blocks of the core's own row, and their flag, reach their switches first.
    const Sets slow =
        sized({8, 1, 64, 2, 7168, 48}) + kTokenFlags +
        Sets{R"(/machine/topology/edits=[{"kind":"slow","from":"card0","to":"l1.n0.p2","rate_scale":0.2}])"};
    const std::uint64_t rows = 8 * 64 * 2;
    reads_too_early(slow + kBare);
    reads_too_early(slow + kBare + kInOrder);
    delivers(slow + kBare + kOrdered, rows);
    delivers(slow, rows);
    delivers(slow + kInOrder, rows);
}
