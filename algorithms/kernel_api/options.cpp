// SPDX-License-Identifier: Apache-2.0
#include "algorithms/kernel_api/options.hpp"

#include "models/engine/error.hpp"

namespace podsim {

const OptionValue& Options::at(std::string_view key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) {
        throw InternalError("kernel reads option '" + std::string(key) + "' that it did not declare");
    }
    return found->second;
}

}  // namespace podsim
