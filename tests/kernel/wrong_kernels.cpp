// SPDX-License-Identifier: Apache-2.0
/// Kernels with a mistake in them: each ends as it should, with a diagnosis that leads to the mistake.
#include "algorithms/dispatch/dispatch_args.hpp"
#include "algorithms/kernel_api/aiv.hpp"
#include "algorithms/kernel_api/registry.hpp"
#include "models/engine/error.hpp"
#include "sim/result/result_json.hpp"
#include "tests/kernel/kernel_support.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <set>

using namespace podsim;

namespace {

constexpr std::uint32_t kSilent = 3;   // card whose flag …
constexpr std::uint32_t kWaiting = 1;  // … to this card never leaves

/// Core 0 of every card raises a flag on every card and waits for all of them; one is forgotten.
Task<void> lost_flag(Aiv& aiv, const DispatchArgs& args) {
    aiv.Phase("flags.send");
    if (args.core == 0) {
        const std::uint32_t cards = args.workload->cards;
        const auto flag = aiv.Alloc<std::int32_t>(8);
        aiv.Duplicate(flag, std::int32_t{1}, 8);
        aiv.Sync<HardEvent::V_MTE3>();
        for (std::uint32_t to = 0; to < cards; ++to) {
            if (args.card != kSilent || to != kWaiting) {
                aiv.DataCopyPad(args.layout->status(to, 0, args.card), flag, {1, 32, 0, 0});
            }
        }
        aiv.Phase("flags.poll");
        const auto seen = aiv.Alloc<std::int32_t>(8);
        for (std::uint32_t from = 0; from < cards; ++from) {
            PollSpec poll;
            poll.copy = aiv.PollCopy(seen, args.layout->status(args.card, 0, from), {1, 32, 0, 0});
            Aiv::PollCompare(poll, seen, Compare::eq, std::int32_t{1});
            co_await aiv.PollUntil(poll);
        }
    }
    aiv.End();
}

/// One core never comes to the barrier.
Task<void> lost_barrier(Aiv& aiv, const DispatchArgs& args) {
    aiv.Phase("flags.barrier");
    if (args.card != kWaiting || args.core != 2) {
        aiv.SyncAll();
    }
    aiv.End();
    co_return;
}

/// A right Dispatch but for the last token of one card.
Task<void> lost_token(Aiv& aiv, const DispatchArgs& args) {
    DispatchArgs fewer = args;
    if (args.card == kSilent) {
        --fewer.tokens;
    }
    co_await find_kernel("baseline")->body(aiv, fewer);
}

/// Nothing at all.
Task<void> no_output(Aiv& aiv, const DispatchArgs&) {
    aiv.Phase("reorder.copy");
    aiv.End();
    co_return;
}

/// More than any Unified Buffer has, and nothing said of it beforehand.
Task<void> too_large(Aiv& aiv, const DispatchArgs&) {
    aiv.Phase("init.setup");
    aiv.Alloc<std::int32_t>(1U << 20U);
    aiv.End();
    co_return;
}

KernelInfo describe(const char* name, KernelBody body) {
    KernelInfo info;
    info.name = name;
    info.summary = "A mistake, for tests.";
    info.options = find_kernel("baseline")->options;
    info.body = body;
    return info;
}
KernelInfo describe_lost_flag() { return describe("test_lost_flag", lost_flag); }
KernelInfo describe_lost_barrier() { return describe("test_lost_barrier", lost_barrier); }
KernelInfo describe_lost_token() { return describe("test_lost_token", lost_token); }
KernelInfo describe_no_output() { return describe("test_no_output", no_output); }
KernelInfo describe_too_large() { return describe("test_too_large", too_large); }

PODSIM_KERNEL(describe_lost_flag);
PODSIM_KERNEL(describe_lost_barrier);
PODSIM_KERNEL(describe_lost_token);
PODSIM_KERNEL(describe_no_output);
PODSIM_KERNEL(describe_too_large);

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a flag that is never sent is a deadlock that names who waits, for what, and where", "[kernel]") {
    for (const char* polling : {"elided", "explicit"}) {
        for (const char* wake : {"calendar", "systemc"}) {
            CAPTURE(polling, wake);
            const auto simulation =
                run_with({"/algorithm/name=test_lost_flag", "/algorithm/aiv_cores=4",
                          std::string("/engine/polling=") + polling, std::string("/engine/wake=") + wake});
            CHECK(name_of(simulation->status()) == "deadlock");
            CHECK(exit_code_of(simulation->status()) == ExitCode::stuck);
            // The heading, and the one core that waits.
            REQUIRE(simulation->diagnosis().size() == 2);
            const std::string& who = simulation->diagnosis()[1];
            CAPTURE(who);
            CHECK(contains(who, "card 1 core 0 waits for PollUntil"));
            CHECK(contains(who, "wrong_kernels.cpp"));
            const auto result = result_json(*simulation);
            CHECK(result["status"] == "deadlock");
            CHECK(result["functional"]["ok"] == false);
            CHECK(result["diagnosis"].size() == 2);
            CHECK_FALSE(result.contains("total_us"));
        }
    }
}

TEST_CASE("a core that misses the barrier is a deadlock that names those who wait in it", "[kernel]") {
    const auto simulation = run_with({"/algorithm/name=test_lost_barrier", "/algorithm/aiv_cores=4"});
    CHECK(name_of(simulation->status()) == "deadlock");
    REQUIRE(simulation->diagnosis().size() == 4);
    for (std::size_t i = 1; i < 4; ++i) {
        CAPTURE(simulation->diagnosis()[i]);
        CHECK(contains(simulation->diagnosis()[i], "card 1 core "));
        CHECK(contains(simulation->diagnosis()[i], "SyncAll"));
        CHECK(contains(simulation->diagnosis()[i], "wrong_kernels.cpp"));
    }
}

TEST_CASE("a token that is never sent makes counts wrong on every card it should have gone to", "[kernel]") {
    const auto simulation = run_with({"/algorithm/name=test_lost_token"});
    CHECK(name_of(simulation->status()) == "mismatch");
    const OutputCheck& check = simulation->job().check();
    REQUIRE(check.mismatches() > 0);
    // Its four copies are missing somewhere, behind which a card's prefix sums are off.
    std::set<std::string> wrong;
    for (const Mismatch& m : check.examples()) {
        wrong.insert(m.what);
    }
    CHECK((wrong.contains("ep_recv_counts") || wrong.contains("triple")));
    CHECK(result_json(*simulation)["functional"]["ok"] == false);
}

TEST_CASE("a kernel that writes nothing has every row wrong, in every call", "[kernel]") {
    const auto simulation = run_with({"/algorithm/name=test_no_output", "/calls=2"});
    CHECK(name_of(simulation->status()) == "mismatch");
    CHECK(simulation->job().check().rows() == 2 * 8 * 8 * 4);
    CHECK(simulation->job().check().mismatches() >= 2 * 8 * 8 * 4);
    CHECK(simulation->job().check().examples().size() == 16);
}

TEST_CASE("a kernel that does not say what it needs ends at the allocation that does not fit", "[kernel]") {
    const auto simulation = run_with({"/algorithm/name=test_too_large"});
    CHECK(simulation->status() == RunStatus::mismatch);
    CHECK(exit_code_of(simulation->status()) == ExitCode::kernel_wrong);
    CHECK(simulation->failure() == "broken_rule");
    REQUIRE(simulation->diagnosis().size() == 1);
    CHECK(contains(simulation->diagnosis()[0], "wrong_kernels.cpp"));
    CHECK(contains(simulation->diagnosis()[0], "4194304 B more than the 196352 B of the Unified Buffer that are left"));
}

TEST_CASE("a run out of host time is a time-out, however short the run", "[kernel]") {
    // A millisecond of host time.
    const Sets brief = sized({2, 2, 2, 2, 96, 8});
    {
        const auto late = run_with(brief + Sets{"/limits/max_wall_s=0.000001"});
        REQUIRE(name_of(late->status()) == "timeout");
        CHECK(contains(late->diagnosis().front(), "/limits/max_wall_s"));
        CHECK(late->host().events == 256);  // the first look at the clock
    }
    {
        const auto in_time = run_with(brief + Sets{"/limits/max_wall_s=600"});
        CHECK(in_time->status() == RunStatus::ok);
        CHECK(in_time->host().events < 1000);
    }
    const auto simulation =
        run_with(sized({8, 1, 128, 8, 7168, 48}) + Sets{"/limits/max_wall_s=0.001", "/check/hazards=off", "/calls=3"});
    CHECK(name_of(simulation->status()) == "timeout");
    REQUIRE(simulation->diagnosis().size() > 1);
    CHECK(contains(simulation->diagnosis().front(), "/limits/max_wall_s"));
    CHECK(result_json(*simulation)["status"] == "timeout");
}
