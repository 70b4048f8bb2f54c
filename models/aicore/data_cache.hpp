// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Data cache of a scalar unit: GM words it loads and stores stay there, coherent with nobody, until dcci.
#include "models/engine/payload.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace podsim {

class DataCache {
public:
    struct Entry {
        std::uint64_t line = 0;
        Slice data;
        bool dirty = false;
    };

    /// nullptr on a miss; good until the next fill or drop.
    Entry* find(std::uint64_t line) {
        const auto it =
            std::find_if(entries_.begin(), entries_.end(), [line](const Entry& e) { return e.line == line; });
        return it == entries_.end() ? nullptr : &*it;
    }
    /// Puts a line in; the oldest leaves when there are more than `capacity` and is returned if dirty.
    std::optional<Entry> fill(std::uint64_t line, Slice data, std::size_t capacity) {
        entries_.push_back({line, std::move(data), false});
        return entries_.size() > capacity ? drop(entries_.front().line) : std::nullopt;
    }
    /// Takes a line out; returns it if it was dirty.
    std::optional<Entry> drop(std::uint64_t line) {
        const auto it =
            std::find_if(entries_.begin(), entries_.end(), [line](const Entry& e) { return e.line == line; });
        if (it == entries_.end()) {
            return std::nullopt;
        }
        Entry out = std::move(*it);
        entries_.erase(it);
        return out.dirty ? std::optional(std::move(out)) : std::nullopt;
    }

private:
    std::vector<Entry> entries_;  // oldest first; a kernel touches some tens of lines
};

}  // namespace podsim
