// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A declarative poll loop: copy some words of the own card's GM to UB, reduce them, compare, again.
/// Several copies follow each other as the MTE takes them; several words are compared one after the other,
/// and one that holds is enough.
///
/// The loop's period and traffic have a closed form, fixed when the loop begins:
///   period = copy issue + the copy with nobody else about (an MTE2 copy from the L2: its requests by their
///            cycles, in flight up to the bound)
///          + other pollers of its lines × conflict_service
///          + flag hop + vector chain + flag hop + scalar load and compare of each word
/// so it can be stepped (Polling::explicit_steps) or, as long as none of its lines changes, skipped
/// (Polling::elided). Both step the same state machine and give the same bytes. Its traffic is a steady load
/// on the L2 (MemoryIf::change_poll_load).
#include "models/aicore/core_if.hpp"
#include "models/aicore/pieces.hpp"
#include "models/aicore/unified_buffer.hpp"
#include "models/aicore/vector_unit.hpp"
#include "models/engine/engine_if.hpp"
#include "models/engine/run_modes.hpp"

#include <source_location>
#include <vector>

namespace podsim {

/// What to read, how to reduce it, and when to go on.
struct PollSpec {
    CopyCall copy;                  ///< own card's GM -> UB
    std::vector<CopyCall> more;     ///< further copies, in order
    std::vector<VectorCall> chain;  ///< in order, a barrier after each
    UbRange word;                   ///< UB word compared in the end: 4 or 8 bytes
    std::uint32_t words = 1;        ///< that many of them, `word_pitch` bytes apart: any one that holds
    std::uint32_t word_pitch = 0;
    DataType type = DataType::f32;  ///< of that word
    Compare compare = Compare::eq;
    std::uint64_t value = 0;  ///< bits compared with
    const char* what = "PollUntil";
};

/// Poll events pending in the whole pod: when nothing else is, no loop will ever see a change.
struct PollCensus {
    std::size_t pending = 0;
};

struct PollStatistics {
    std::uint64_t loops = 0;  ///< waits begun
    std::uint64_t polls = 0;
    std::uint64_t bytes = 0;
};

class Poller final : public Unit, private LineWatcherIf {
public:
    class ClientIf {
    public:
        virtual ~ClientIf() = default;
        virtual void poll_finished(Picoseconds at) = 0;
    };

    Poller(CoreIf& core, ClientIf& client, const VectorTable& table, VectorResults& results, Polling polling,
           PollCensus& census)
        : core_(core), client_(client), table_(table), results_(results), polling_(polling), census_(census) {}
    void connect(UbIf& ub, MemoryIf& memory) {
        ub_ = &ub;
        memory_ = &memory;
    }

    /// Starts the loop now, for the kernel's line `where`; `spec` stays alive until poll_finished().
    void begin(const PollSpec& spec, Picoseconds now, const std::source_location& where);
    void on_event(Picoseconds now, Phase phase, std::uint64_t tag) override;
    const PollSpec* active() const { return spec_; }
    /// Of the active loop.
    const std::source_location& where() const { return where_; }
    /// Period of a loop whose lines nobody else polls: the closed form.
    Picoseconds period(const PollSpec& spec) const;
    const PollStatistics& statistics() const { return statistics_; }

private:
    struct Request {
        Piece piece;
        Picoseconds delay = 0;     ///< from the iteration's start to its sample
        std::size_t line = 0;      ///< index into lines_
        Picoseconds sampled = -1;  ///< in the latest evaluated iteration
        Content content;
    };
    struct Watched {
        std::uint64_t number = 0;
        Picoseconds changed = -1;
    };

    void line_changed(std::uint64_t line, Picoseconds now) override;

    /// When the requests of a copy reach the memory and when all data is in UB, from the copy's start.
    struct CopyTimes {
        std::vector<Picoseconds> arrive;
        Picoseconds complete = 0;
    };
    CopyTimes copy_times(const PollSpec& spec) const;
    Picoseconds closed_form(const PollSpec& spec, Picoseconds copy, std::uint32_t others) const;
    Picoseconds iteration_start(std::int64_t i) const { return begun_ + i * period_; }
    void go_live(std::int64_t iteration, Picoseconds now);
    void next_event(Picoseconds now);
    void sample(Request& request, Picoseconds at);
    void evaluate(Picoseconds now);
    bool satisfied(Picoseconds now);
    bool word_holds(const UbRange& word, Picoseconds now);
    void add_requests(const CopyCall& copy, const CopyTimes& times, std::uint32_t& others);
    bool missed_a_change() const;
    void finish(Picoseconds now);
    void set_load(std::int64_t sign);

    CoreIf& core_;
    ClientIf& client_;
    const VectorTable& table_;
    VectorResults& results_;
    const Polling polling_;
    PollCensus& census_;
    UbIf* ub_ = nullptr;
    MemoryIf* memory_ = nullptr;

    const PollSpec* spec_ = nullptr;
    std::source_location where_;
    std::vector<Request> requests_;
    std::vector<Watched> lines_;
    std::uint32_t bytes_ = 0;  ///< traffic of one iteration
    Picoseconds begun_ = 0;
    Picoseconds period_ = 0;
    std::int64_t iteration_ = 0;  ///< the one being stepped, or the last evaluated while asleep
    std::size_t next_request_ = 0;
    bool asleep_ = false;
    PollStatistics statistics_;
};

}  // namespace podsim
