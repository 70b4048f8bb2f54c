// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which plane carries a block.
///
/// The real polynomial is not published. What is: a 7 KB row puts exactly 1 KB on each of 7 planes. So
///
///     plane = (address / granularity + destination card) mod planes
///
/// - any aligned run of contiguous granules is spread evenly, to within one granule, wherever it starts. A
///   start that changed with higher address bits would break that for every row across such a border;
/// - the destination card shifts the start, so that a core that writes the same offset of many cards (status
///   cells, windows are symmetric) uses all planes of its port; for one destination, consecutive status cells
///   come in by consecutive planes. All requests for one 512 B line use one plane.
/// Known limit: a stride of planes * granularity to one card meets one plane only; a stronger hash would not.
/// No window layout has that stride, except rows of exactly 3,584 or 7,168 B, which are whole rounds anyway.
#include "models/engine/error.hpp"
#include "models/engine/units.hpp"

#include <bit>
#include <cstdint>

namespace podsim {

class PlaneHash {
public:
    /// `granularity` is a multiple of 512 B, so that a block never lies on two planes.
    PlaneHash(std::uint32_t planes, std::uint32_t granularity)
        : planes_(planes),
          shift_(static_cast<unsigned>(std::countr_zero(granularity))),
          odd_factor_(granularity >> shift_) {
        check(planes > 0, "a machine has planes");
        check(granularity > 0 && granularity % kBlockBytes == 0, "plane_hash_bytes is a multiple of a block");
    }

    std::uint32_t plane(GmAddress address) const { return static_cast<std::uint32_t>(mixed(address) % planes_); }

    /// Place among `count` working planes for a block whose own plane is down: consecutive blocks of a dead
    /// plane go to consecutive working planes.
    std::uint32_t substitute(GmAddress address, std::uint32_t count) const {
        return static_cast<std::uint32_t>(mixed(address) / planes_ % count);
    }

private:
    std::uint64_t mixed(GmAddress address) const {
        std::uint64_t granule = address.offset >> shift_;
        if (odd_factor_ != 1) {  // 1 for 512 and 1024
            granule /= odd_factor_;
        }
        return granule + index(address.card);
    }

    std::uint64_t planes_;
    unsigned shift_;
    std::uint64_t odd_factor_;
};

}  // namespace podsim
