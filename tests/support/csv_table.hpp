// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A CSV file with a header, read by RFC 4180's rules.
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace podsim::test {

struct CsvTable {
    std::vector<std::string> columns;
    std::vector<std::map<std::string, std::string>> rows;

    double sum(const std::string& column) const {
        double total = 0;
        for (const auto& row : rows) {
            total += std::stod(row.at(column));
        }
        return total;
    }
};

/// Throws std::runtime_error for a row that has not as many fields as the header.
inline CsvTable csv_table(const std::string& text) {
    std::vector<std::vector<std::string>> lines(1);
    std::string field;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') {
            if (quoted && i + 1 < text.size() && text[i + 1] == '"') {
                field += text[++i];
            } else {
                quoted = !quoted;
            }
        } else if (!quoted && (c == ',' || c == '\n')) {
            lines.back().push_back(std::move(field));
            field.clear();
            if (c == '\n') {
                lines.emplace_back();
            }
        } else {
            field += c;
        }
    }
    lines.pop_back();
    CsvTable out;
    for (const auto& line : lines) {
        if (out.columns.empty()) {
            out.columns = line;
            continue;
        }
        if (line.size() != out.columns.size()) {
            throw std::runtime_error("a row of the table has another width than its header");
        }
        auto& row = out.rows.emplace_back();
        for (std::size_t i = 0; i < line.size(); ++i) {
            row[out.columns[i]] = line[i];
        }
    }
    return out;
}

}  // namespace podsim::test
