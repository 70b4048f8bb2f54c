// SPDX-License-Identifier: Apache-2.0
#include "algorithms/kernel_api/registry.hpp"

#include "models/engine/error.hpp"

#include <algorithm>

namespace podsim {

namespace {

struct Registry {
    std::vector<std::unique_ptr<const KernelInfo>> owned;
    std::vector<const KernelInfo*> by_name;
};

// The one object made before main: registrations in other translation units need it to exist.
Registry& registry() {
    static Registry instance;
    return instance;
}

}  // namespace

KernelRegistration::KernelRegistration(KernelInfo (*describe)()) {
    Registry& all = registry();
    all.owned.push_back(std::make_unique<const KernelInfo>(describe()));
    const KernelInfo* info = all.owned.back().get();
    const auto place = std::lower_bound(all.by_name.begin(), all.by_name.end(), info,
                                        [](const KernelInfo* a, const KernelInfo* b) { return a->name < b->name; });
    if (place != all.by_name.end() && (*place)->name == info->name) {
        throw InternalError("two kernels are called '" + info->name + "'");
    }
    all.by_name.insert(place, info);
}

const std::vector<const KernelInfo*>& kernels() { return registry().by_name; }

const KernelInfo* find_kernel(std::string_view name) {
    for (const KernelInfo* info : kernels()) {
        if (info->name == name) {
            return info;
        }
    }
    return nullptr;
}

}  // namespace podsim
