// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Routing read from a file, before it is dealt to cards; internal to algorithms/routing.
#include "algorithms/routing/routing_table.hpp"
#include "algorithms/routing/workload.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace podsim {

struct Trace {
    std::vector<std::int32_t> ids;  ///< tokens * top_k, checked against the workload
    /// Card of each token where the file says it; its tokens are then dealt to that card, in file order.
    std::optional<std::vector<std::uint32_t>> card_of_token;
    std::vector<std::string> notes;
};

/// Chooses the reader by the file's extension: .jsonl or .ndjson, .csv, .npy.
Trace read_trace(const std::string& path, std::optional<std::int64_t> layer, const Workload& workload);

Trace read_jsonl_trace(const std::string& path, std::optional<std::int64_t> layer, const Workload& workload);
Trace read_csv_trace(const std::string& path, std::optional<std::int64_t> layer, const Workload& workload);
Trace read_npy_trace(const std::string& path, std::optional<std::int64_t> layer, const Workload& workload);

/// What is wrong with the selections of one token, if anything.
struct TokenProblem {
    std::size_t k = 0;  ///< the offending selection
    std::string expected, found;
};
std::optional<TokenProblem> find_token_problem(std::span<const std::int64_t> ids, std::uint32_t experts);

/// Keeps the tokens of one layer of a file that may hold several. An empty layer is a token that names none.
class LayerFilter {
public:
    LayerFilter(std::string path, std::optional<std::int64_t> wanted) : path_(std::move(path)), wanted_(wanted) {}
    /// True when a token of this layer belongs to the result.
    bool accept(std::optional<std::int64_t> layer);
    /// After the last token: throws UserError when no layer, or more than one, fits.
    void finish() const;

private:
    std::string path_;
    std::optional<std::int64_t> wanted_;
    std::set<std::optional<std::int64_t>> seen_;
    std::optional<std::int64_t> first_;
};

}  // namespace podsim
