// SPDX-License-Identifier: Apache-2.0
#include "sim/report/core_loads.hpp"

#include "models/engine/error.hpp"
#include "sim/config/json_text.hpp"

#include <fmt/format.h>

#include <csv.h>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

namespace podsim {

namespace {

/// Hears the fields of the file one by one.
class Table {
public:
    explicit Table(std::string file) : file_(std::move(file)) {}

    void field(std::string_view text) {
        if (!has_header_) {
            header_.emplace_back(text);
            return;
        }
        const std::string name = column_ < header_.size() ? header_[column_] : "";
        ++column_;
        if (name == "card") {
            card_ = static_cast<std::uint32_t>(number(text));
        } else if (name == "core") {
            core_ = static_cast<std::uint32_t>(number(text));
        } else if (name.ends_with("_us") && name != "start_us" && name != "end_us" && !name.starts_with("flags.")) {
            work_ += number(text);
        }
    }
    void line_end() {
        if (!has_header_) {
            has_header_ = true;
            if (header_.size() < 6 || header_[1] != "card" || header_[2] != "core") {
                refuse("the columns of cores.csv", header_.empty() ? "nothing" : "\"" + header_[0] + "\" …");
            }
            return;
        }
        if (column_ != header_.size()) {
            refuse(fmt::format("{} fields in every row", header_.size()), std::to_string(column_));
        }
        loads_.work_us[{card_, core_}] += work_;
        column_ = 0;
        work_ = 0;
    }
    CoreLoads take() { return std::move(loads_); }

private:
    [[noreturn]] void refuse(std::string expected, std::string found) const {
        throw UserError({file_, "", std::move(expected), std::move(found), ""});
    }
    double number(std::string_view text) const {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size()) {
            refuse("a number", "\"" + std::string(text) + "\"");
        }
        return value;
    }

    std::string file_;
    std::vector<std::string> header_;
    bool has_header_ = false;
    std::size_t column_ = 0;
    std::uint32_t card_ = 0, core_ = 0;
    double work_ = 0;
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

std::optional<CoreLoads> read_core_loads(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
        return std::nullopt;
    }
    const std::string text = read_text_file(path);
    Table table(path.string());
    csv_parser parser;
    if (csv_init(&parser, CSV_STRICT | CSV_APPEND_NULL) != 0) {
        throw InternalError("libcsv cannot be set up");
    }
    const std::unique_ptr<csv_parser, void (*)(csv_parser*)> owner(&parser, csv_free);
    const auto field = [](void* data, std::size_t size, void* to) {
        static_cast<Table*>(to)->field({static_cast<const char*>(data), size});
    };
    const auto line = [](int, void* to) { static_cast<Table*>(to)->line_end(); };
    if (csv_parse(&parser, text.data(), text.size(), field, line, &table) != text.size()) {
        throw UserError({path.string(), "", "comma-separated values", "something else", ""});
    }
    csv_fini(&parser, field, line, &table);
    return table.take();
}

}  // namespace podsim
