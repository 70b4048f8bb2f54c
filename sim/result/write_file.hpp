// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Whole files, or an error that names them.
#include <filesystem>
#include <functional>
#include <ostream>
#include <string_view>

namespace podsim {

/// Names of a folder of results that begin so are podsim's own: it makes and removes such files as it likes.
inline constexpr std::string_view kReserved = ".podsim-";

/// Puts what `fill` writes in the place of `path` once all of it is there: what was there is whole until then, and is
/// neither written through (a link) nor waited for (a FIFO). Throws IoError.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& fill);

/// The same with a text.
void write_text(const std::filesystem::path& path, std::string_view text);

/// Whether files can be written in `dir`; leaves none.
bool can_write_in(const std::filesystem::path& dir);

}  // namespace podsim
