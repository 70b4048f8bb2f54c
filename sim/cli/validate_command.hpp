// SPDX-License-Identifier: Apache-2.0
#pragma once
/// `podsim validate`.
#include "models/engine/error.hpp"

#include <iosfwd>

namespace podsim {

struct Arguments;

/// out_of_tolerance, also told on `err`, when figures are worse than their file allows. Throws PodsimError.
ExitCode validate_command(const Arguments& arguments, std::ostream& out, std::ostream& err);

}  // namespace podsim
