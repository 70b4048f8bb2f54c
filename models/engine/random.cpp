// SPDX-License-Identifier: Apache-2.0
#include "models/engine/random.hpp"

#include <Random123/philox.h>

namespace podsim {

std::pair<std::uint64_t, std::uint64_t> random_u128(std::uint64_t seed, RandomStream stream, std::uint64_t a,
                                                    std::uint64_t b) {
    using Philox = r123::Philox4x32;
    // The key holds the seed; the counter holds b (64 bits), a (32 bits) and the stream with a's high bits.
    const Philox::ctr_type counter{{static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32U),
                                    static_cast<std::uint32_t>(a),
                                    static_cast<std::uint32_t>(stream) ^ (static_cast<std::uint32_t>(a >> 32U) << 8U)}};
    const Philox::key_type key{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)}};
    const auto r = Philox{}(counter, key);
    return {r[0] | (static_cast<std::uint64_t>(r[1]) << 32U), r[2] | (static_cast<std::uint64_t>(r[3]) << 32U)};
}

std::uint64_t random_u64(std::uint64_t seed, RandomStream stream, std::uint64_t a, std::uint64_t b) {
    return random_u128(seed, stream, a, b).first;
}

std::uint64_t random_below(std::uint64_t seed, RandomStream stream, std::uint64_t a, std::uint64_t b,
                           std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    const auto wide = static_cast<Wide>(random_u64(seed, stream, a, b)) * bound;
    return static_cast<std::uint64_t>(wide >> 64U);
}

double random_unit(std::uint64_t seed, RandomStream stream, std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(random_u64(seed, stream, a, b) >> 11U) * 0x1.0p-53;
}

}  // namespace podsim
