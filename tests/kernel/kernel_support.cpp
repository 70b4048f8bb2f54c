// SPDX-License-Identifier: Apache-2.0
#include "tests/kernel/kernel_support.hpp"

#include "sim/result/metrics.hpp"
#include "sim/result/result_json.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <numeric>

namespace podsim {

const std::string kSmoke = std::string(PODSIM_SOURCE_DIR) + "/configs/runs/ep8_smoke.json";
const std::string kTiny = std::string("/machine=") + PODSIM_SOURCE_DIR + "/configs/machines/tiny_pod.json";

Sets operator+(Sets a, const Sets& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

std::unique_ptr<Simulation> run_with(const Sets& sets, const std::vector<ObserverIf*>& extra) {
    auto simulation = std::make_unique<Simulation>(load_run_config(kSmoke, sets), extra);
    simulation->run();
    return simulation;
}

nlohmann::ordered_json comparable(const Simulation& simulation) {
    nlohmann::ordered_json result = result_json(simulation);
    result.erase("host");
    result["config"].erase("engine");
    return result;
}

nlohmann::ordered_json result_with(const Sets& sets) { return comparable(*run_with(sets)); }

Sets sized(const Sizes& s) {
    return {fmt::format("/cards={}", s.cards),
            fmt::format("/workload/experts={}", s.cards * s.experts_per_card),
            fmt::format("/workload/batch_size={}", s.batch),
            fmt::format("/workload/top_k={}", s.top_k),
            fmt::format("/workload/hidden={}", s.hidden),
            fmt::format("/algorithm/aiv_cores={}", s.cores)};
}

void delivers(const Sets& sets, std::uint64_t rows) {
    INFO(fmt::format("{}", fmt::join(sets, " ")));
    const auto simulation = run_with(sets);
    for (const std::string& line : simulation->diagnosis()) {
        UNSCOPED_INFO(line);
    }
    REQUIRE(name_of(simulation->status()) == "ok");
    CHECK(simulation->job().check().rows() == rows);
    CHECK(simulation->job().check().mismatches() == 0);
    REQUIRE(simulation->hazards() != nullptr);
    CHECK(simulation->hazards()->hazards().empty());
    keeps_its_sums(*simulation);
    keeps_its_bounds(*simulation);
}

void keeps_its_sums(const Simulation& simulation) {
    const RunConfig& config = simulation.config();
    const Metrics m = metrics_of(simulation, {0, config.calls - 1});
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
    CHECK(sum == Approx(m.total_us).epsilon(0).margin(1e-6));
    CHECK(m.phases_us.at("idle") >= 0);
    Picoseconds first = kNever, last = 0;
    std::size_t wrong = 0;
    for (std::uint32_t call = 0; call < config.calls; ++call) {
        for (std::uint32_t card = 0; card < config.cards; ++card) {
            for (std::uint32_t core = 0; core < config.algorithm.aiv_cores; ++core) {
                const CoreCall& c = simulation.phases().core_call(call, {CardId{card}, CoreId{core}});
                const Picoseconds busy = std::accumulate(c.phases.begin(), c.phases.end(), Picoseconds{0});
                wrong += busy != c.ended - c.started ? 1 : 0;
                first = std::min(first, c.started);
                last = std::max(last, c.ended);
            }
        }
    }
    CHECK(wrong == 0);
    CHECK(m.total_us == Approx(to_us(last - first)).epsilon(0).margin(1e-6));
}

void keeps_its_bounds(const Simulation& simulation) {
    const RunConfig& config = simulation.config();
    const double total = metrics_of(simulation, {0, config.calls - 1}).total_us;
    const Bounds b = bounds_of(simulation);
    for (const double bound : {b.wire, b.incast, b.hbm, b.aiv_issue, b.latency}) {
        CHECK(bound >= 0);
        CHECK(bound <= total);
    }
    const Network& network = simulation.pod().fabric().network();
    const FabricParams& fabric = config.machine.fabric;
    std::size_t wrong = 0;
    for (std::uint32_t card = 0; card < config.cards; ++card) {
        for (std::uint32_t plane = 0; plane < fabric.topology.planes.peek(); ++plane) {
            const PortStatistics p = network.port_statistics(CardId{card}, PlaneId{plane});
            for (const LinkCounters& c : {p.out, p.in}) {
                // Rates are bytes/us; a busy time is a sum of whole ps, each rounded by at most half of one.
                const double used = c.packets == 0 ? 0 : to_us(c.last_end - c.first_start);
                const double rounding = static_cast<double>(c.packets) * 0.5e-6;
                wrong += to_us(c.busy) > used || used > total ? 1 : 0;
                wrong += static_cast<double>(c.wire_bytes) >
                                 static_cast<double>(fabric.link_rate.peek()) * (to_us(c.busy) + rounding)
                             ? 1
                             : 0;
                wrong += static_cast<double>(c.payload_bytes) >
                                 static_cast<double>(fabric.port_write_rate.peek()) * (to_us(c.busy) + rounding)
                             ? 1
                             : 0;
            }
        }
    }
    CHECK(wrong == 0);
}

}  // namespace podsim
