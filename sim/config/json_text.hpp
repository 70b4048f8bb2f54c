// SPDX-License-Identifier: Apache-2.0
#pragma once
/// JSON in, without surprises: duplicate keys, deep nesting, binary data and numbers too large for a double are
/// errors with a place; nothing of the parser's own wording reaches the user.
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace podsim {

/// Deepest nesting of arrays and objects accepted.
inline constexpr std::size_t kMaxJsonDepth = 64;
/// Largest file accepted, bytes.
inline constexpr std::size_t kMaxJsonBytes = std::size_t{64} << 20;

/// Whole file as text, a UTF-8 byte order mark removed.
/// Throws IoError (missing, directory, unreadable) naming the absolute path; UserError when it is too large.
std::string read_text_file(const std::filesystem::path& path);

/// `name` is printed in errors as the file (`name:line:column`). Throws UserError.
/// Numbers without a fraction become integers whatever their spelling (8.0, 1e3).
nlohmann::json parse_json(std::string_view text, const std::string& name);

/// read_text_file and parse_json.
nlohmann::json read_json_file(const std::filesystem::path& path);

/// Whether the document names this schema as its own.
bool has_schema(const nlohmann::json& document, std::string_view schema);

/// The same of a regular file, no link. False as well for what cannot be read, or is no JSON.
bool file_has_schema(const std::filesystem::path& path, std::string_view schema);

/// A value as one short phrase for messages: `"abc"`, `3`, `an object with 2 keys`.
std::string in_words(const nlohmann::json& value);

/// `parent` + "/" + `key`, escaped as RFC 6901 wants it.
std::string join_pointer(std::string_view parent, std::string_view key);

}  // namespace podsim
