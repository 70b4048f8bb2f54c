// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Parameters of an AIV core; values and sources stand in the machine file
/// (`/core`, `/scalar`, `/vector`, `/mte`).
#include "models/engine/param.hpp"
#include "models/engine/units.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace podsim {

/// Thousandths of a core clock cycle: cycles are summed per instruction and converted to time once.
using MilliCycles = std::int64_t;

/// Cost of one vector instruction: head (only into an empty pipe) + slope per 256 B repeat; tail until the
/// result can be used, paid at the next barrier or flag.
struct VectorInstruction {
    std::string name;                ///< Ascend C name, e.g. "Add"
    std::vector<std::string> types;  ///< element types it exists for: "float", "half", "bfloat16_t", "int32_t", …
    Param<MilliCycles> head;
    Param<MilliCycles> slope;
    Param<MilliCycles> tail;
};

struct ScalarParams {
    Param<MilliCycles> alu;            ///< one counted ALU operation
    Param<MilliCycles> vector_issue;   ///< scalar side of one vector API call (count mode: mask, repeat, address)
    Param<MilliCycles> copy_issue;     ///< scalar side of one DataCopy call
    Param<MilliCycles> flag_issue;     ///< SetFlag, WaitFlag, PipeBarrier issue
    Param<MilliCycles> ub_load;        ///< GetValue on UB
    Param<MilliCycles> ub_store;       ///< SetValue on UB
    Param<MilliCycles> gm_load_hit;    ///< GM load, data-cache hit
    Param<Picoseconds> gm_load_miss;   ///< GM load, data-cache miss, L2 hit (HBM adds memory.hbm_extra_latency)
    Param<MilliCycles> gm_store;       ///< store into the data cache
    Param<Picoseconds> dcci;           ///< clean and invalidate one line, incl. write-back
    Param<std::uint32_t> cache_bytes;  ///< data cache size
    Param<std::uint32_t> cache_line;   ///< data cache line
};

struct VectorParams {
    Param<std::uint32_t> repeat_bytes;    ///< one repeat
    Param<MilliCycles> count_mode_floor;  ///< added when a length is no multiple of a repeat
    Param<MilliCycles> barrier;           ///< PipeBarrier<V> itself
    Param<MilliCycles> bank_conflict;     ///< added per repeat when two operands fall into one UB bank group
    Param<std::uint32_t> bank_groups;     ///< UB bank groups (32 B interleave)
    Param<MilliCycles> scalar_path;       ///< per element, for an operation the vector unit lacks; 0: refused
    std::vector<VectorInstruction> instructions;
};

/// When an MTE3 event (SetFlag<MTE3_*>) of a remote store fires; not published. Barriers always wait for
/// the acknowledgement.
enum class Mte3Event : std::uint8_t { at_read, at_acknowledge };

struct MteParams {
    Param<std::uint32_t> queue_depth;  ///< instructions waiting per pipe before the scalar unit stalls
    Param<MilliCycles> mte2_issue;     ///< least distance of two MTE2 copy starts
    Param<MilliCycles> mte3_issue;
    Param<MilliCycles> burst_min;              ///< least distance of two bursts of a strided copy
    Param<std::uint32_t> in_bytes_per_cycle;   ///< GM -> UB
    Param<std::uint32_t> out_bytes_per_cycle;  ///< UB -> GM
    Param<std::uint32_t> local_in_flight;      ///< 512 B requests to the own card
    Param<std::uint32_t> remote_in_flight;     ///< 512 B requests to other cards
    Param<Mte3Event> mte3_event;
};

/// Hypothesis: address translation; a walk of 0 switches it off.
struct TranslationParams {
    Param<Picoseconds> walk;       ///< a request to a page that is not held waits so long
    Param<std::uint32_t> entries;  ///< pages a core holds
    Param<std::uint64_t> page_bytes;
};

/// Hypothesis: instruction fetch; a miss of 0 switches it off.
struct InstructionCacheParams {
    Param<Picoseconds> miss;                 ///< wait for one line
    Param<std::uint32_t> instruction_bytes;  ///< code per scalar instruction
    Param<std::uint32_t> cache_bytes;
    Param<std::uint32_t> line;
};

struct CoreParams {
    Param<std::uint32_t> clock_mhz;
    Param<std::uint32_t> aiv_per_card;
    Param<std::uint32_t> ub_bytes;     ///< usable bytes of the Unified Buffer
    Param<MilliCycles> flag_hop;       ///< SetFlag done -> WaitFlag sees it
    Param<MilliCycles> barrier_all;    ///< PipeBarrier<ALL> with all pipes drained
    Param<std::uint32_t> counter_mhz;  ///< GetSystemCycle tick rate
    Param<std::uint32_t> event_ids;    ///< usable event ids per pipe pair
    ScalarParams scalar;
    VectorParams vector;
    MteParams mte;
    TranslationParams translation;
    InstructionCacheParams instructions;

    /// Cycles to time, rounded to the nearest ps (1.85 GHz: 540.54 ps a cycle).
    Picoseconds time(MilliCycles cycles) const {
        const std::int64_t mhz = clock_mhz.get();
        return (cycles * 1000 + mhz / 2) / mhz;
    }
};

}  // namespace podsim
