// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/host_memory.hpp"

#include <cstdint>

#if defined(__linux__) && defined(__GLIBC__)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#endif

namespace podsim {

void prefer_huge_pages() {
#if defined(__linux__) && defined(__GLIBC__)
    // Address space only: pages come when they are touched. One advice then covers the whole heap.
    constexpr int kReserve = 0x70000000;
    constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20U;
    mallopt(M_TOP_PAD, kReserve);
    mallopt(M_TRIM_THRESHOLD, kReserve);
    mallopt(M_MMAP_THRESHOLD, kReserve);
    const auto first = std::make_unique<char[]>(1U << 20U);  // makes the heap grow by the reserve
    const auto begin = (reinterpret_cast<std::uintptr_t>(first.get()) + kHugePage - 1) / kHugePage * kHugePage;
    const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0)) / kHugePage * kHugePage;
    if (end > begin) {
        madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // refused: as before
    }
    mallopt(M_TOP_PAD, 1 << 26);
#endif
}

}  // namespace podsim
