// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A card's global memory as its cores see it.
#include "models/engine/payload.hpp"
#include "models/engine/systemc.hpp"
#include "models/engine/units.hpp"

#include <cstdint>

namespace podsim {

enum class CacheHint : std::uint8_t {
    normal,
    bypass_l2,  ///< "L2 cache disabled" on the access: the read is served by HBM
};

/// When a request was served and when its data is back at the core.
struct ReadReply {
    Picoseconds started = 0;  ///< out of the line's and the bank's queue
    Picoseconds ready = 0;    ///< data at the core
    bool l2_hit = false;
    bool stored = false;    ///< somebody has stored to the line since the start
    Picoseconds stall = 0;  ///< no further request of the core for so long: a dirty line goes to HBM first
};

/// Told when a watched line of the card changes (phase land).
class LineWatcherIf {
public:
    virtual ~LineWatcherIf() = default;
    virtual void line_changed(std::uint64_t line, Picoseconds now) = 0;
};

class MemoryIf : public virtual sc_core::sc_interface {
public:
    /// A read of `bytes` inside one 512 B line reaches the L2 at `now` and takes what is there now.
    /// Appends the contents to `out`.
    virtual ReadReply read(CoreId core, std::uint64_t offset, std::uint32_t bytes, CacheHint hint, Picoseconds now,
                           Content& out) = 0;
    /// A store inside one line leaves the core at `now`; returns when its acknowledgement is back.
    virtual Picoseconds store(CoreId core, std::uint64_t offset, BlockData data, Picoseconds now) = 0;

    /// A request to the line of `offset` comes soon. Changes nothing: the host's cache may fetch what it needs.
    virtual void expect(std::uint64_t /*offset*/) const {}

    /// From now on `watcher` hears of every block that lands in `line`.
    virtual void watch(std::uint64_t line, LineWatcherIf& watcher) = 0;
    virtual void unwatch(std::uint64_t line, LineWatcherIf& watcher) = 0;
    /// Watchers of `line` now.
    virtual std::uint32_t watchers(std::uint64_t line) const = 0;
    /// What is in memory now; appends to `out`. Takes no time: for polls, whose traffic is a steady load.
    virtual void peek(std::uint64_t offset, std::uint32_t bytes, Content& out) const = 0;
    /// Adds (or with a negative value takes away) the steady L2 traffic of a poll loop, in bytes per µs.
    virtual void change_poll_load(std::int64_t bytes_per_us) = 0;
    /// Latency of an uncontended L2 hit, core to core.
    virtual Picoseconds hit_latency() const = 0;
    /// One way between core and L2.
    virtual Picoseconds noc_latency() const = 0;
    /// Requests of several cores to one line pass one per this.
    virtual Picoseconds conflict_service() const = 0;
};

}  // namespace podsim
