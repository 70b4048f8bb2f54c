// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The two MTE engines of an AIV core: MTE2 copies GM to UB, MTE3 copies UB to GM, own card's or another's.
///
/// Parameters  MteParams; latencies of memory and fabric are theirs
/// Timing      a copy starts when the one before has sent its last request and `issue` after that one's start;
///             requests of <= 512 B follow each other by their bytes / rate (strided: at least burst_min);
///             a bounded number is in flight, own card and remote counted apart
/// Order       nothing orders requests among themselves. A barrier waits for all acknowledgements; an MTE3
///             event for acknowledgement or for UB read (Mte3Event); an MTE2 event for data in UB
/// Data        MTE3 reads UB when the copy starts; MTE2 takes GM contents request by request and replaces UB
///             contents when the copy completes
#include "models/aicore/in_order_pipe.hpp"
#include "models/aicore/pieces.hpp"
#include "models/aicore/ring.hpp"
#include "models/aicore/unified_buffer.hpp"
#include "models/fabric/fabric_if.hpp"

#include <vector>

namespace podsim {

struct MteStatistics {
    std::uint64_t copies = 0;
    std::uint64_t requests = 0;
    std::uint64_t local_bytes = 0;
    std::uint64_t remote_bytes = 0;
    MilliCycles issue_cycles = 0;  ///< engine time the requests took: a bound on any schedule
};

/// Requests in flight against their bound.
class InFlight {
public:
    /// The earliest instant >= `from` with a place free, or nothing while it depends on an answer still open.
    std::optional<Picoseconds> place(Picoseconds from, std::uint32_t bound);
    void returns_at(Picoseconds at);
    void opened() { ++open_; }
    void answered(Picoseconds at) {
        --open_;
        returns_at(at);
    }

private:
    static constexpr std::size_t kSpent = 16;

    /// From `first_` on, ascending: requests return nearly in the order they left. Those before are spent.
    std::vector<Picoseconds> known_;
    std::size_t first_ = 0;
    std::uint32_t open_ = 0;
};

class MteChannel final : public InOrderPipe, private RequesterIf {
public:
    MteChannel(CoreIf& core, Pipe pipe) : InOrderPipe(core, pipe), inbound_(pipe == Pipe::mte2) {}
    void connect(UbIf& ub, MemoryIf& memory, FabricIf* fabric);

    void on_event(Picoseconds now, Phase phase, std::uint64_t tag) override;
    const MteStatistics& statistics() const { return statistics_; }
    /// Remote stores or reads without an answer yet, for the diagnosis of a deadlock.
    std::size_t open_copies() const { return open_.size(); }

private:
    struct OpenCopy {
        CopyCall call;
        std::uint64_t sequence = 0;
        const char* what = "";
        std::source_location where;
        std::uint32_t unanswered = 0;
        bool issued = false;
        bool informs = false;  ///< inbound: it has read what somebody stored, or may have
        Picoseconds started = 0;
        Picoseconds last = 0;            ///< last answer known
        Content content;                 ///< inbound own card: what has been read, in order
        std::vector<BlockData> replies;  ///< inbound remote: by request number
    };
    struct WaitingFlag {
        std::uint64_t after = 0;  ///< fires when copies below this number are complete
        FlagCall flag;
        Picoseconds earliest = 0;
    };

    Progress execute(const Instruction& instruction, Picoseconds earliest) override;
    void flag_reached(const FlagCall& flag, Picoseconds earliest) override;
    std::optional<Picoseconds> work_done() const override;
    MilliCycles barrier_cost() const override { return core_.params().scalar.flag_issue; }
    void completed(std::uint64_t tag, Picoseconds at, BlockData data) override;
    void answered(std::uint64_t copy_number, Picoseconds at);

    void begin(const Instruction& instruction, Picoseconds start);
    void set_ranges(InstructionEvent& event, const CopyCall& call) const;
    StoreEvent store_event(const OpenCopy& copy) const;
    void plan_request();
    void do_request(Picoseconds now);
    void send_remote(OpenCopy& copy, const Piece& piece, Picoseconds now);
    void end_of_requests(OpenCopy& copy);
    void settle();
    void complete(OpenCopy& copy);
    bool remote() const { return open_.back().call.gm.card != core_.self().card; }
    std::uint32_t bound() const;

    const bool inbound_;
    UbIf* ub_ = nullptr;
    MemoryIf* memory_ = nullptr;
    FabricIf* fabric_ = nullptr;

    Ring<OpenCopy> open_;           ///< copies begun and not complete, oldest first
    std::uint64_t first_open_ = 0;  ///< number of open_.front()
    Ring<WaitingFlag> flags_;
    InFlight local_, remote_;

    // The copy whose requests are being sent: open_.back().
    bool sending_ = false;
    Pieces pieces_;
    std::uint32_t request_number_ = 0;
    Content source_;       ///< outbound: UB contents taken at the start
    ContentCursor taken_;  ///< how far the requests have come in it
    RecentJoins joins_;
    Picoseconds base_ = 0;  ///< requests leave at base_ + time(cycles_)
    MilliCycles cycles_ = 0;
    bool translated_ = false;  ///< the coming request's address
    bool waiting_place_ = false;
    Picoseconds planned_ = kNever;
    std::uint64_t generation_ = 0;  ///< events of an older plan are stale

    bool armed_ = false;
    Picoseconds done_ = 0;       ///< all complete copies were complete by then
    Picoseconds read_done_ = 0;  ///< outbound: last UB byte taken
    MteStatistics statistics_;
};

class Mte final : public sc_core::sc_module {
public:
    sc_core::sc_port<UbIf> ub{"ub"};
    sc_core::sc_port<MemoryIf> memory{"memory"};
    sc_core::sc_port<FabricIf, 1, sc_core::SC_ZERO_OR_MORE_BOUND> fabric{"fabric"};
    MteChannel in, out;

    Mte(const sc_core::sc_module_name& name, CoreIf& core)
        : sc_module(name), in(core, Pipe::mte2), out(core, Pipe::mte3) {}

private:
    void end_of_elaboration() override;
};

}  // namespace podsim
