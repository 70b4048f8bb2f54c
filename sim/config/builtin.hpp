// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Files of configs/ that are used when the user names none; embedded, like the schemas.
#include <string_view>

namespace podsim {

enum class Builtin { components, kernels, machine };

std::string_view builtin_text(Builtin name);

/// What messages call it.
constexpr std::string_view name_of(Builtin name) {
    return name == Builtin::components ? "built-in configs/validation/components.json"
           : name == Builtin::kernels  ? "built-in configs/validation/kernels.json"
                                       : "built-in configs/machines/atlas_a3_pod.json";
}

}  // namespace podsim
