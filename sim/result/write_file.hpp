// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Whole files, or an error that names them.
#include <filesystem>
#include <functional>
#include <ostream>
#include <string_view>

namespace podsim {

/// Opens `path` anew, lets `fill` write, and makes sure that all of it is there. Throws IoError.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& fill);

/// The same with a text.
void write_text(const std::filesystem::path& path, std::string_view text);

/// The same with the file that is there kept until the new one is whole, under a name beside it that nothing else has:
/// nothing is written through a link or waited for. Throws IoError.
void replace_text(const std::filesystem::path& path, std::string_view text);

}  // namespace podsim
