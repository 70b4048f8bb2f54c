// SPDX-License-Identifier: Apache-2.0
#pragma once
/// `podsim compare`.
#include <iosfwd>

namespace podsim {

struct Arguments;

/// Throws PodsimError with the exit code in it, Interrupted.
void compare_command(const Arguments& arguments, std::ostream& out);

}  // namespace podsim
