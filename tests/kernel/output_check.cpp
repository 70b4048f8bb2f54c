// SPDX-License-Identifier: Apache-2.0
/// The check of outputs can fail: every wrong byte is seen, and told with its place.
#include "tests/kernel/kernel_support.hpp"
#include "tests/kernel/option_draws.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <set>
#include <vector>

using namespace podsim;

namespace {

/// Memory of a card after a run, with one byte of it turned over.
GmStore with_a_wrong_byte(const GmStore& memory, std::uint64_t end, std::uint64_t wrong) {
    GmStore copy(PayloadMode::copying);
    for (std::uint64_t line = 0; line * kBlockBytes < end; ++line) {
        if (memory.find(line) == nullptr && line != wrong / kBlockBytes) {
            continue;
        }
        std::array<std::byte, kBlockBytes> bytes{};
        Content content;
        memory.read(line * kBlockBytes, kBlockBytes, content);
        copy_bytes(content, bytes);
        if (line == wrong / kBlockBytes) {
            bytes.at(wrong % kBlockBytes) ^= std::byte{0x80};
        }
        copy.write(line * kBlockBytes, Slice{make_bytes(bytes), 0, kBlockBytes});
    }
    return copy;
}

}  // namespace

TEST_CASE("output check: any one wrong byte is found and told", "[kernel]") {
    constexpr std::uint32_t kCard = 2;
    for (const char* quant : {"int8_dynamic", "none"}) {
        const auto simulation = run_with(sized({3, 2, 4, 3, 544, 12}) + Sets{std::string("/workload/quant=") + quant});
        REQUIRE(simulation->status() == RunStatus::ok);
        const DispatchLayout& layout = simulation->layout();
        const Workload& w = simulation->config().workload;
        const ReferenceDispatch& reference = simulation->job().reference(0);
        const GmStore& memory = simulation->pod().card(CardId{kCard}).memory.store_contents();
        const std::uint64_t last = reference.row_count(kCard) - 1;
        REQUIRE(last > 3);

        struct Fault {
            const char* what;
            std::uint64_t offset;
            std::int64_t row;
            std::uint32_t byte;
        };
        std::vector<Fault> faults{
            {"row", layout.out_row(kCard, 0).address.offset, 0, 0},
            {"row", layout.out_row(kCard, 3).address.offset + 511, 3, 511},
            {"row", layout.out_row(kCard, 3).address.offset + 512, 3, 512},
            {"row", layout.out_row(kCard, last).address.offset + w.row_value_bytes() - 1,
             static_cast<std::int64_t>(last), w.row_value_bytes() - 1},
            {"triple", layout.out_triple(kCard, 1).address.offset + 8, 1, 8},
            {"triple", layout.out_triple(kCard, last).address.offset + 11, static_cast<std::int64_t>(last), 11},
            {"ep_recv_counts", layout.ep_recv_counts(kCard, 4).address.offset, 4, 0},
            {"expert_token_nums", layout.expert_token_nums(kCard, 1).address.offset + 7, 1, 7},
        };
        if (w.quant == Quant::int8_dynamic) {
            faults.push_back({"scale", layout.out_scale(kCard, 2).address.offset + 3, 2, 3});
        }
        for (const Fault& fault : faults) {
            CAPTURE(quant, fault.what, fault.row, fault.byte);
            OutputCheck check(w, layout);
            check.check_card(reference, kCard, with_a_wrong_byte(memory, layout.end(), fault.offset));
            CHECK(check.mismatches() == 1);
            REQUIRE(check.examples().size() == 1);
            const Mismatch& m = check.examples().front();
            CHECK(m.what == fault.what);
            CHECK(m.card == kCard);
            CHECK(m.row == fault.row);
            CHECK(m.byte == fault.byte);
            CHECK((m.expected ^ m.found) == 0x80U);
            if (fault.what == std::string("row") || fault.what == std::string("triple")) {
                const RowOrigin& origin = reference.output(kCard)[static_cast<std::size_t>(fault.row)];
                CHECK(m.expert == origin.expert);
                CHECK(m.source == origin.source);
            }
        }
        // Untouched, the copy is right, and so is a byte that nobody owns.
        OutputCheck check(w, layout);
        check.check_card(reference, kCard, with_a_wrong_byte(memory, layout.end(), layout.end() - 1));
        CHECK(check.mismatches() == 0);
        CHECK(check.rows() == last + 1);
    }
}

TEST_CASE("output check: another card's, another call's or no output at all is wrong", "[kernel]") {
    const auto simulation = run_with(sized({3, 2, 4, 3, 544, 12}) + Sets{"/calls=2"});
    REQUIRE(simulation->status() == RunStatus::ok);
    const GmStore& memory = simulation->pod().card(CardId{1}).memory.store_contents();
    const auto wrong = [&](std::uint32_t call, std::uint32_t card, const GmStore& found) {
        OutputCheck check(simulation->config().workload, simulation->layout());
        check.check_card(simulation->job().reference(call), card, found);
        return check.mismatches();
    };
    CHECK(wrong(1, 1, memory) == 0);
    CHECK(wrong(0, 1, memory) > 0);  // inputs change from call to call
    CHECK(wrong(1, 2, memory) > 0);
    const GmStore empty(PayloadMode::extents);
    CHECK(wrong(1, 1, empty) >= 2 * simulation->job().reference(1).row_count(1));
}

TEST_CASE("output check: where a byte of a row lies in its slot is where the kernel has put it", "[kernel]") {
    for (const char* blocks : {"plain", "striped_504", "packed_480"}) {
        for (const char* quant : {"int8_dynamic", "none"}) {
            CAPTURE(blocks, quant);
            Sets sets = sized({3, 2, 4, 3, 1568, 12}) + Sets{std::string("/workload/quant=") + quant};
            if (std::string(blocks) != "plain") {
                sets = sets + Sets{kOption + "sync_mode=block_flag", kOption + "block_layout=" + blocks};
            }
            const auto simulation = run_with(sets);
            REQUIRE(simulation->status() == RunStatus::ok);
            const DispatchLayout& layout = simulation->layout();
            const Workload& w = simulation->config().workload;
            const GmStore& memory = simulation->pod().card(CardId{1}).memory.store_contents();
            const auto bytes_at = [&](std::uint64_t offset, std::uint64_t count) {
                Content content;
                memory.read(offset, count, content);
                std::vector<std::byte> out(count);
                copy_bytes(content, out);
                return out;
            };
            const auto& rows = simulation->job().reference(0).output(1);
            REQUIRE(rows.size() > 3);
            for (std::size_t row = 0; row < rows.size(); ++row) {
                const auto slot =
                    layout.slot(1, 0, rows[row].source, w.local_of_expert(rows[row].expert), rows[row].slot);
                const auto sent = bytes_at(slot.address.offset, layout.row().slot_bytes);
                const auto moved = bytes_at(layout.out_row(1, row).address.offset, layout.row().value_bytes);
                std::vector<std::byte> found(moved.size());
                std::set<std::uint32_t> places;
                for (std::uint32_t byte = 0; byte < moved.size(); ++byte) {
                    const std::uint32_t place = layout.row().value_at(byte);
                    places.insert(place);
                    found[byte] = sent.at(place);
                }
                CHECK(found == moved);
                CHECK(places.size() == moved.size());
            }
        }
    }
}
