// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Typed options of a kernel: declared beside the kernel, validated by sim/config, printed by `podsim check`.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace podsim {

using OptionValue = std::variant<bool, std::int64_t, std::string>;

struct OptionSpec {
    std::string key;                   ///< name under /algorithm/options
    OptionValue standard;              ///< value of the kernel's plain preset; fixes the type
    std::vector<std::string> choices;  ///< for strings: all legal values
    std::int64_t least = 0, most = 0;  ///< for integers: inclusive range
    std::string doc;                   ///< one sentence
};

/// Effective options of one run: every declared key has a value of the declared type.
class Options {
public:
    void set(std::string key, OptionValue value) { values_[std::move(key)] = std::move(value); }
    bool flag(std::string_view key) const { return std::get<bool>(at(key)); }
    std::int64_t number(std::string_view key) const { return std::get<std::int64_t>(at(key)); }
    const std::string& choice(std::string_view key) const { return std::get<std::string>(at(key)); }
    const std::map<std::string, OptionValue, std::less<>>& all() const { return values_; }

private:
    const OptionValue& at(std::string_view key) const;
    std::map<std::string, OptionValue, std::less<>> values_;
};

}  // namespace podsim
