// SPDX-License-Identifier: Apache-2.0
/// What holds for every run: sums, bounds, determinism, and the ways of running that must not matter.
#include "models/engine/error.hpp"
#include "sim/result/metrics.hpp"
#include "tests/kernel/kernel_support.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <numeric>

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

TEST_CASE("phases and idle sum to the total, sub-phases to their group, and no run beats its bounds", "[kernel]") {
    for (const Sets& sets : {Sets{}, Sets{"/calls=3"}, Sets{"/workload/hidden=7168", "/workload/batch_size=16"},
                             Sets{"/workload/routing/kind=hot"}, Sets{kTiny, "/algorithm/aiv_cores=7"}}) {
        const auto simulation = run_with(sets);
        REQUIRE(simulation->status() == RunStatus::ok);
        const std::uint32_t last = simulation->config().calls - 1;
        const Metrics m = metrics_of(*simulation, {0, last});
        double sum = 0;
        for (const auto& [group, mean] : m.phases_us) {
            sum += mean;
            double parts = 0;
            for (const auto& [name, value] : m.subphases_us) {
                parts += name.starts_with(group + ".") ? value : 0;
            }
            if (group != "idle") {
                CHECK(parts == Approx(mean).margin(1e-9));
            }
        }
        CHECK(sum == Approx(m.total_us).margin(1e-6));
        CHECK(m.phases_us.at("idle") >= 0);
        const Bounds b = bounds_of(*simulation);
        for (const double bound : {b.wire, b.incast, b.hbm, b.aiv_issue, b.latency}) {
            CHECK(bound >= 0);
            CHECK(bound <= m.total_us);
        }
    }
}

TEST_CASE("a core's phases fill its time", "[kernel]") {
    const auto simulation = run_with({});
    for (std::uint32_t core = 0; core < 48; ++core) {
        const CoreCall& c = simulation->phases().core_call(0, {CardId{3}, CoreId{core}});
        CHECK(std::accumulate(c.phases.begin(), c.phases.end(), Picoseconds{0}) == c.ended - c.started);
    }
}

TEST_CASE("no port carries more than its rate", "[kernel]") {
    const auto simulation =
        run_with({"/workload/hidden=7168", "/workload/batch_size=32", "/workload/routing/kind=hot"});
    const Network& network = simulation->pod().fabric().network();
    const FabricParams& fabric = simulation->config().machine.fabric;
    const double total = metrics_of(*simulation, {0, 0}).total_us;
    for (std::uint32_t card = 0; card < 8; ++card) {
        for (std::uint32_t plane = 0; plane < fabric.topology.planes.peek(); ++plane) {
            const PortStatistics p = network.port_statistics(CardId{card}, PlaneId{plane});
            for (const LinkCounters& c : {p.out, p.in}) {
                CHECK(to_us(c.busy) <= total);
                CHECK(static_cast<double>(c.wire_bytes) <= static_cast<double>(fabric.link_rate.peek()) * total);
                CHECK(static_cast<double>(c.payload_bytes) <=
                      static_cast<double>(fabric.port_write_rate.peek()) * total);
            }
        }
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
    const Sets base{"/calls=2", "/workload/hidden=1056"};
    const auto with = [&base](const char* set) {
        Sets sets = base;
        sets.emplace_back(set);
        return result_with(sets).dump();
    };
    const std::string plain = result_with(base).dump();
    CHECK(with("/engine/wake=systemc") == plain);
    CHECK(with("/engine/polling=explicit") == plain);
    CHECK(with("/engine/payload=copying") == plain);
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
