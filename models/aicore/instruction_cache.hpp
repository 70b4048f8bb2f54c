// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The instruction cache of an AIV core's scalar unit, call by call of the kernel API.
///
/// Parameters  InstructionCacheParams. Hypothesis: the cache's size is published, what a miss costs is not
/// Timing      a call whose code is not in the cache waits for its lines, one after the other. Its code is what the
///             scalar unit works through for it: an instruction a cycle, so many bytes an instruction
/// Order       first in, first out. A call is one place in the source: a loop's second turn finds its code
#include "models/aicore/core_params.hpp"
#include "models/aicore/ring.hpp"
#include "models/engine/error.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <source_location>
#include <string_view>
#include <tuple>
#include <vector>

namespace podsim {

/// Numbers the places in the kernels' source; one for all cores, because cores run the same code.
class CallSites {
public:
    std::uint32_t number(const std::source_location& where) {
        // A source_location is a pointer to what the compiler keeps of the place. One place in a header may be kept
        // several times, so a pointer that is not among the latest is looked up by what it says.
        static_assert(sizeof(std::source_location) == sizeof(void*));
        const auto pointer = std::bit_cast<std::uintptr_t>(where);
        Recent& recent = recent_[pointer / sizeof(void*) % recent_.size()];
        if (recent.pointer != pointer) {
            recent = {pointer, look_up(where)};
        }
        return recent.number;
    }

private:
    struct Recent {
        std::uintptr_t pointer = 0;
        std::uint32_t number = 0;
    };

    std::uint32_t look_up(const std::source_location& where) {
        const auto next = static_cast<std::uint32_t>(numbers_.size());
        return numbers_.try_emplace({where.file_name(), where.line(), where.column()}, next).first->second;
    }

    std::vector<Recent> recent_ = std::vector<Recent>(4096);
    std::map<std::tuple<std::string_view, std::uint_least32_t, std::uint_least32_t>, std::uint32_t> numbers_;
};

class InstructionCache {
public:
    InstructionCache(const InstructionCacheParams& params, CallSites& sites) : params_(params), sites_(sites) {}

    /// The wait of a call at `where` whose scalar side is so many thousandths of an instruction.
    Picoseconds fetch(const std::source_location& where, std::int64_t milli_instructions) {
        const Picoseconds miss = params_.miss.get();
        if (miss == 0 || milli_instructions == 0) {
            return 0;
        }
        const std::uint32_t site = sites_.number(where);
        if (site >= held_.size()) {
            held_.resize(site + 1, false);
        }
        if (held_[site]) {
            return 0;
        }
        const std::int64_t bytes = milli_instructions * params_.instruction_bytes.get() / 1000;
        check(bytes <= std::numeric_limits<std::uint32_t>::max(), "the code of a call is below 4 GB");
        held_[site] = true;
        in_order_.push({site, static_cast<std::uint32_t>(bytes)});
        used_ += bytes;
        while (used_ > params_.cache_bytes.get() && in_order_.size() > 1) {
            const Code oldest = in_order_.pop();
            used_ -= oldest.bytes;
            held_[oldest.site] = false;
        }
        // Neighbouring calls share lines: a part of a line costs its part.
        return bytes * miss / params_.line.get();
    }

private:
    struct Code {
        std::uint32_t site = 0, bytes = 0;
    };
    const InstructionCacheParams& params_;
    CallSites& sites_;
    std::vector<bool> held_;
    Ring<Code> in_order_;
    std::int64_t used_ = 0;
};

}  // namespace podsim
