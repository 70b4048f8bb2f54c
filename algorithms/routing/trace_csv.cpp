// SPDX-License-Identifier: Apache-2.0
#include "algorithms/routing/trace.hpp"
#include "algorithms/routing/trace_file.hpp"

#include <csv.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <stdexcept>

namespace podsim {

namespace {

using Fields = std::vector<std::string>;

/// Splits one line with libcsv: quoting and blanks around fields are its business.
class LineSplitter {
public:
    LineSplitter() {
        if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0) {
            throw std::bad_alloc();
        }
    }
    LineSplitter(const LineSplitter&) = delete;
    LineSplitter& operator=(const LineSplitter&) = delete;
    ~LineSplitter() { csv_free(&parser_); }

    /// False when quotes are wrong.
    bool split(const std::string& line, Fields& fields) {
        fields.clear();
        const auto on_field = [](void* text, std::size_t length, void* out) {
            static_cast<Fields*>(out)->emplace_back(static_cast<const char*>(text), length);
        };
        const bool parsed = csv_parse(&parser_, line.data(), line.size(), on_field, nullptr, &fields) == line.size();
        return csv_fini(&parser_, on_field, nullptr, &fields) == 0 && parsed;
    }

private:
    csv_parser parser_{};
};

/// What a column of the file is.
enum class Column { expert, card, layer, ignored };

std::optional<std::int64_t> parse_integer(const std::string& field) {
    std::int64_t value = 0;
    const char* end = field.data() + field.size();
    const auto [stop, error] = std::from_chars(field.data(), end, value);
    if (stop != end || error == std::errc::invalid_argument) {
        return std::nullopt;
    }
    if (error == std::errc::result_out_of_range) {
        return field.front() == '-' ? std::numeric_limits<std::int64_t>::min()
                                    : std::numeric_limits<std::int64_t>::max();
    }
    return value;
}

/// The number of k0, expert_3, id7, topk2, topk_ids_0 …: a known stem and a number. Nothing for another name.
std::optional<std::int64_t> expert_number(const std::string& name) {
    const std::size_t stem_end = name.find_last_not_of("0123456789") + 1;
    std::string stem = name.substr(0, stem_end);
    if (stem.ends_with('_')) {
        stem.pop_back();
    }
    const bool known = stem == "k" || stem == "expert" || stem == "id" || stem == "topk" || stem == "topk_ids";
    return known ? parse_integer(name.substr(stem_end)) : std::nullopt;
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

class CsvReader {
public:
    CsvReader(const std::string& path, std::optional<std::int64_t> layer, const Workload& workload)
        : lines_(path), layers_(path, layer), workload_(workload) {}

    Trace read() {
        std::string line;
        Fields fields;
        while (lines_.next(line)) {
            const std::size_t begin = line.find_first_not_of(" \t");
            if (begin == std::string::npos || line[begin] == '#') {
                continue;
            }
            if (!splitter_.split(line, fields)) {
                fail("comma-separated integers", "unbalanced quotes");
            }
            if (columns_.empty()) {
                const bool header = std::any_of(fields.begin(), fields.end(),
                                                [](const std::string& f) { return !f.empty() && !parse_integer(f); });
                header ? read_header(fields) : assume_columns(fields);
                if (header) {
                    continue;
                }
            }
            read_row(fields);
        }
        layers_.finish();
        return std::move(trace_);
    }

private:
    [[noreturn]] void fail(const std::string& expected, const std::string& found, const std::string& hint = "") const {
        bad_trace(lines_.path(), lines_.number(), "", expected, found, hint);
    }

    std::string expected_columns() const {
        return fmt::format(
            "columns card, layer, token (each optional) and k0 … k{1} or k1 … k{0} (/workload/top_k is {0})",
            workload_.top_k, workload_.top_k - 1);
    }

    void assume_columns(const Fields& fields) {
        if (fields.size() != workload_.top_k) {
            fail(fmt::format("{} expert ids (/workload/top_k)", workload_.top_k), fmt::format("{}", fields.size()),
                 "a file with more columns names them in a header line");
        }
        columns_.assign(fields.size(), Column::expert);
        names_.clear();
    }

    void read_header(const Fields& fields) {
        std::set<std::int64_t> experts;
        for (const std::string& field : fields) {
            const std::string name = lower(field);
            const bool repeated = std::find(names_.begin(), names_.end(), name) != names_.end();
            names_.push_back(name);
            if (repeated) {
                fail(expected_columns(), "column " + excerpt(field) + " twice");
            }
            if (const auto number = expert_number(name)) {
                columns_.push_back(Column::expert);
                if (!experts.insert(*number).second) {
                    fail(expected_columns(), "two expert columns numbered " + std::to_string(*number));
                }
            } else if (name == "card") {
                columns_.push_back(Column::card);
                trace_.card_of_token.emplace();
            } else if (name == "layer") {
                columns_.push_back(Column::layer);
            } else if (name == "token" || name == "token_idx") {
                columns_.push_back(Column::ignored);
            } else {
                fail(expected_columns(), "a field " + excerpt(field),
                     fields.size() == 1 && workload_.top_k > 1 ? "fields are separated by commas" : "");
            }
        }
        if (experts.size() != workload_.top_k) {
            fail(expected_columns(), fmt::format("{} expert columns", experts.size()));
        }
        const std::int64_t first = *experts.begin();
        if (first > 1 || *experts.rbegin() - first != workload_.top_k - 1) {
            fail(expected_columns(), fmt::format("expert columns numbered {}", fmt::join(experts, ", ")),
                 "numbers from 0 or from 1 without a gap; is a column missing?");
        }
    }

    std::string place(std::size_t column) const {
        return names_.empty() ? fmt::format("column {}", column + 1) : "column " + names_[column];
    }

    void read_row(const Fields& fields) {
        if (fields.size() != columns_.size()) {
            fail(fmt::format("{} fields as in the lines before", columns_.size()), fmt::format("{}", fields.size()),
                 lines_.cut_off() ? "the file may be cut off" : "");
        }
        std::optional<std::int64_t> layer;
        std::int64_t card = 0;
        token_.clear();
        place_of_k_.clear();
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (columns_[i] == Column::ignored) {
                continue;
            }
            const auto value = parse_integer(fields[i]);
            if (!value) {
                fail("an integer in " + place(i), excerpt(fields[i]));
            }
            if (columns_[i] == Column::layer) {
                layer = value;
                if (*layer < 0) {
                    fail("a layer from 0 in " + place(i), std::to_string(*layer));
                }
            } else if (columns_[i] == Column::card) {
                card = *value;
                if (card < 0 || card > std::numeric_limits<std::int32_t>::max()) {
                    fail("a card index from 0 in " + place(i), std::to_string(card));
                }
            } else {
                token_.push_back(*value);
                place_of_k_.push_back(i);
            }
        }
        if (!layers_.accept(layer)) {
            return;
        }
        if (const auto problem = find_token_problem(token_, workload_.experts)) {
            fail(problem->expected + " in " + place(place_of_k_[problem->k]), problem->found);
        }
        for (const std::int64_t id : token_) {
            trace_.ids.push_back(static_cast<std::int32_t>(id));
        }
        if (trace_.card_of_token) {
            trace_.card_of_token->push_back(static_cast<std::uint32_t>(card));
        }
    }

    TextLines lines_;
    LayerFilter layers_;
    LineSplitter splitter_;
    const Workload& workload_;
    Trace trace_;
    std::vector<Column> columns_;
    Fields names_;
    std::vector<std::int64_t> token_;
    std::vector<std::size_t> place_of_k_;
};

}  // namespace

Trace read_csv_trace(const std::string& path, std::optional<std::int64_t> layer, const Workload& workload) {
    return CsvReader(path, layer, workload).read();
}

}  // namespace podsim
