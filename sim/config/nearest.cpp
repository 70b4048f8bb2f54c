// SPDX-License-Identifier: Apache-2.0
#include "sim/config/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cctype>

namespace podsim {

namespace {

/// Longer names are cut: hints need no more, and a megabyte of key must not cost a megabyte squared.
constexpr std::size_t kMostCompared = 128;

std::string folded(std::string_view text) {
    std::string out(text.substr(0, kMostCompared));
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(c)); });
    return out;
}

/// Optimal string alignment distance.
std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        d[i][0] = i;
    }
    for (std::size_t j = 0; j <= b.size(); ++j) {
        d[0][j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + other});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[a.size()][b.size()];
}

}  // namespace

std::string nearest_name(std::string_view written, const std::vector<std::string>& valid) {
    const std::string target = folded(written);
    std::string best;
    std::size_t least = std::max<std::size_t>(2, target.size() / 2) + 1;
    for (const std::string& candidate : valid) {
        const std::size_t away = distance(target, folded(candidate));
        if (away < least) {
            least = away;
            best = candidate;
        }
    }
    return best;
}

std::string name_hint(std::string_view written, const std::vector<std::string>& valid) {
    if (valid.empty()) {
        return "";
    }
    const std::string near = nearest_name(written, valid);
    if (!near.empty()) {
        return fmt::format("nearest valid name: {}", near);
    }
    constexpr std::size_t kMostListed = 24;
    std::vector<std::string> listed(valid.begin(),
                                    valid.begin() + static_cast<std::ptrdiff_t>(std::min(kMostListed, valid.size())));
    return fmt::format("valid: {}{}", fmt::join(listed, ", "), valid.size() > kMostListed ? ", …" : "");
}

}  // namespace podsim
