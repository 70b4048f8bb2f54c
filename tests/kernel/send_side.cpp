// SPDX-License-Identifier: Apache-2.0
/// How rows leave a core: one at a time or several in flight, and in which phase their acknowledgement is waited for.
#include "sim/result/metrics.hpp"
#include "tests/kernel/kernel_support.hpp"
#include "tests/kernel/option_draws.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <utility>

using namespace podsim;

namespace {

/// Rows to other cards, by core and place in its program: when they began and when they were acknowledged.
class RowsOut final : public ObserverIf {
public:
    Interest interest() const override { return {false, false, true}; }
    void store_began(const StoreEvent& store, Picoseconds at) override {
        if (store.to.card != store.core.card && store.block_bytes > kBlockBytes) {
            rows_[store.core][store.sequence] = {at, kNever};
        }
    }
    void store_acknowledged(const StoreEvent& store, Picoseconds at) override {
        const auto core = rows_.find(store.core);
        if (core != rows_.end() && core->second.contains(store.sequence)) {
            core->second[store.sequence].second = at;
        }
    }

    std::size_t rows() const {
        std::size_t count = 0;
        for (const auto& [core, sent] : rows_) {
            count += sent.size();
        }
        return count;
    }
    /// Rows that began before their core's row before was acknowledged.
    std::size_t overlapping() const {
        std::size_t count = 0;
        for (const auto& [core, sent] : rows_) {
            Picoseconds before = 0;
            for (const auto& [sequence, row] : sent) {
                count += row.first < before ? 1 : 0;
                before = row.second;
            }
        }
        return count;
    }

private:
    std::map<CoreRef, std::map<std::uint64_t, std::pair<Picoseconds, Picoseconds>>> rows_;
};

}  // namespace

TEST_CASE("triple_wait all: rows leave one at a time, else several are in flight", "[kernel]") {
    const Sets work = sized({8, 2, 24, 4, 2048, 4});
    for (const char* name : {"baseline", "v2", "optimized", "fullmesh_gen_a"}) {
        for (const char* quant : {"int8_dynamic", "none"}) {
            for (const char* wait : {"all", "buffer"}) {
                CAPTURE(name, quant, wait);
                RowsOut listener;
                const auto simulation =
                    run_with(work + Sets{std::string("/algorithm/name=") + name,
                                         std::string("/workload/quant=") + quant, kOption + "triple_wait=" + wait},
                             {&listener});
                REQUIRE(simulation->status() == RunStatus::ok);
                REQUIRE(listener.rows() > 200);
                if (std::string(wait) == "all") {
                    CHECK(listener.overlapping() == 0);
                } else {
                    CHECK(listener.overlapping() > 20);
                }
            }
        }
    }
}

TEST_CASE("rows on their way are waited for in transfer.drain, not in what comes before or after", "[kernel]") {
    const struct {
        Sets options;
        const char* beside;
    } kCases[] = {
        {{}, "address.count"},
        // Experts own cores: behind the last row, further words of the map are looked at.
        {{"/algorithm/name=optimized", kOption + "shared_bitmap=false"}, "address.slot"},
    };
    for (const auto& one : kCases) {
        CAPTURE(one.beside);
        const auto times = [&](const Sets& fabric) {
            const auto simulation = run_with(Sets{"/workload/hidden=7168", "/workload/batch_size=16",
                                                  "/workload/routing/kind=hot", "/check/hazards=off"} +
                                             one.options + fabric);
            REQUIRE(simulation->status() == RunStatus::ok);
            const Metrics m = metrics_of(*simulation, {0, 0});
            return std::pair(m.subphases_us.at(one.beside), m.subphases_us.at("transfer.drain"));
        };
        const auto quick = times({});
        const auto slow = times({R"(/machine/topology/edits=[{"kind":"slow","plane":2,"rate_scale":0.05}])"});
        CHECK(slow.first == Approx(quick.first).epsilon(0).margin(0.001));
        CHECK(slow.second > quick.second + 0.5);
    }
}
