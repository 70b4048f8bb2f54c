// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a kernel's calls become: instructions of the scalar program, some of which go on to another pipe.
#include "models/aicore/core_params.hpp"
#include "models/aicore/vector_ops.hpp"
#include "models/engine/observer.hpp"
#include "models/memory/memory_if.hpp"

#include <source_location>

namespace podsim {

enum class Op : std::uint8_t {
    // go to the queue of their pipe
    copy,
    vector,
    set_flag,
    wait_flag,
    barrier,
    // done by the scalar unit; the kernel does not wait for them
    cost,
    ub_store,
    ub_store_value,  ///< stores the value of the instruction before it: a clock stamp
    scalar_loop,     ///< a vector operation done element by element, for want of an instruction
    gm_store,
    cache_clean,
    phase,
    barrier_all,
    sync_all,
    // the kernel waits for the value
    ub_load,
    gm_load,
    poll,
    clock,
    end,
};

/// A copy between GM and UB: `blocks` bursts of `block_bytes`, starts `gm_stride` and `ub_stride` apart.
struct CopyCall {
    GmAddress gm;
    std::uint32_t ub = 0;
    std::uint32_t blocks = 1;
    std::uint32_t block_bytes = 0;
    std::uint64_t gm_stride = 0;
    std::uint32_t ub_stride = 0;
    CacheHint hint = CacheHint::normal;
    /// For observers, of a store that is a flag: bytes of gm.card that it says are there.
    std::uint64_t announced = 0;
    std::uint64_t announced_bytes = 0;
};

struct FlagCall {
    Pipe from{};
    Pipe to{};
    std::uint8_t id = 0;
};

/// One word of UB or GM touched by the scalar unit.
struct WordCall {
    std::uint64_t address = 0;  ///< UB offset or own-card GM offset
    std::uint64_t value = 0;
    std::uint32_t bytes = 0;  ///< 1, 2, 4 or 8
};

struct Instruction {
    Instruction() : copy{} {}

    Op op{};
    Pipe pipe = Pipe::s;  ///< of copy, vector, set_flag, wait_flag, barrier
    const char* what = "";
    std::source_location where;
    std::uint64_t sequence = 0;
    Picoseconds issued = 0;   ///< set when the scalar unit hands it to its pipe
    MilliCycles cycles = 0;   ///< scalar time it takes
    std::uint32_t index = 0;  ///< phase: its number
    bool step = true;         ///< phase: begins a step of the kernel, not only a turn of a loop over rows
    union {
        CopyCall copy;
        VectorCall vector;
        FlagCall flag;
        WordCall word;
    };
};

}  // namespace podsim
