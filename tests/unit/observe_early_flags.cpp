// SPDX-License-Identifier: Apache-2.0
/// Which flags are early: by hand-made stores, and by a core that says what its flag announces.
#include "sim/observe/early_flags.hpp"
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

using namespace podsim;
using namespace podsim::test;

namespace {

constexpr CardId kSender{1}, kReceiver{2}, kOther{0};
constexpr std::uint64_t kFlagAt = 64, kSlotBytes = 1024;
constexpr std::uint64_t kSlots = 1 << 20;  ///< behind all of kLayout

Workload small() {
    Workload w;
    w.cards = 4;
    w.batch_size = 4;
    w.hidden = 544;
    w.top_k = 1;
    w.experts = 4;
    return w;
}
const DispatchLayout kLayout(small(), 4, 512);

/// A row to slot `slot` of `to`, as number `sequence` of a core's program.
StoreEvent row(std::uint32_t core, std::uint64_t sequence, std::uint64_t slot, CardId to = kReceiver) {
    StoreEvent store;
    store.core = {kSender, CoreId{core}};
    store.sequence = sequence;
    store.to = {to, kSlots + slot * kSlotBytes};
    store.block_bytes = 700;
    store.stride = 700;
    return store;
}

/// A flag that announces slots [first, first + count).
StoreEvent flag(std::uint32_t core, std::uint64_t sequence, std::uint64_t first, std::uint64_t count,
                CardId to = kReceiver) {
    StoreEvent store = row(core, sequence, 0, to);
    store.to.offset = kFlagAt;
    store.block_bytes = 32;
    store.stride = 32;
    store.announced = kSlots + first * kSlotBytes;
    store.announced_bytes = count * kSlotBytes;
    return store;
}

struct Listener {
    explicit Listener(bool ordered = false) : flags(kLayout, 3, 4, ordered) {}
    void store(const StoreEvent& event, Picoseconds began, Picoseconds acknowledged) {
        flags.store_began(event, began);
        flags.store_acknowledged(event, acknowledged);
    }
    /// Leaves some time after its core came to it.
    void leaves(const StoreEvent& event, Picoseconds at) {
        flags.store_began(event, at - 5);
        flags.flag_left(event, at);
        flags.store_acknowledged(event, at + 300);
    }
    std::vector<EarlyFlag> end_call() { return flags.end_call(index(kSender), 0); }
    std::size_t early() { return end_call().size(); }

    EarlyFlags flags;
};

}  // namespace

TEST_CASE("early flags: one that leaves when its rows are acknowledged is in time, of whatever core", "[observe]") {
    Listener all;
    all.store(row(0, 1, 0), 100, 900);
    all.store(row(1, 1, 1), 100, 1000);
    all.leaves(flag(1, 2, 0, 2), 1000);
    CHECK(all.early() == 0);
}

TEST_CASE("early flags: one that leaves a picosecond before is early, and tells the last of its rows", "[observe]") {
    Listener all;
    all.flags.store_began(row(0, 1, 0), 100);
    all.flags.store_began(row(2, 1, 1), 150);
    all.flags.store_began(row(2, 2, 2), 200);
    all.leaves(flag(1, 2, 0, 3), 999);
    all.flags.store_acknowledged(row(2, 1, 1), 900);  // told late, as of its own card it may be early
    all.flags.store_acknowledged(row(2, 2, 2), 1000);
    all.flags.store_acknowledged(row(0, 1, 0), 990);
    const auto early = all.end_call();
    REQUIRE(early.size() == 1);
    CHECK(early[0].left == 999);
    CHECK(early[0].flag.core.core == CoreId{1});
    CHECK(early[0].store.core.core == CoreId{2});
    CHECK(early[0].store.to.offset == kSlots + 2 * kSlotBytes);
    CHECK(early[0].acknowledged == 1000);
}

TEST_CASE("early flags: a row that begins after its flag has left", "[observe]") {
    Listener all;
    all.leaves(flag(1, 2, 0, 2), 1000);
    all.store(row(0, 1, 1), 5000, 6000);
    all.store(row(0, 2, 2), 5000, 6000);  // not announced
    const auto early = all.end_call();
    REQUIRE(early.size() == 1);
    CHECK(early[0].stores == 1);
    CHECK(early[0].store.sequence == 1);
}

TEST_CASE("early flags: only what is announced counts, only of the same card, only in the same call", "[observe]") {
    Listener all;
    all.flags.store_began(row(0, 1, 2), 100);          // the slot behind
    all.flags.store_began(row(0, 2, 0, kOther), 100);  // the same place on another card
    StoreEvent foreign = row(0, 3, 0);
    foreign.core.card = kOther;
    all.flags.store_began(foreign, 100);
    all.leaves(flag(1, 1, 0, 2), 1000);
    all.flags.store_acknowledged(row(0, 1, 2), 2000);
    all.flags.store_acknowledged(row(0, 2, 0, kOther), 2000);
    all.flags.store_acknowledged(foreign, 2000);
    CHECK(all.early() == 0);
    all.store(row(0, 4, 0), 3000, 4000);  // the next call's
    CHECK(all.early() == 0);
}

TEST_CASE("early flags: bursts count, not the gaps between them", "[observe]") {
    // Bursts of 32 B at 0, 512, 1024 … of the slots; a flag announces 32 B in the gap, then a byte of the third burst.
    StoreEvent strided = row(0, 1, 0);
    strided.blocks = 4;
    strided.block_bytes = 32;
    strided.stride = 512;
    const struct {
        std::uint64_t from, bytes;
        bool early;
    } kCases[] = {{32, 480, false}, {544, 480, false}, {1055, 1, true},   {1056, 1, false}, {1023, 1, false},
                  {1023, 2, true},  {1536, 100, true}, {1568, 64, false}, {0, 1, true},     {32, 481, true}};
    for (const auto& [from, bytes, is_early] : kCases) {
        CAPTURE(from, bytes);
        StoreEvent announcing = flag(1, 1, 0, 0);
        announcing.announced = kSlots + from;
        announcing.announced_bytes = bytes;
        Listener before, after;
        before.flags.store_began(strided, 100);
        before.leaves(announcing, 1000);
        before.flags.store_acknowledged(strided, 2000);
        CHECK(before.early() == (is_early ? 1 : 0));
        after.leaves(announcing, 1000);
        after.store(strided, 1100, 2000);
        CHECK(after.early() == (is_early ? 1 : 0));
    }
}

TEST_CASE("early flags: an ordered fabric answers for the flag's own core, and for what it stored before",
          "[observe]") {
    const auto early = [](std::uint32_t core, bool row_first) {
        Listener all(true);
        if (row_first) {
            all.flags.store_began(row(core, 1, 0), 100);
            all.leaves(flag(0, 2, 0, 1), 200);
            all.flags.store_acknowledged(row(core, 1, 0), 900);
        } else {
            all.leaves(flag(0, 2, 0, 1), 200);
            all.store(row(core, 3, 0), 300, 900);
        }
        return all.early();
    };
    CHECK(early(0, true) == 0);
    CHECK(early(1, true) == 1);
    CHECK(early(0, false) == 1);
    CHECK(early(1, false) == 1);
}

namespace {

/// The same row in a slot of the window, where a flag's core must be able to know of another's acknowledgement.
StoreEvent row_in_slot(std::uint32_t core, std::uint64_t sequence, CardId to = kReceiver) {
    StoreEvent store = row(core, sequence, 0, to);
    store.to = kLayout.slot(index(to), 0, index(kSender), 0, 1).address;
    return store;
}
StoreEvent flag_of_slots(std::uint32_t core, std::uint64_t sequence, CardId to = kReceiver) {
    StoreEvent store = flag(core, sequence, 0, 0, to);
    const Announces slots = kLayout.slots(index(to), 0, index(kSender), 0);
    store.announced = slots.first.offset;
    store.announced_bytes = slots.bytes;
    return store;
}

}  // namespace

TEST_CASE("early flags: rows that another core knows of, in time or not", "[observe]") {
    REQUIRE(kLayout.end() < kSlots);
    const auto early = [](std::uint32_t learner, Picoseconds learned, std::uint32_t other_stores) {
        Listener all;
        all.store(row_in_slot(0, 1), 100, 900);
        for (std::uint32_t i = 0; i < other_stores; ++i) {
            all.store(row(0, 2 + i, 7), 1000 + 10 * i, 1005 + 10 * i);  // what its core does later makes no difference
        }
        all.flags.learned({kSender, CoreId{learner}}, learned);
        all.leaves(flag_of_slots(1, 1), 5000);
        return all.early();
    };
    for (const std::uint32_t others : {0U, 1U, 9U}) {
        CAPTURE(others);
        CHECK(early(1, 0, others) == 1);
        CHECK(early(1, 899, others) == 1);
        CHECK(early(1, 900, others) == 0);
        CHECK(early(1, 6000, others) == 0);
        CHECK(early(0, 4000, others) == 1);  // the row's own core
        CHECK(early(2, 4000, others) == 1);  // somebody else
    }
    Listener own;
    own.store(row_in_slot(1, 1), 100, 900);
    own.leaves(flag_of_slots(1, 2), 1000);
    CHECK(own.early() == 0);
    // What will be learned is not known yet: a read that is under way.
    Listener ahead;
    ahead.flags.learned({kSender, CoreId{1}}, 1200);
    ahead.flags.store_began(row_in_slot(0, 1), 100);
    ahead.leaves(flag_of_slots(1, 1), 1000);
    ahead.flags.store_acknowledged(row_in_slot(0, 1), 1100);
    CHECK(ahead.early() == 1);
}

TEST_CASE("early flags: a receiver's clean-up is no row, and a call begins after what ran before", "[observe]") {
    Listener all;
    StoreEvent clears = row_in_slot(0, 1, kSender);
    clears.block_bytes = 32;
    clears.stride = 512;
    clears.blocks = 2;
    all.store(clears, 100, 900);
    all.leaves(flag_of_slots(1, 1, kSender), 5000);
    CHECK(all.early() == 0);
    all.store(row_in_slot(0, 2), 6000, 7000);
    all.flags.end_call(index(kSender), 7500);
    all.leaves(flag_of_slots(1, 2), 8000);
    CHECK(all.early() == 0);
}

namespace {

/// A row to another card, and its flag: behind a barrier or not, announcing the row or not.
Task<void> row_and_flag(Aiv& aiv, bool barrier, bool announces, CardId to) {
    const auto ub = aiv.Alloc<std::uint8_t>(2048);
    const GlobalTensor<std::uint8_t> slot{{to, kSlots}};
    const GlobalTensor<std::uint8_t> cell{{to, kFlagAt}};
    aiv.DataCopyPad(slot, ub, {1, 2000, 0, 0});
    if (barrier) {
        aiv.PipeBarrier<Pipe::mte3>();
    }
    aiv.DataCopyPad(cell, ub, {1, 32, 0, 0}, announces ? Announces{slot.address, 2000} : Announces{});
    aiv.End();
    co_return;
}

}  // namespace

TEST_CASE("early flags: a core's own row and flag, to its card, the other die and another package", "[observe]") {
    for (const char* name : {"atlas_a3_pod", "tiny_pod"}) {
        for (const std::uint32_t to : {0U, 1U, 3U}) {
            for (const bool barrier : {false, true}) {
                CAPTURE(name, to, barrier);
                Picoseconds ends[2] = {};
                for (const bool announces : {false, true}) {
                    EarlyFlags listener(kLayout, 4, 1, false);
                    DeviceUnderTest dut(machine(name), {.cards = 4, .listener = &listener});
                    dut.launch_one(row_and_flag, barrier, announces, CardId{to});
                    dut.run();
                    ends[announces ? 1 : 0] = dut.end();
                    const auto early = listener.end_call(0, 0);
                    REQUIRE(early.size() == (announces && !barrier ? 1 : 0));
                    if (!early.empty()) {
                        CHECK(early[0].left < early[0].acknowledged);
                        CHECK(early[0].acknowledged <= dut.end());
                        CHECK(early[0].store.to == GmAddress{CardId{to}, kSlots});
                        CHECK(early[0].flag.to == GmAddress{CardId{to}, kFlagAt});
                    }
                }
                CHECK(ends[0] == ends[1]);  // saying it takes no time
            }
        }
    }
}

namespace {

enum class Hears : std::uint8_t { nothing, sync_all, poll, copy, load, untouched, other_card };

constexpr std::uint64_t kCell = 8192 + kSlots, kUntouched = 4 * kCell;
const GmAddress kRow = kLayout.slot(1, 0, 0, 0, 0).address;

/// Core 0 sends a row, drains it, and stores a word; core 1 sends the flag long after, having heard of it or not.
Task<void> others_row(Aiv& aiv, Hears how) {
    const auto ub = aiv.Alloc<std::int32_t>(256);
    const auto cell = gm_tensor<std::int32_t>(kCell);
    if (aiv.self().core == CoreId{0}) {
        aiv.Duplicate(ub, std::int32_t{7}, 256);
        aiv.Sync<HardEvent::V_MTE3>();
        aiv.DataCopyPad(GlobalTensor<std::int32_t>{kRow}, ub, {1, 700, 0, 0});
        aiv.PipeBarrierAll();
        aiv.DataCopyPad(cell, ub, {1, 32, 0, 0});
        if (how == Hears::sync_all) {
            aiv.SyncAll();
        }
        aiv.End();
        co_return;
    }
    if (how == Hears::poll) {
        PollSpec poll;
        poll.copy = aiv.PollCopy(ub, cell, {1, 32, 0, 0});
        Aiv::PollCompare(poll, ub, Compare::eq, std::int32_t{7});
        co_await aiv.PollUntil(poll);
    }
    aiv.Alu(100'000);
    if (how == Hears::sync_all) {
        aiv.SyncAll();
    } else if (how == Hears::copy) {
        aiv.DataCopyPad(ub, cell, {1, 32, 0, 0});
    } else if (how == Hears::load) {
        co_await aiv.LoadGm(cell);
    } else if (how == Hears::untouched) {
        aiv.DataCopyPad(ub, gm_tensor<std::int32_t>(kUntouched), {1, 32, 0, 0});
        co_await aiv.LoadGm(gm_tensor<std::int32_t>(kUntouched + 4096));
    } else if (how == Hears::other_card) {
        aiv.DataCopyPad(ub, gm_tensor<std::int32_t>(kUntouched, 1), {1, 32, 0, 0});
    }
    aiv.PipeBarrierAll();
    aiv.DataCopyPad(gm_tensor<std::int32_t>(kFlagAt, 1), ub, {1, 32, 0, 0}, kLayout.slots(1, 0, 0, 0));
    aiv.End();
}

}  // namespace

TEST_CASE("early flags: a core hears of another by SyncAll and by memory that was stored to", "[observe]") {
    const std::pair<Hears, bool> kWays[] = {
        {Hears::nothing, false}, {Hears::sync_all, true},   {Hears::poll, true},      {Hears::copy, true},
        {Hears::load, true},     {Hears::untouched, false}, {Hears::other_card, true}};
    for (const Polling polling : {Polling::elided, Polling::explicit_steps}) {
        for (const auto& [how, hears] : kWays) {
            CAPTURE(static_cast<int>(how));
            EarlyFlags listener(kLayout, 2, 2, false);
            DeviceUnderTest dut(machine("atlas_a3_pod"),
                                {.cards = 2, .cores = 2, .polling = polling, .listener = &listener});
            dut.launch({CardId{0}, CoreId{0}}, 0, others_row, how);
            dut.launch({CardId{0}, CoreId{1}}, 0, others_row, how);
            dut.run();
            const auto early = listener.end_call(0, 0);
            CHECK(early.size() == (hears ? 0 : 1));
            for (const EarlyFlag& flag : early) {
                CHECK(flag.acknowledged < flag.left);  // in time, and nobody told its core
                CHECK(flag.store.to == kRow);
            }
        }
    }
}
