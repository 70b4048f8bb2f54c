// SPDX-License-Identifier: Apache-2.0
#include "sim/check/flag_check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace podsim {

namespace {

constexpr std::size_t kExamples = 16;

}  // namespace

void FlagCheck::add(const EarlyFlag& flag, const ReferenceDispatch& reference, Picoseconds way_back) {
    ++early_;
    // Which card ends first is not for the reader to know.
    const std::pair key(reference.call(), index(flag.flag.core.card));
    const auto place = std::upper_bound(examples_.begin(), examples_.end(), key,
                                        [](const auto& k, const Example& e) { return k < std::pair(e.call, e.card); });
    if (place == examples_.end() && examples_.size() == kExamples) {
        return;
    }
    examples_.insert(place, {key.first, key.second, text_of(flag, reference, way_back)});
    examples_.resize(std::min(examples_.size(), kExamples));
}

std::string FlagCheck::text_of(const EarlyFlag& early, const ReferenceDispatch& reference, Picoseconds way_back) const {
    const StoreEvent& flag = early.flag;
    std::string out =
        fmt::format("{}:{}: call {} card {} core {}: a flag to card {} left at {:.3f} us; it announces {}, which ",
                    flag.where.file_name(), flag.where.line(), reference.call(), index(flag.core.card),
                    index(flag.core.core), index(flag.to.card), to_us(early.left), name_of(early.store, reference));
    out += early.acknowledged == kNever ? "is not acknowledged"
                                        : fmt::format("landed at {:.3f} us and was acknowledged at {:.3f} us",
                                                      to_us(early.acknowledged - way_back), to_us(early.acknowledged));
    if (early.stores > 1) {
        out += fmt::format(", the last of {} such stores", early.stores);
    }
    if (early.acknowledged <= early.left) {
        out += fmt::format("; core {} has seen no SyncAll and read nothing since that could tell it",
                           index(flag.core.core));
    }
    return out + ": nothing orders them, reading right is luck";
}

std::string FlagCheck::name_of(const StoreEvent& store, const ReferenceDispatch& reference) const {
    const std::uint32_t card = index(store.to.card);
    const std::string by = fmt::format("stored by core {}", index(store.core.core));
    const auto place = layout_.slot_at(store.to.offset);
    if (!place) {
        return fmt::format("bytes at {:#x} {}", store.to.offset, by);
    }
    for (const RowOrigin& row : reference.output(card)) {
        const std::uint32_t local = workload_.is_shared_card(card) ? 0 : workload_.local_of_expert(row.expert);
        if (row.source == place->source && local == place->local_expert && row.slot == place->slot) {
            return fmt::format("token {} for expert {} (slot {}) {}", row.token, row.expert, row.slot, by);
        }
    }
    return fmt::format("slot {} of local expert {} {}", place->slot, place->local_expert, by);
}

std::vector<std::string> FlagCheck::lines() const {
    std::vector<std::string> out;
    out.reserve(examples_.size());
    for (const Example& example : examples_) {
        out.push_back(example.text);
    }
    return out;
}

}  // namespace podsim
