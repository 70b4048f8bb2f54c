// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Options of the Dispatch kernel as sets, chosen and at random.
#include "algorithms/dispatch/dispatch_options.hpp"
#include "tests/kernel/kernel_support.hpp"

#include <random>
#include <string>
#include <variant>
#include <vector>

namespace podsim {

inline const std::string kOption = "/algorithm/options/";

inline std::string text_of(const OptionValue& value) {
    if (const auto* flag = std::get_if<bool>(&value)) {
        return *flag ? "true" : "false";
    }
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        return std::to_string(*number);
    }
    return std::get<std::string>(value);
}

inline std::vector<OptionValue> values_of(const OptionSpec& spec) {
    if (std::holds_alternative<bool>(spec.standard)) {
        // Without these two a kernel is wrong on purpose: they have tests of their own.
        if (spec.key == "token_barrier" || spec.key == "rows_barrier") {
            return {true};
        }
        return {false, true};
    }
    if (!spec.choices.empty()) {
        return {spec.choices.begin(), spec.choices.end()};
    }
    if (spec.key == "status_stride_bytes") {
        return {std::int64_t{32}, std::int64_t{512}};
    }
    return {spec.least, std::int64_t{3}, spec.most};
}

/// A combination drawn at random, legal or not.
inline Options drawn(std::mt19937& random) {
    Options options;
    for (const OptionSpec& spec : dispatch_option_specs()) {
        const auto values = values_of(spec);
        options.set(spec.key, values[random() % values.size()]);
    }
    return options;
}

inline Sets sets_of(const Options& options) {
    Sets sets;
    for (const auto& [key, value] : options.all()) {
        sets.push_back(kOption + key + "=" + text_of(value));
    }
    return sets;
}

}  // namespace podsim
