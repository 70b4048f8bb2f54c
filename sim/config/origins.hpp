// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Who wrote which part of a merged configuration: the config file, the machine file, or a --set.
#include "models/engine/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace podsim {

class Origins {
public:
    /// Everything below `pointer` came from `file`, where it stands below `inner`. Replaces what was known there.
    void record(std::string pointer, std::string file, std::string inner);

    /// An error at `pointer` of the merged document, told in terms of the file that wrote it.
    ErrorDetail at(std::string_view pointer, std::string expected, std::string found, std::string hint = "") const;

private:
    struct Entry {
        std::string pointer, file, inner;
    };
    std::vector<Entry> entries_;
};

/// Whether `pointer` is `prefix` or lies below it.
bool is_below(std::string_view pointer, std::string_view prefix);

}  // namespace podsim
