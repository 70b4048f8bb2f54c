// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The one interface through which models are observed. Owned by models; free when nobody listens
/// (a null pointer test). Timeline, stamps, hazards and statistics are listeners in sim/observe.
#include "models/engine/units.hpp"

#include <cstdint>
#include <source_location>
#include <string_view>

namespace podsim {

/// Pipes of an AIV core.
enum class Pipe : std::uint8_t { s = 0, v = 1, mte2 = 2, mte3 = 3 };
inline constexpr std::size_t kPipes = 4;
constexpr std::string_view name_of(Pipe p) {
    constexpr std::string_view kNames[] = {"S", "V", "MTE2", "MTE3"};
    return kNames[static_cast<std::size_t>(p)];
}

struct CoreRef {
    CardId card{};
    CoreId core{};
    friend constexpr auto operator<=>(const CoreRef&, const CoreRef&) = default;
};

/// What let an instruction start or complete last: the edge of the critical path.
enum class Enabler : std::uint8_t {
    issue,     ///< the scalar unit issued it
    pipe,      ///< the instruction before it on its pipe
    flag,      ///< a flag from another pipe
    barrier,   ///< PipeBarrier
    queue,     ///< a place in a pipe's queue
    window,    ///< a request in flight came back
    memory,    ///< data from or into memory
    poll,      ///< a block landed in a polled line
    sync_all,  ///< the last core arrived
};

/// Bytes of the Unified Buffer; length 0 = none.
struct UbRange {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
    friend bool operator==(const UbRange&, const UbRange&) = default;
    bool overlaps(const UbRange& o) const { return offset < o.offset + o.length && o.offset < offset + length; }
};

struct InstructionEvent {
    CoreRef core;
    Pipe pipe{};
    std::uint64_t sequence = 0;  ///< number of the instruction in its core's program
    const char* what = "";       ///< "Add", "DataCopy", …
    std::source_location where;  ///< the kernel's line
    Enabler enabler{};
    UbRange reads[3];
    UbRange writes[2];
    /// A strided copy touches only `bursts` pieces of `burst_bytes` in its range, starts `burst_stride` apart.
    std::uint32_t bursts = 1;
    std::uint32_t burst_bytes = 0;
    std::uint32_t burst_stride = 0;
    std::uint32_t read_stride = 0;  ///< of the reads, where it is another; 0: burst_stride
};

/// An order between pipes. Each pipe's own events (instruction starts, `set`, `wait`, `barrier_pipe`) are
/// reported in the order of its queue, the scalar unit's in the order of the program.
struct OrderEvent {
    enum class Kind : std::uint8_t {
        set,           ///< the setting pipe comes to its SetFlag; what it began before is what the flag stands for
        fired,         ///< the flag is up: all of that is complete
        wait,          ///< the waiting pipe goes on
        barrier_pipe,  ///< all of the pipe is complete
        barrier_all,   ///< all of the core is complete
        poll,          ///< V, MTE2 and S have each completed all they began: around and inside a poll loop
    };
    CoreRef core;
    Kind kind{};
    Pipe from{};  ///< setting pipe; the pipe itself for barrier_pipe
    Pipe to{};
    std::uint8_t id = 0;
    std::uint64_t sequence = 0;  ///< as InstructionEvent::sequence; 0 for `fired`
};

struct BlockEvent {
    CardId from{};  ///< card of the core that wrote or reads
    CoreId core{};
    GmAddress address;
    std::uint32_t bytes = 0;
    bool remote = false;
};

/// A copy from the Unified Buffer to GM as a whole: `blocks` bursts of `block_bytes`, starts `stride` apart.
struct StoreEvent {
    CoreRef core;
    std::uint64_t sequence = 0;  ///< as InstructionEvent::sequence
    std::source_location where;  ///< the kernel's line
    GmAddress to;
    std::uint32_t blocks = 1;
    std::uint32_t block_bytes = 0;
    std::uint64_t stride = 0;
    /// A flag: bytes of the memory it goes to that it says are there. Length 0: it says nothing.
    std::uint64_t announced = 0;
    std::uint64_t announced_bytes = 0;
};

class ObserverIf {
public:
    /// What a listener wants to hear; models skip the rest. Asked once, at elaboration.
    struct Interest {
        bool instructions = true;  ///< instruction_*, ordered
        bool blocks = true;        ///< block_*
        bool stores = true;        ///< store_*, flag_left, learned
    };
    virtual ~ObserverIf() = default;
    virtual Interest interest() const { return {}; }
    virtual void instruction_started(const InstructionEvent&, Picoseconds /*at*/) {}
    virtual void instruction_ended(const InstructionEvent&, Picoseconds /*at*/, Enabler /*last*/) {}
    virtual void ordered(const OrderEvent&, Picoseconds /*at*/) {}
    virtual void block_sent(const BlockEvent&, Picoseconds /*at*/) {}
    virtual void block_landed(const BlockEvent&, Picoseconds /*at*/) {}
    virtual void block_read(const BlockEvent&, Picoseconds /*at*/) {}
    /// Those of a core are reported in the order of its program, all three.
    virtual void store_began(const StoreEvent&, Picoseconds /*at*/) {}
    virtual void store_acknowledged(const StoreEvent&, Picoseconds /*at*/) {}
    /// The first request of a store that announces something leaves its core.
    virtual void flag_left(const StoreEvent&, Picoseconds /*at*/) {}
    /// The core may know from now on what others of its card did until then: it has read memory that has been stored
    /// to, or memory of another card, a poll has ended, or SyncAll has let it go.
    virtual void learned(CoreRef, Picoseconds /*at*/) {}
    /// The core's scalar program enters `phase` ("flags.poll"); "" when it ends. `step`: not only for a turn of a loop
    /// over rows.
    virtual void phase_entered(CoreRef, std::string_view /*phase*/, bool /*step*/, Picoseconds /*at*/) {}
};

}  // namespace podsim
