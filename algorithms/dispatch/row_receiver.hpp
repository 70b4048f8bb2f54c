// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The receive side: a core's share of the card's rows from their slots to the OutputBuffer.
///
/// Arrival. A row with flags is watched by one word of it: its token flag, or the flag of one of its blocks. One
/// poll loop watches up to receive_batch rows and ends when any of them shows. A row of blocks is then read
/// whole, data and flags together, and its flags are checked in UB: each block was seen with its own flag.
/// Blocks land in any order, so one may be missing: then the row is watched by that one.
#include "algorithms/dispatch/block_pack.hpp"

#include <vector>

namespace podsim {

class RowReceiver {
public:
    RowReceiver(CoreState& core, BlockPack& pack) : c_(core), pack_(pack), aiv_(core.aiv), row_(core.row) {}

    Task<void> reorder();

    /// Before the first glance(): the receive side's buffers, beside the send side's.
    void open();
    /// Between two sends: moves what of the first rows in line has come, waits for nothing (dynamic schedule). Rows are
    /// known once the early sums are there.
    Task<void> glance();

private:
    /// Rows that are moved together: consecutive slots, consecutive output rows.
    struct Unit {
        GlobalTensor<std::uint8_t> slot;
        std::uint64_t out = 0;
        std::uint32_t rows = 1;
        std::uint32_t entries = 0;  ///< (expert, source) pairs gone on by to come to it, itself included
        std::uint32_t watched = 0;  ///< row · blocks + block whose flag is polled
    };

    void open_buffers();
    void open_checks();
    /// To MTE3, which can lie far behind with the send side's rows: ids of its own beside theirs.
    std::uint8_t out_event(std::uint8_t b) const { return static_cast<std::uint8_t>((open_ ? 4 : 0) + b); }
    std::uint8_t event(std::uint8_t b) const { return static_cast<std::uint8_t>(first_event_ + b); }
    void fill_window();
    Task<void> move_arrived();
    std::uint32_t watched_bytes() const { return c_.opt.token_flags() ? kUbGranule : 4; }
    Task<void> move_in_order();
    Task<void> wait_token(GlobalTensor<std::uint8_t> slot);
    void come_to_entries(std::uint32_t entries);
    Task<void> move_as_they_come();
    Task<void> list_units();
    Task<std::uint32_t> entry_of(std::uint32_t row);
    void add(std::uint32_t entry, std::uint32_t first_slot, std::uint32_t rows, std::uint64_t out);
    Task<void> poll(std::uint32_t units);
    Task<bool> move(Unit& unit);
    Task<bool> whole(Unit& unit);
    Task<std::uint32_t> missing(std::uint32_t blocks);
    void gather_flags(LocalTensor<std::uint8_t> blocks);
    Task<bool> all_set(LocalTensor<float> words, std::uint32_t blocks, std::uint32_t pitch);
    void load_row(GlobalTensor<std::uint8_t> from, std::uint8_t b);
    void store_row(std::uint64_t out, std::uint8_t b);
    void store_values(std::uint64_t out, LocalTensor<std::uint8_t> from);
    void clear_flags(GlobalTensor<std::uint8_t> slot);
    GlobalTensor<std::int32_t> watched_word(const Unit& unit) const;
    std::int32_t flag_bits() const;

    CoreState& c_;
    BlockPack& pack_;
    Aiv& aiv_;
    const RowLayout& row_;
    LocalTensor<std::uint8_t> moving_[2];
    std::uint8_t next_ = 0;
    std::uint32_t scanned_ = 0;        ///< blocks a scalar check has found set
    LocalTensor<std::int32_t> watch_;  ///< one granule for each watched unit
    LocalTensor<float> flags_;         ///< one granule for each block of a unit
    LocalTensor<std::uint8_t> zeros_;
    std::vector<Unit> units_;
    std::uint32_t entries_passed_ = 0;  ///< since the last unit
    std::vector<std::size_t> pending_;  ///< watched: numbers of units
    std::size_t next_unit_ = 0;         ///< not yet watched
    std::uint8_t first_event_ = 0;      ///< of the two buffers' MTE3_MTE2
    bool open_ = false, listed_ = false;
};

}  // namespace podsim
