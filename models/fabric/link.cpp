// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/link.hpp"

namespace podsim {

void Link::grow() {
    constexpr std::uint8_t kFirstBits = 2;
    if (ring_ == nullptr) {
        ring_bits_ = kFirstBits;
        ring_ = std::make_unique<Hop[]>(std::size_t{1} << ring_bits_);
        return;
    }
    const std::uint32_t size = 1U << ring_bits_;
    auto larger = std::make_unique<Hop[]>(std::size_t{2} * size);
    for (std::uint32_t i = 0; i < size; ++i) {
        larger[i] = ring_[(first_ + i) & (size - 1)];
    }
    ring_ = std::move(larger);
    first_ = 0;
    ++ring_bits_;
}

}  // namespace podsim
