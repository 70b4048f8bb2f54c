// SPDX-License-Identifier: Apache-2.0
#pragma once
/// `--out DIR`, tried before a run that may take minutes.
#include <filesystem>

namespace podsim {

/// Makes the folder if need be and proves that files can be written there. Throws IoError.
void try_output_dir(const std::filesystem::path& dir);

}  // namespace podsim
