// SPDX-License-Identifier: Apache-2.0
#include "sim/report/core_loads.hpp"

#include "models/engine/error.hpp"
#include "sim/config/json_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <csv.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace podsim {

namespace {

constexpr std::array<const char*, 6> kFixed{"call", "card", "core", "role", "start_us", "end_us"};
constexpr double kMostUs = 1e15;

/// One line into its fields.
class LineParser {
public:
    LineParser() {
        if (csv_init(&parser_, CSV_STRICT | CSV_APPEND_NULL) != 0) {
            throw InternalError("libcsv cannot be set up");
        }
    }
    ~LineParser() { csv_free(&parser_); }
    LineParser(const LineParser&) = delete;
    LineParser& operator=(const LineParser&) = delete;

    /// Nothing where quotes are not in pairs.
    std::optional<std::vector<std::string>> fields(std::string_view line) {
        Heard heard;
        const auto field = [](void* data, std::size_t size, void* to) {
            static_cast<Heard*>(to)->fields.emplace_back(static_cast<const char*>(data), size);
        };
        const auto end = [](int, void* to) { static_cast<Heard*>(to)->ended = true; };
        const bool parsed = csv_parse(&parser_, line.data(), line.size(), field, end, &heard) == line.size() &&
                            csv_parse(&parser_, "\n", 1, field, end, &heard) == 1;
        return parsed && (heard.ended || line.empty()) ? std::optional(std::move(heard.fields)) : std::nullopt;
    }

private:
    struct Heard {
        std::vector<std::string> fields;
        bool ended = false;
    };
    csv_parser parser_;
};

/// Takes the lines one by one; the first that is not as `podsim run` writes it is refused.
class Table {
public:
    Table(std::string file, const CoreRows& rows)
        : file_(std::move(file)), size_(rows), seen_(std::size_t{rows.calls} * rows.cards * rows.cores, false) {}

    void line(std::string_view text) {
        ++number_;
        if (text.ends_with('\r')) {
            text.remove_suffix(1);
        }
        const auto fields = parser_.fields(text);
        if (!fields) {
            refuse("comma-separated values", in_words(std::string(text)));
        }
        if (number_ == 1) {
            header(*fields);
        } else {
            row(*fields);
        }
    }
    CoreLoads take() {
        const std::size_t rows = number_ > 0 ? number_ - 1 : 0;
        if (rows != seen_.size()) {
            ++number_;
            refuse(fmt::format("{} rows: {} calls x {} cards x {} cores", seen_.size(), size_.calls, size_.cards,
                               size_.cores),
                   number_ == 1 ? "an empty file" : fmt::format("the end of the file after {}", rows));
        }
        double sum = 0;
        for (const auto& [who, work] : loads_.work_us) {
            sum += work;
        }
        const double mean = sum / static_cast<double>(loads_.work_us.size());
        // The table is exact; result.json rounds the mean of each of some dozens of sub-phases to the picosecond.
        if (constexpr double kRounding = 1e-4; std::abs(mean - size_.mean_work_us) > kRounding) {
            throw UserError({file_, "",
                             fmt::format("{:.6f} us of work a core, as result.json has it", size_.mean_work_us),
                             fmt::format("{:.6f} us", mean), "the two are not of one run"});
        }
        return std::move(loads_);
    }
    [[noreturn]] void refuse(std::string expected, std::string found) const {
        throw UserError({fmt::format("{}:{}", file_, number_), "", std::move(expected), std::move(found), ""});
    }

private:
    static std::string in_words(const std::string& text) {
        constexpr std::size_t kMost = 60;
        return "\"" + (text.size() > kMost ? text.substr(0, kMost) + "…" : text) + "\"";
    }

    void header(const std::vector<std::string>& fields) {
        for (std::size_t i = 0; i < kFixed.size(); ++i) {
            if (i >= fields.size() || fields[i] != kFixed[i]) {
                refuse(fmt::format("the columns {}, …", fmt::join(kFixed, ", ")),
                       i < fields.size() ? in_words(fields[i]) + " in place of " + kFixed[i] : "fewer columns");
            }
        }
        for (std::size_t i = kFixed.size(); i < fields.size(); ++i) {
            const std::string& name = fields[i];
            if (!name.ends_with("_us")) {
                refuse("a column <group>.<part>_us", in_words(name));
            }
            if (std::count(fields.begin(), fields.end(), name) > 1) {
                refuse("columns with different names", in_words(name) + " twice");
            }
            is_work_.push_back(!name.starts_with("flags."));
        }
        if (is_work_.empty()) {
            refuse("a column for each sub-phase", "none");
        }
    }
    void row(const std::vector<std::string>& fields) {
        if (fields.size() != kFixed.size() + is_work_.size()) {
            refuse(fmt::format("{} fields, as many as the header has", kFixed.size() + is_work_.size()),
                   std::to_string(fields.size()));
        }
        const std::uint32_t call = below(fields[0], kFixed[0], size_.calls);
        const std::uint32_t card = below(fields[1], kFixed[1], size_.cards);
        const std::uint32_t core = below(fields[2], kFixed[2], size_.cores);
        const std::size_t place = (std::size_t{call} * size_.cards + card) * size_.cores + core;
        if (seen_[place]) {
            refuse("one row for each call, card and core",
                   fmt::format("call {} card {} core {} again", call, card, core));
        }
        seen_[place] = true;
        const double start = time(fields[4]);
        if (const double end = time(fields[5]); end < start) {
            refuse("an end_us at or after start_us", fmt::format("{} after {}", fields[5], fields[4]));
        }
        double& work = loads_.work_us[{card, core}];
        for (std::size_t i = 0; i < is_work_.size(); ++i) {
            const double us = time(fields[kFixed.size() + i]);
            work += is_work_[i] ? us : 0;
        }
    }
    std::uint32_t below(const std::string& text, const char* name, std::uint32_t end) const {
        std::uint32_t value = 0;
        const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || stop != text.data() + text.size() || value >= end) {
            refuse(fmt::format("a {} from 0 to {}", name, end - 1), in_words(text));
        }
        return value;
    }
    double time(const std::string& text) const {
        double value = 0;
        const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || stop != text.data() + text.size() || !(value >= 0) || value > kMostUs) {
            refuse("a time in us, 0 or more", in_words(text));
        }
        return value;
    }

    std::string file_;
    CoreRows size_;
    LineParser parser_;
    std::size_t number_ = 0;     ///< of the line
    std::vector<bool> is_work_;  ///< by column behind the fixed ones
    std::vector<bool> seen_;     ///< by call, card, core
    CoreLoads loads_;
};

}  // namespace

std::map<std::uint32_t, double> CoreLoads::by_core() const {
    std::map<std::uint32_t, std::pair<double, double>> sums;
    for (const auto& [who, work] : work_us) {
        sums[who.second].first += work;
        sums[who.second].second += 1;
    }
    std::map<std::uint32_t, double> out;
    for (const auto& [core, sum] : sums) {
        out[core] = sum.first / sum.second;
    }
    return out;
}

std::optional<CoreLoads> read_core_loads(const std::filesystem::path& path, const CoreRows& rows) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) {
        return std::nullopt;
    }
    if (!std::filesystem::is_regular_file(status)) {
        throw IoError(fmt::format("{}: not a regular file", path.string()));
    }
    const std::string text = read_text_file(path);
    Table table(path.string(), rows);
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        table.line(rest.substr(0, end));
        if (end == std::string_view::npos) {
            table.refuse("a line break at the end of the last line", "the end of the file: it may be cut off");
        }
        rest.remove_prefix(end + 1);
    }
    return table.take();
}

}  // namespace podsim
