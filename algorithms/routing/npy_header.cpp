// SPDX-License-Identifier: Apache-2.0
#include "algorithms/routing/npy_header.hpp"

#include <array>
#include <charconv>

namespace podsim {

namespace {

/// A cursor over the literal; every `take` skips blanks and says whether it succeeded.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) {}

    bool take(char c) {
        skip_blanks();
        if (text_.empty() || text_.front() != c) {
            return false;
        }
        text_.remove_prefix(1);
        return true;
    }

    bool take_word(std::string_view word) {
        skip_blanks();
        if (!text_.starts_with(word)) {
            return false;
        }
        text_.remove_prefix(word.size());
        return true;
    }

    bool take_string(std::string& value) {
        skip_blanks();
        if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) {
            return false;
        }
        const std::size_t end = text_.find(text_.front(), 1);
        if (end == std::string_view::npos) {
            return false;
        }
        value = text_.substr(1, end - 1);
        text_.remove_prefix(end + 1);
        return true;
    }

    bool take_number(std::uint64_t& value) {
        skip_blanks();
        const auto [stop, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
        if (error != std::errc()) {
            return false;
        }
        text_.remove_prefix(static_cast<std::size_t>(stop - text_.data()));
        take('L');  // Python 2
        return true;
    }

    /// A structured type, [('a', '<i4'), …]: only its end matters.
    bool skip_list() {
        if (!take('[')) {
            return false;
        }
        std::size_t depth = 1;
        while (depth > 0 && !text_.empty()) {
            depth += text_.front() == '[' ? 1 : 0;
            depth -= text_.front() == ']' ? 1 : 0;
            text_.remove_prefix(1);
        }
        return depth == 0;
    }

    bool at_end() {
        skip_blanks();
        return text_.empty();
    }

private:
    void skip_blanks() {
        while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) {
            text_.remove_prefix(1);
        }
    }

    std::string_view text_;
};

bool take_shape(Scanner& scanner, std::vector<std::uint64_t>& shape) {
    if (!scanner.take('(')) {
        return false;
    }
    while (!scanner.take(')')) {
        std::uint64_t length = 0;
        if (!scanner.take_number(length)) {
            return false;
        }
        shape.push_back(length);
        if (!scanner.take(',')) {
            return scanner.take(')');
        }
    }
    return true;
}

bool take_value(Scanner& scanner, const std::string& key, NpyHeader& header) {
    if (key == "descr") {
        return scanner.take_string(header.type) || scanner.skip_list();
    }
    if (key == "fortran_order") {
        header.fortran_order = scanner.take_word("True");
        return header.fortran_order || scanner.take_word("False");
    }
    return key == "shape" && take_shape(scanner, header.shape);
}

}  // namespace

std::optional<NpyHeader> parse_npy_dictionary(std::string_view text) {
    Scanner scanner(text);
    NpyHeader header;
    std::size_t keys = 0;
    if (!scanner.take('{')) {
        return std::nullopt;
    }
    while (!scanner.take('}')) {
        std::string key;
        if (!scanner.take_string(key) || !scanner.take(':') || !take_value(scanner, key, header)) {
            return std::nullopt;
        }
        ++keys;
        if (!scanner.take(',')) {
            if (!scanner.take('}')) {
                return std::nullopt;
            }
            break;
        }
    }
    return keys == 3 && scanner.at_end() ? std::optional(header) : std::nullopt;
}

std::optional<NpyHeader> read_npy_header(std::istream& stream, std::string& problem) {
    constexpr std::string_view kMagic("\x93NUMPY", 6);
    constexpr std::size_t kLongestHeader = 1U << 20U;
    std::array<char, 8> start{};
    stream.read(start.data(), start.size());
    if (std::string_view(start.data(), kMagic.size()) != kMagic) {
        problem = "a file that does not begin as numpy's files do";
        return std::nullopt;
    }
    const auto version = static_cast<unsigned char>(start[6]);
    if (stream && (version < 1 || version > 3)) {
        problem = "format version " + std::to_string(version);
        return std::nullopt;
    }
    std::array<unsigned char, 4> bytes{};
    stream.read(reinterpret_cast<char*>(bytes.data()), version == 1 ? 2 : 4);
    const std::size_t length = bytes[0] | static_cast<std::size_t>(bytes[1]) << 8U |
                               static_cast<std::size_t>(bytes[2]) << 16U | static_cast<std::size_t>(bytes[3]) << 24U;
    if (length > kLongestHeader) {
        problem = "a header of " + std::to_string(length) + " bytes";
        return std::nullopt;
    }
    std::string text(length, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(length));
    if (!stream) {
        problem = "a file that ends within its header";
        return std::nullopt;
    }
    std::optional<NpyHeader> header = parse_npy_dictionary(text);
    if (!header) {
        problem = "a header that is not numpy's";
    }
    return header;
}

}  // namespace podsim
