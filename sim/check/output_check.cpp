// SPDX-License-Identifier: Apache-2.0
#include "sim/check/output_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace podsim {

namespace {

constexpr std::size_t kExamples = 16;

std::vector<std::byte> contents(const GmStore& memory, std::uint64_t offset, std::uint64_t bytes) {
    Content content;
    memory.read(offset, bytes, content);
    std::vector<std::byte> out(bytes);
    copy_bytes(content, out);
    return out;
}

template <class T>
std::span<const std::byte> bytes_of_values(const std::vector<T>& values) {
    return std::as_bytes(std::span(values));
}

}  // namespace

std::string Mismatch::text() const {
    std::string out = fmt::format("call {} card {}: {} {} byte {}: expected {:#04x}, found {:#04x}", call, card, what,
                                  row, byte, expected, found);
    if (expert >= 0) {
        out += fmt::format("; expert {} from card {}", expert, source);
    }
    if (read_us >= 0) {
        out += landed_us >= 0
                   ? fmt::format("; its block landed at {:.3f} us, was last read at {:.3f} us", landed_us, read_us)
                   : fmt::format("; its block never landed, was last read at {:.3f} us", read_us);
    }
    return out;
}

void OutputCheck::compare(Mismatch item, std::span<const std::byte> expected, std::span<const std::byte> found,
                          const GmStore& memory, const Place& in_window) {
    const auto [want, have] = std::mismatch(expected.begin(), expected.end(), found.begin());
    if (want == expected.end()) {
        return;
    }
    ++mismatches_;
    // Which card ends first is not for the reader to know: by call and card, then in order of discovery.
    const auto place = std::upper_bound(examples_.begin(), examples_.end(), item, [](const auto& a, const auto& b) {
        return std::pair(a.call, a.card) < std::pair(b.call, b.card);
    });
    if (place == examples_.end() && examples_.size() == kExamples) {
        return;
    }
    item.byte = static_cast<std::uint32_t>(want - expected.begin());
    item.expected = static_cast<std::uint32_t>(*want);
    item.found = static_cast<std::uint32_t>(*have);
    if (in_window) {
        if (const Line* line = memory.find(line_of(in_window(item.byte)))) {
            item.landed_us = line->landed_ns() > 0 ? static_cast<double>(line->landed_ns()) / 1e3 : -1;
            item.read_us = line->read_ns() > 0 ? static_cast<double>(line->read_ns()) / 1e3 : -1;
        }
    }
    examples_.insert(place, std::move(item));
    examples_.resize(std::min(examples_.size(), kExamples));
}

void OutputCheck::check_row(const ReferenceDispatch& reference, std::uint32_t card, std::uint64_t row,
                            const GmStore& memory) {
    const RowOrigin& origin = reference.output(card)[row];
    const RowLayout& layout = layout_.row();
    const std::uint32_t local = workload_.is_shared_card(card) ? 0 : workload_.local_of_expert(origin.expert);
    const std::uint64_t slot =
        layout_.slot(card, reference.call() % 2, origin.source, local, origin.slot).address.offset;
    Mismatch item;
    item.call = reference.call();
    item.card = card;
    item.expert = origin.expert;
    item.row = static_cast<std::int64_t>(row);
    item.source = origin.source;

    Content found;
    memory.read(layout_.out_row(card, row).address.offset, layout.value_bytes, found);
    const std::uint64_t key = (static_cast<std::uint64_t>(reference.call()) << 40U) |
                              (static_cast<std::uint64_t>(origin.source) << 20U) | origin.token;
    auto known = known_.find(key);
    const bool same = known != known_.end() && found.size() == 1 && known->second.slice.payload &&
                      found.front() == known->second.slice;
    if (!same) {
        const RowContent expected = reference.content(origin.source, origin.token);
        std::vector<std::byte> bytes(layout.value_bytes);
        copy_bytes(found, bytes);
        item.what = "row";
        const std::uint64_t before = mismatches_;
        compare(item, expected.bytes, bytes, memory, [&](std::uint32_t byte) { return slot + layout.value_at(byte); });
        known = known_.try_emplace(key).first;
        known->second.scale = expected.scale;
        if (mismatches_ == before && found.size() == 1) {
            known->second.slice = found.front();
        }
    }
    if (workload_.quant == Quant::int8_dynamic) {
        item.what = "scale";
        const auto scale = contents(memory, layout_.out_scale(card, row).address.offset, 4);
        compare(item, std::as_bytes(std::span(&known->second.scale, 1)), scale, memory,
                [&](std::uint32_t byte) { return slot + layout.scale_at + byte; });
    }
    item.what = "triple";
    const std::array<std::uint32_t, 3> triple{origin.source, origin.token, origin.k};
    compare(item, std::as_bytes(std::span(triple)), contents(memory, layout_.out_triple(card, row).address.offset, 12),
            memory, [&](std::uint32_t byte) { return slot + layout.triple_at + byte; });
}

template <class T>
void OutputCheck::compare_array(const ReferenceDispatch& reference, std::uint32_t card, const char* what,
                                std::uint64_t offset, const std::vector<T>& expected, const GmStore& memory) {
    const auto found = contents(memory, offset, expected.size() * sizeof(T));
    for (std::size_t i = 0; i < expected.size(); ++i) {
        Mismatch item;
        item.call = reference.call();
        item.card = card;
        item.what = what;
        item.row = static_cast<std::int64_t>(i);
        compare(item, bytes_of_values(expected).subspan(i * sizeof(T), sizeof(T)),
                std::span(found).subspan(i * sizeof(T), sizeof(T)), memory, {});
    }
}

void OutputCheck::check_card(const ReferenceDispatch& reference, std::uint32_t card, const GmStore& memory) {
    const std::uint64_t count = reference.row_count(card);
    for (std::uint64_t row = 0; row < count; ++row) {
        check_row(reference, card, row, memory);
    }
    rows_ += count;
    compare_array(reference, card, "ep_recv_counts", layout_.ep_recv_counts(card, 0).address.offset,
                  reference.ep_recv_counts(card), memory);
    compare_array(reference, card, "expert_token_nums", layout_.expert_token_nums(card, 0).address.offset,
                  reference.expert_token_nums(card, ExpertTokenNums::prefix), memory);
}

}  // namespace podsim
