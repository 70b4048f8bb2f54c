// SPDX-License-Identifier: Apache-2.0
#include "sim/config/origins.hpp"

namespace podsim {

bool is_below(std::string_view pointer, std::string_view prefix) {
    return pointer.starts_with(prefix) && (pointer.size() == prefix.size() || pointer[prefix.size()] == '/');
}

void Origins::record(std::string pointer, std::string file, std::string inner) {
    std::erase_if(entries_, [&](const Entry& e) { return is_below(e.pointer, pointer); });
    entries_.push_back({std::move(pointer), std::move(file), std::move(inner)});
}

ErrorDetail Origins::at(std::string_view pointer, std::string expected, std::string found, std::string hint) const {
    const Entry* best = nullptr;
    for (const Entry& e : entries_) {
        if (is_below(pointer, e.pointer) && (best == nullptr || e.pointer.size() > best->pointer.size())) {
            best = &e;
        }
    }
    std::string file;
    std::string inner(pointer);
    if (best != nullptr) {
        file = best->file;
        inner = best->inner + std::string(pointer.substr(best->pointer.size()));
    }
    constexpr std::size_t kMost = 300;  // the rest of the message is worth more than the rest of a pointer
    if (inner.size() > kMost) {
        inner = inner.substr(0, kMost) + "…";
    }
    return {std::move(file), std::move(inner), std::move(expected), std::move(found), std::move(hint)};
}

}  // namespace podsim
