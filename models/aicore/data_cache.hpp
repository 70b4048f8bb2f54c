// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Data cache of a scalar unit: GM words it loads and stores stay there, coherent with nobody, until dcci.
#include "models/engine/payload.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace podsim {

class DataCache {
public:
    struct Entry {
        std::vector<std::byte> bytes;
        bool dirty = false;
    };

    /// nullptr on a miss.
    Entry* find(std::uint64_t line) {
        const auto it = lines_.find(line);
        return it == lines_.end() ? nullptr : &it->second;
    }
    /// Puts a line in; the oldest leaves when `capacity` is exceeded and is returned if dirty.
    std::optional<std::pair<std::uint64_t, Entry>> fill(std::uint64_t line, std::vector<std::byte> bytes,
                                                        std::size_t capacity) {
        lines_[line] = {std::move(bytes), false};
        order_.push_back(line);
        if (lines_.size() <= capacity) {
            return std::nullopt;
        }
        return drop(order_.front());
    }
    /// Takes a line out; returns it if it was dirty.
    std::optional<std::pair<std::uint64_t, Entry>> drop(std::uint64_t line) {
        const auto it = lines_.find(line);
        if (it == lines_.end()) {
            return std::nullopt;
        }
        std::pair<std::uint64_t, Entry> out{line, std::move(it->second)};
        lines_.erase(it);
        order_.erase(std::find(order_.begin(), order_.end(), line));
        return out.second.dirty ? std::optional(std::move(out)) : std::nullopt;
    }

private:
    std::map<std::uint64_t, Entry> lines_;
    std::vector<std::uint64_t> order_;
};

}  // namespace podsim
