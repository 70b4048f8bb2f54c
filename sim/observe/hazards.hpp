// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Finds Unified Buffer hazards: two accesses of one core to the same bytes, at least one a write, that no
/// flag or barrier orders. It asks what the program guarantees, not what happened in this run.
///
/// Vector clocks per core and pipe. A flag passes on what its setting pipe has completed and knew; an
/// instruction starts after it was issued, so it knows what the scalar unit had waited for by then, but not
/// the scalar unit's own loads and stores: those need an S_x flag or a barrier. Copies of one MTE complete
/// in order, vector instructions do not without PipeBarrier<V>. A poll loop leaves V, MTE2 and S ordered among
/// themselves; MTE3 it does not wait for.
#include "models/engine/observer.hpp"
#include "sim/observe/ub_shadow.hpp"

#include <map>
#include <string_view>
#include <vector>

namespace podsim {

enum class HazardKind : std::uint8_t { raw, war, waw };
std::string_view name_of(HazardKind kind);

struct HazardSide {
    Pipe pipe{};
    std::string_view what;
    std::string_view file;
    std::uint32_t line = 0;
    Picoseconds at = 0;  ///< when it started
};

/// One pair of source lines; `first` comes first in the program. Times and bytes are those of its earliest case.
struct Hazard {
    CoreRef core;
    HazardKind kind{};
    HazardSide first, second;
    std::uint32_t from = 0, to = 0;  ///< UB bytes [from, to)
    std::uint64_t count = 0;         ///< cases on all cores
};

class HazardDetector final : public ObserverIf {
public:
    HazardDetector(std::uint32_t cards, std::uint32_t cores_per_card)
        : cores_per_card_(cores_per_card), cores_(static_cast<std::size_t>(cards) * cores_per_card) {}

    Interest interest() const override { return {true, false, false}; }
    void instruction_started(const InstructionEvent& event, Picoseconds now) override;
    void ordered(const OrderEvent& event, Picoseconds now) override;

    /// By time of the earliest case.
    std::vector<Hazard> hazards() const;
    /// UB accesses looked at.
    std::uint64_t accesses() const { return accesses_; }

private:
    /// An instruction that has begun; number `done_before` + 1 is the first kept.
    struct Done {
        std::uint64_t sequence = 0;
        Picoseconds at = 0;
        const char* what = "";
        std::source_location where;
    };
    struct Issue {
        std::uint64_t sequence = 0;
        PipeClock after{};  ///< what instructions issued from here on come after
    };
    struct Flag {
        std::uint32_t key = 0;
        PipeClock stands_for{};
    };
    /// There are thousands: what one takes decides what the check costs, more than what is computed.
    struct Core {
        PipeClock known[kPipes]{};        ///< what the next instruction of a pipe comes after
        PipeClock last{};                 ///< instructions begun so far
        std::uint32_t learned[kPipes]{};  ///< how many of `issues` are in `known`
        std::uint32_t done_before = 0;    ///< instructions up to the last barrier of all
        std::vector<Issue> issues;        ///< in program order; each knows what the one before does
        std::vector<Flag> flags;          ///< set and not yet waited for, in order of setting
        std::vector<Done> done;           ///< since the last barrier of all
        UbShadow shadow;
    };
    struct Place {
        std::string_view first_file, second_file;
        std::uint32_t first_line, second_line;
        HazardKind kind;
        auto operator<=>(const Place&) const = default;
    };

    Core& core(CoreRef ref) { return cores_[index(ref.card) * cores_per_card_ + index(ref.core)]; }
    static void learn_issue(Core& core, Pipe pipe, std::uint64_t sequence);
    static PipeClock completed(const Core& core, Pipe pipe);
    void record(CoreRef ref, const UbConflict& conflict, const UbAccess& access);

    std::size_t cores_per_card_;
    std::vector<Core> cores_;
    std::map<Place, Hazard> found_;
    std::vector<UbConflict> conflicts_;  ///< of the access at hand
    std::uint64_t accesses_ = 0;
};

}  // namespace podsim
