// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Global memory of one card: HBM behind L2, shared by the card's cores and by what arrives from the fabric.
///
/// Parameters  MemoryParams (memory_params.hpp)
/// Ports       engine: EngineIf; fabric: FabricIf, for acknowledgements and replies
/// Exports     cores: MemoryIf; network: BlockSinkIf
/// Timing      a request starts when it arrives and when the L2 has had time for all bytes before it; one that arrives
///             before its line's previous request, another core's, has its data takes the L2 `conflict_service`;
///             a read is then back after l2_read_latency + noc_latency (+ hbm_extra_latency on a miss),
///             a store is visible after l2_write_latency and acknowledged noc_latency later
/// Order       requests to a line take effect in the order they are made: a store when it leaves its core,
///             noc_latency before it arrives, a read when it arrives; it takes contents then
#include "models/engine/engine_if.hpp"
#include "models/engine/observer.hpp"
#include "models/fabric/fabric_if.hpp"
#include "models/memory/gm_store.hpp"
#include "models/memory/memory_if.hpp"
#include "models/memory/memory_params.hpp"

#include <deque>
#include <unordered_map>
#include <vector>

namespace podsim {

struct MemoryStatistics {
    std::uint64_t read_bytes = 0;       ///< by the card's own cores
    std::uint64_t store_bytes = 0;      ///< by the card's own cores
    std::uint64_t remote_bytes = 0;     ///< stored by other cards
    std::uint64_t hbm_bytes = 0;        ///< read from HBM
    std::uint64_t same_line_waits = 0;  ///< requests that found their line busy
};

class CardMemory final : public sc_core::sc_module, private MemoryIf, private BlockSinkIf, private Unit {
public:
    sc_core::sc_port<EngineIf> engine{"engine"};
    sc_core::sc_port<FabricIf, 1, sc_core::SC_ZERO_OR_MORE_BOUND> fabric{"fabric"};
    sc_core::sc_export<MemoryIf> cores{"cores"};
    sc_core::sc_export<BlockSinkIf> network{"network"};

    CardMemory(const sc_core::sc_module_name& name, CardId card, const MemoryParams& params, PayloadMode mode,
               ObserverIf* observer);

    /// Puts `data` in place before the run, taking no time. `in_l2`: as if a kernel had just written it.
    void preset(std::uint64_t offset, const Slice& data, bool in_l2);
    /// The contents now; for checks after the run.
    const GmStore& store_contents() const { return gm_; }
    const MemoryStatistics& statistics() const { return statistics_; }

private:
    struct Landing {
        Line* line = nullptr;
        std::uint64_t offset = 0;
        BlockData data;
        CoreId core{};
        bool remote = false;
        BlockPacket packet;  ///< remote: what to acknowledge
    };

    void end_of_elaboration() override { engine->register_unit(*this, card_); }
    void on_event(Picoseconds now, Phase phase, std::uint64_t tag) override;

    ReadReply read(CoreId core, std::uint64_t offset, std::uint32_t bytes, CacheHint hint, Picoseconds now,
                   Content& out) override;
    Picoseconds store(CoreId core, std::uint64_t offset, BlockData data, Picoseconds now) override;
    void expect(std::uint64_t offset) const override { gm_.prefetch(line_of(offset)); }
    void watch(std::uint64_t line, LineWatcherIf& watcher) override;
    void unwatch(std::uint64_t line, LineWatcherIf& watcher) override;
    std::uint32_t watchers(std::uint64_t line) const override;
    void peek(std::uint64_t offset, std::uint32_t bytes, Content& out) const override;
    void change_poll_load(std::int64_t bytes_per_us) override { poll_load_ += bytes_per_us; }
    Picoseconds hit_latency() const override;
    Picoseconds noc_latency() const override { return params_.noc_latency; }
    Picoseconds conflict_service() const override { return params_.conflict_service; }

    void arrive(BlockPacket packet, Picoseconds now) override;

    /// Whether another core's request to the line has not got its data yet.
    bool in_conflict(const Line& line, std::uint8_t requester, Picoseconds arrives) const;
    Picoseconds start_request(Line& line, std::uint8_t requester, std::uint32_t bytes, Picoseconds made,
                              Picoseconds way);
    ReadReply serve_read(Line& line, std::uint8_t requester, CoreId core, std::uint64_t offset, std::uint32_t bytes,
                         CacheHint hint, Picoseconds now, Content& out);
    Picoseconds hbm_slot(std::uint32_t bytes, Picoseconds from);
    void make_resident(std::uint64_t number, Line& line);
    /// A landing at `at`, to be filled in.
    Landing& new_landing(Picoseconds at);
    void land(Landing& landing, Picoseconds now);
    Picoseconds partial_extra(std::uint64_t offset, std::uint32_t bytes) const;

    CardId card_;
    const MemoryParams& params_;
    GmStore gm_;
    ObserverIf* observer_;
    Picoseconds l2_free_ = 0;
    Picoseconds hbm_free_ = 0;
    std::int64_t poll_load_ = 0;
    std::deque<Landing> landings_;  ///< stay where they are while others come
    std::vector<std::uint32_t> free_landings_;
    std::unordered_map<std::uint64_t, std::vector<LineWatcherIf*>> watchers_;
    std::deque<std::uint32_t> resident_;  ///< lines in L2, oldest first
    MemoryStatistics statistics_;
};

}  // namespace podsim
