// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Soft synchronisation of a card's cores through flags in GM, where SyncAll would stop them all.
///
/// Cells of 32 B: every waiter has a run of its own, one cell for each core that may raise it, runs `pitch`
/// bytes apart on lines of their own, so that no waiter's polls hold up another's. A cell holds the number
/// it was last raised with: numbers grow from use to use and nothing is cleared.
///   1:1  raise(waiter, 1, …), wait(raiser, 1, …)        1:n  raise(first, n, …), wait(raiser, 1, …)
///   n:1  raise(waiter, 1, …), wait(first, n, …)         n:n  everybody raises to all and waits for all
/// Costs: a raise is a vector fill and one strided MTE3 copy; a wait is a poll loop on the waiter's run.
/// What the raiser has stored before is not ordered with its flag: it drains its MTE3 first (PipeBarrier).
#include "algorithms/kernel_api/aiv.hpp"

namespace podsim {

/// The cells of one synchronisation point on the own card.
struct SoftCells {
    GlobalTensor<float> cells;  ///< waiter 0, raiser 0
    std::uint64_t pitch = 0;    ///< bytes from one waiter's run to the next
};

class SoftSync {
public:
    /// Work space for up to `cores` waiters or raisers: 64 B of UB each.
    SoftSync(Aiv& aiv, std::uint32_t cores)
        : aiv_(aiv),
          sent_(aiv.Alloc<float>(cores * kWords)),
          seen_(aiv.Alloc<float>(cores * kWords)),
          sum_(aiv.Alloc<float>(kWords)) {}

    /// Core `self` raises its cell at waiters [first, first + waiters).
    void raise(const SoftCells& point, std::uint32_t self, std::uint32_t first, std::uint32_t waiters,
               std::uint32_t number);
    /// Core `self` waits until raisers [first, first + raisers) have raised `number`.
    Task<void> wait(const SoftCells& point, std::uint32_t self, std::uint32_t first, std::uint32_t raisers,
                    std::uint32_t number);

    /// Whether one raiser has raised `number` by now: one look, no loop.
    Task<bool> raised(const SoftCells& point, std::uint32_t self, std::uint32_t raiser, std::uint32_t number);

private:
    static constexpr std::uint32_t kWords = 8;  ///< of a cell
    static constexpr std::uint8_t kEvent = 4;

    Aiv& aiv_;
    LocalTensor<float> sent_, seen_, sum_;
};

}  // namespace podsim
