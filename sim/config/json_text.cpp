// SPDX-License-Identifier: Apache-2.0
#include "sim/config/json_text.hpp"

#include "models/engine/error.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace podsim {

namespace {

using nlohmann::json;

/// Largest magnitude below which every integer is a double.
constexpr double kExactInteger = 9007199254740992.0;

/// Where the parser is, shared by all copies of one CountingIterator.
struct Cursor {
    std::string_view text;
    std::size_t at = 0;
};

/// Input iterator that leaves its position in a Cursor: the SAX interface tells no position for keys.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(Cursor* cursor, std::size_t at) : cursor_(cursor), at_(at) {}
    reference operator*() const { return cursor_->text[at_]; }
    CountingIterator& operator++() {
        cursor_->at = ++at_;
        return *this;
    }
    CountingIterator operator++(int) {
        CountingIterator old = *this;
        ++*this;
        return old;
    }
    friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

private:
    Cursor* cursor_;
    std::size_t at_;
};

std::string place(const std::string& name, std::string_view text, std::size_t at) {
    const std::string_view before = text.substr(0, std::min(at, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t start = before.rfind('\n') + 1;  // npos + 1 == 0: the first line
    return fmt::format("{}:{}:{}", name, line, before.size() - start + 1);
}

std::string printable(std::string_view text, std::size_t most) {
    std::string out;
    for (const char c : text.substr(0, most)) {
        const auto byte = static_cast<unsigned char>(c);
        out += (byte < 0x20 || byte == 0x7f) ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
    }
    return text.size() > most ? out + "…" : out;
}

class Builder final : public nlohmann::json_sax<json> {
public:
    Builder(std::string name, const Cursor& cursor) : name_(std::move(name)), cursor_(cursor) {}

    json take() { return std::move(root_); }
    /// Set when a handler refused to go on.
    const ErrorDetail& problem() const { return problem_; }

    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(number_integer_t value) override { return put(value); }
    bool number_unsigned(number_unsigned_t value) override { return put(value); }
    bool number_float(number_float_t value, const string_t& /*spelling*/) override {
        if (std::abs(value) < kExactInteger && std::trunc(value) == value) {
            const auto whole = static_cast<std::int64_t>(value);
            return whole < 0 ? put(whole) : put(static_cast<std::uint64_t>(whole));
        }
        return put(value);
    }
    bool string(string_t& value) override { return put(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return false; }

    bool start_object(std::size_t /*elements*/) override { return open(json::object()); }
    bool key(string_t& value) override {
        if (open_.back()->contains(value)) {
            return refuse("every key once per object", fmt::format("a second \"{}\"", printable(value, 60)), "");
        }
        key_ = std::move(value);
        return true;
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t /*elements*/) override { return open(json::array()); }
    bool end_array() override { return close(); }

    bool parse_error(std::size_t position, const std::string& /*token*/,
                     const nlohmann::detail::exception& e) override {
        const std::size_t at = position == 0 ? 0 : position - 1;
        problem_.file = place(name_, cursor_.text, at);
        problem_.expected = "valid JSON";
        if (e.id == 406) {
            problem_.expected = "a number a double can hold";
        }
        problem_.found = offender(at);
        problem_.hint = likely_cause(problem_.found, at);
        return false;
    }

private:
    bool put(json value) {
        if (open_.empty()) {
            root_ = std::move(value);
            last_ = &root_;
        } else if (open_.back()->is_array()) {
            open_.back()->push_back(std::move(value));
            last_ = &open_.back()->back();
        } else {
            last_ = &(*open_.back())[key_];
            *last_ = std::move(value);
        }
        return true;
    }
    bool open(json container) {
        if (open_.size() == kMaxJsonDepth) {
            return refuse(fmt::format("at most {} levels of nesting", kMaxJsonDepth), "more", "");
        }
        put(std::move(container));
        open_.push_back(last_);
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }
    bool refuse(std::string expected, std::string found, std::string hint) {
        problem_ = {place(name_, cursor_.text, cursor_.at == 0 ? 0 : cursor_.at - 1), "", std::move(expected),
                    std::move(found), std::move(hint)};
        return false;
    }
    /// The word the parser stopped at.
    std::string offender(std::size_t at) const {
        const std::string_view text = cursor_.text;
        if (at >= text.size()) {
            return "the end of the text";
        }
        const auto in_word = [](char c) {
            return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '+' ||
                   c == '-' || c == '.';
        };
        if (text[at] == '\n' || text[at] == '\r') {
            return "the end of the line";
        }
        std::size_t from = at;
        std::size_t to = at + 1;
        if (in_word(text[at])) {
            while (from > 0 && in_word(text[from - 1])) {
                --from;
            }
            while (to < text.size() && in_word(text[to])) {
                ++to;
            }
        } else if (static_cast<unsigned char>(text[at]) >= 0x80) {
            return fmt::format("the byte 0x{:02x}", static_cast<unsigned char>(text[at]));
        }
        return fmt::format("`{}`", printable(text.substr(from, to - from), 40));
    }
    std::string likely_cause(const std::string& word, std::size_t at) const {
        if (at >= cursor_.text.size()) {
            return "is the file cut off?";
        }
        const char c = cursor_.text[at];
        if (word.find("NaN") != std::string::npos || word.find("nan") != std::string::npos ||
            word.find("Inf") != std::string::npos || word.find("inf") != std::string::npos) {
            return "NaN and Infinity are not JSON numbers";
        }
        if (c == '/' || c == '#') {
            return "JSON has no comments";
        }
        if (c == '\'') {
            return "JSON strings take double quotes";
        }
        if (c == '}' || c == ']') {
            return "a trailing comma?";
        }
        if (static_cast<unsigned char>(c) >= 0x80) {
            return "the text must be UTF-8";
        }
        return "";
    }

    std::string name_;
    const Cursor& cursor_;
    json root_;
    std::vector<json*> open_;  // json owns children by pointer, except array elements: only the last one grows
    json* last_ = nullptr;
    std::string key_;
    ErrorDetail problem_;
};

}  // namespace

std::string read_text_file(const std::filesystem::path& path) {
    std::error_code error;
    const std::string absolute = std::filesystem::absolute(path, error).lexically_normal().string();
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) {
        throw IoError(fmt::format("{}: no such file (looked for {})", path.string(), absolute));
    }
    if (std::filesystem::is_directory(status)) {
        throw IoError(fmt::format("{}: expected a file, found a directory", path.string()));
    }
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw IoError(fmt::format("{}: cannot be opened for reading ({})", path.string(), absolute));
    }
    std::string text;
    std::vector<char> chunk(std::size_t{1} << 16);
    while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), in.gcount() > 0) {
        text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
        if (text.size() > kMaxJsonBytes) {
            throw UserError(
                {path.string(), "", fmt::format("a file of at most {} MiB", kMaxJsonBytes >> 20), "a larger one", ""});
        }
    }
    if (in.bad()) {
        throw IoError(fmt::format("{}: reading failed ({})", path.string(), absolute));
    }
    if (text.starts_with("\xEF\xBB\xBF")) {
        text.erase(0, 3);
    }
    return text;
}

json parse_json(std::string_view text, const std::string& name) {
    if (text.starts_with("\xEF\xBB\xBF")) {
        text.remove_prefix(3);
    }
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        throw UserError({name, "", "JSON", "an empty file", ""});
    }
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
        throw UserError({name, "", "UTF-8 text", "UTF-16 text", "save the file as UTF-8"});
    }
    if (text.starts_with("version https://git-lfs")) {
        throw UserError({name, "", "JSON", "a Git-LFS pointer", "fetch the file itself with `git lfs pull`"});
    }
    if (text.find('\0') != std::string_view::npos) {
        throw UserError({name, "", "JSON", "binary data", ""});
    }
    Cursor cursor{text};
    Builder builder(name, cursor);
    if (!json::sax_parse(CountingIterator(&cursor, 0), CountingIterator(&cursor, text.size()), &builder)) {
        throw UserError(builder.problem());
    }
    return builder.take();
}

json read_json_file(const std::filesystem::path& path) { return parse_json(read_text_file(path), path.string()); }

bool has_schema(const json& document, std::string_view schema) {
    return document.is_object() && document.value("schema", json()) == schema;
}

bool file_has_schema(const std::filesystem::path& path, std::string_view schema) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error))) {
        return false;
    }
    try {
        return has_schema(read_json_file(path), schema);
    } catch (const PodsimError&) {
        return false;
    }
}

std::string in_words(const json& value) {
    switch (value.type()) {
        case json::value_t::object:
            return value.empty() ? "an empty object"
                                 : fmt::format("an object with {} key{}", value.size(), value.size() == 1 ? "" : "s");
        case json::value_t::array:
            return value.empty() ? "an empty array" : fmt::format("an array of {}", value.size());
        case json::value_t::string:
            return fmt::format("\"{}\"", printable(value.get_ref<const std::string&>(), 80));
        default:
            return value.dump();
    }
}

std::string join_pointer(std::string_view parent, std::string_view key) {
    std::string out(parent);
    out += '/';
    for (const char c : key) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out += c;
        }
    }
    return out;
}

}  // namespace podsim
