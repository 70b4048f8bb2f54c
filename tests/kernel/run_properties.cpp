// SPDX-License-Identifier: Apache-2.0
/// What holds for every run: sums, bounds, determinism, and the ways of running that must not matter.
#include "models/engine/error.hpp"
#include "sim/result/result_json.hpp"
#include "tests/kernel/kernel_support.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

using namespace podsim;

namespace {

/// Counts rows whose blocks landed in another order than they were sent in.
class OrderListener final : public ObserverIf {
public:
    Interest interest() const override { return {false, true}; }
    void block_sent(const BlockEvent& b, Picoseconds /*at*/) override { sent_.push_back(b.address); }
    void block_landed(const BlockEvent& b, Picoseconds /*at*/) override {
        if (b.remote) {
            landed_.push_back(b.address);
        }
    }
    /// Neighbouring blocks of one 7 KB row that landed in reverse.
    std::size_t overtakes() const {
        std::map<GmAddress, std::size_t> when;
        for (std::size_t i = 0; i < landed_.size(); ++i) {
            when[landed_[i]] = i;
        }
        std::size_t count = 0;
        for (std::size_t i = 1; i < sent_.size(); ++i) {
            const bool same_row =
                sent_[i].card == sent_[i - 1].card && sent_[i].offset == sent_[i - 1].offset + kBlockBytes;
            count += same_row && when.at(sent_[i]) < when.at(sent_[i - 1]) ? 1 : 0;
        }
        return count;
    }

private:
    std::vector<GmAddress> sent_, landed_;
};

}  // namespace

TEST_CASE("sums and bounds hold in every kind of run", "[kernel]") {
    for (const Sets& sets :
         {Sets{}, Sets{"/calls=3"},
          Sets{"/workload/hidden=7168", "/workload/batch_size=32", "/workload/routing/kind=hot"},
          Sets{"/workload/routing/kind=hot", "/workload/routing/same_table=true"},
          Sets{kTiny, "/algorithm/aiv_cores=7"}, Sets{"/machine/launch/card_start_skew=20us"},
          Sets{"/machine/hccs/extra_reorder=3000"}, Sets{R"(/machine/topology/edits=[{"kind":"remove","plane":3}])"},
          Sets{R"(/machine/topology/edits=[{"kind":"slow","plane":2,"rate_scale":0.1}])"},
          Sets{"/cards=1", "/workload/experts=4"}, Sets{"/observe/stamps=cost"}}) {
        CAPTURE(sets);
        const auto simulation = run_with(sets);
        REQUIRE(simulation->status() == RunStatus::ok);
        keeps_its_sums(*simulation);
        keeps_its_bounds(*simulation);
    }
}

TEST_CASE("blocks of one row land out of order with default settings", "[kernel]") {
    OrderListener listener;
    const auto simulation = run_with({"/workload/hidden=7168", "/workload/batch_size=16"}, {&listener});
    REQUIRE(simulation->status() == RunStatus::ok);
    CHECK(listener.overtakes() > 0);
}

TEST_CASE("an edge removed in the machine file changes times and traffic", "[kernel]") {
    const auto whole = result_with({"/workload/hidden=7168"});
    const auto cut =
        result_with({"/workload/hidden=7168",
                     R"(/machine/topology/edits=[{"kind":"remove","from":"card0","to":"l1.n0.p2","plane":2}])"});
    CHECK(cut["status"] == "ok");
    CHECK(cut["fabric"]["plane_bytes"] != whole["fabric"]["plane_bytes"]);
    CHECK(cut["total_us"] != whole["total_us"]);
}

TEST_CASE("same config gives same bytes and another seed gives others", "[kernel]") {
    const Sets sets{"/calls=2", "/workload/routing/kind=uniform"};
    const std::string once = result_with(sets).dump();
    CHECK(result_with(sets).dump() == once);
    CHECK(result_with({"/calls=2", "/workload/routing/kind=uniform", "/seed=2"}).dump() != once);
}

TEST_CASE("ways of running that must not matter: wake, polling, payload", "[kernel]") {
    const Sets smoke{"/calls=2", "/workload/hidden=1056"};
    const Sets token{"/calls=3", "/workload/batch_size=5", "/algorithm/options/sync_mode=token_flag",
                     "/algorithm/options/cumsum=matrix", "/algorithm/options/flag_reset=clear"};
    const Sets stride{"/workload/quant=none", "/algorithm/options/status_stride_bytes=32",
                      "/workload/routing/kind=hot"};
    // What a wrong kernel reads depends on every last picosecond.
    const Sets wrong{"/algorithm/options/sync_mode=token_flag", "/algorithm/options/token_barrier=false",
                     "/machine/hccs/extra_reorder=2000"};
    for (const Sets& base : {smoke, token, stride, wrong, Sets{kTiny}}) {
        CAPTURE(base);
        const std::string plain = result_with(base).dump();
        for (const char* set : {"/engine/wake=systemc", "/engine/polling=explicit", "/engine/payload=copying"}) {
            CAPTURE(set);
            CHECK(result_with(base + Sets{set}).dump() == plain);
        }
        CHECK(result_with(base + Sets{"/engine/wake=systemc", "/engine/polling=explicit", "/engine/payload=copying",
                                      "/engine/quantum_us=0.5"})
                  .dump() == plain);
    }
}

TEST_CASE("a run out of simulated time is a time-out that names waiting cores", "[kernel]") {
    const auto simulation = run_with({"/limits/timeout_us=5"});
    CHECK(simulation->status() == RunStatus::timeout);
    CHECK(exit_code_of(simulation->status()) == ExitCode::stuck);
    REQUIRE(simulation->diagnosis().size() > 1);
    CHECK(simulation->diagnosis()[1].find("waits for") != std::string::npos);
    CHECK(result_json(*simulation)["status"] == "timeout");
}

TEST_CASE("a kernel that does not fit the Unified Buffer is told so with its line", "[kernel]") {
    const auto simulation =
        run_with({kTiny, "/workload/hidden=8192", "/workload/batch_size=64", "/algorithm/aiv_cores=4"});
    CHECK(simulation->status() == RunStatus::mismatch);
    REQUIRE(!simulation->diagnosis().empty());
    CHECK(simulation->diagnosis().front().find("Unified Buffer") != std::string::npos);
    CHECK(simulation->diagnosis().front().find("algorithms/dispatch/") != std::string::npos);
}
