// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Tensors as in Ascend C: typed views of the Unified Buffer and of global memory. They hold no data.
#include "models/aicore/data_type.hpp"
#include "models/engine/units.hpp"

#include <cstdint>

namespace podsim {

template <class T>
struct LocalTensor {
    std::uint32_t offset = 0;  ///< bytes into UB
    std::uint32_t count = 0;   ///< elements

    LocalTensor operator[](std::uint32_t first) const {
        return {static_cast<std::uint32_t>(offset + first * sizeof(T)), count - first};
    }
    template <class U>
    LocalTensor<U> ReinterpretCast() const {
        return {offset, static_cast<std::uint32_t>(count * sizeof(T) / sizeof(U))};
    }
    std::uint32_t bytes() const { return static_cast<std::uint32_t>(count * sizeof(T)); }
};

template <class T>
struct GlobalTensor {
    GmAddress address;

    GlobalTensor operator[](std::uint64_t first) const { return {address + first * sizeof(T)}; }
    template <class U>
    GlobalTensor<U> ReinterpretCast() const {
        return {address};
    }
};

/// As DataCopyExtParams: bursts of `block_len` bytes; strides are gaps between bursts, in bytes on the GM
/// side and in 32 B units on the UB side, where each burst starts on a 32 B granule.
struct DataCopyExtParams {
    std::uint32_t block_count = 1;
    std::uint32_t block_len = 0;
    std::uint64_t src_stride = 0;
    std::uint64_t dst_stride = 0;
};

/// What a flag says to who sees it: the `bytes` of GM from `first` on are there. They lie in the memory that the flag
/// goes to.
struct Announces {
    GmAddress first;
    std::uint64_t bytes = 0;
};

/// A vector instruction in `pieces` places: `count` elements in each, starts `dst_pitch` (and `src_pitch`) bytes
/// apart. A piece is some lanes of a 32 B granule, the same ones in source and destination (a bit mask; strides
/// between granules), or whole granules of one 256 B repeat (repeat strides).
struct VectorPieces {
    std::uint32_t pieces = 1;
    std::uint32_t count = 0;
    std::uint32_t dst_pitch = 0;
    std::uint32_t src_pitch = 0;
};

}  // namespace podsim
