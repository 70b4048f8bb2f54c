// SPDX-License-Identifier: Apache-2.0
#include "algorithms/routing/trace.hpp"

#include "algorithms/routing/trace_file.hpp"
#include "models/engine/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace podsim {

namespace {

std::string layer_name(const std::optional<std::int64_t>& layer) {
    return layer ? std::to_string(*layer) : std::string("none named");
}

}  // namespace

Trace read_trace(const std::string& path, std::optional<std::int64_t> layer, const Workload& workload) {
    constexpr const char* kPointer = "/workload/routing/path";
    constexpr const char* kExpected = "a .jsonl, .csv or .npy file";
    if (path.empty()) {
        throw UserError(ErrorDetail{"", kPointer, kExpected, "no path", "routing kind \"file\" reads one"});
    }
    if (path.find('\0') != std::string::npos) {
        throw UserError(ErrorDetail{"", kPointer, kExpected, "a path with a zero character", ""});
    }
    std::string extension = std::filesystem::path(path).extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (extension == ".jsonl" || extension == ".ndjson") {
        return read_jsonl_trace(path, layer, workload);
    }
    if (extension == ".csv") {
        return read_csv_trace(path, layer, workload);
    }
    if (extension == ".npy") {
        return read_npy_trace(path, layer, workload);
    }
    throw UserError(ErrorDetail{"", kPointer, kExpected, excerpt(path), ""});
}

std::optional<TokenProblem> find_token_problem(std::span<const std::int64_t> ids, std::uint32_t experts) {
    for (std::size_t k = 0; k < ids.size(); ++k) {
        if (ids[k] < kDroppedSelection || ids[k] >= static_cast<std::int64_t>(experts)) {
            return TokenProblem{k, fmt::format("an expert id from 0 to {}, or -1 for a dropped selection", experts - 1),
                                std::to_string(ids[k])};
        }
        const auto before = std::find(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(k), ids[k]);
        if (ids[k] != kDroppedSelection && before != ids.begin() + static_cast<std::ptrdiff_t>(k)) {
            return TokenProblem{k, "distinct experts in one token",
                                fmt::format("{} again, as in selection {}", ids[k], before - ids.begin())};
        }
    }
    return std::nullopt;
}

bool LayerFilter::accept(std::optional<std::int64_t> layer) {
    if (seen_.empty()) {
        first_ = layer;
    }
    seen_.insert(layer);
    return layer == (wanted_ ? wanted_ : first_);
}

void LayerFilter::finish() const {
    if (seen_.empty()) {
        bad_trace(path_, 0, "", "routing of at least one token", "none");
    }
    const bool fits = wanted_ ? seen_.contains(wanted_) : seen_.size() == 1;
    if (fits) {
        return;
    }
    constexpr std::size_t kMostListed = 100;
    std::string found;
    std::size_t listed = 0;
    for (const auto& layer : seen_) {
        if (listed == kMostListed) {
            found += ", …";
            break;
        }
        found += (listed++ == 0 ? "" : ", ") + layer_name(layer);
    }
    if (wanted_) {
        bad_trace(path_, 0, "", fmt::format("layer {} (/workload/routing/layer)", *wanted_), "layers: " + found);
    }
    bad_trace(path_, 0, "", "one layer, or /workload/routing/layer to choose one", "layers: " + found);
}

}  // namespace podsim
