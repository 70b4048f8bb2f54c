// SPDX-License-Identifier: Apache-2.0
#include "algorithms/microbench/places.hpp"

#include <algorithm>

namespace podsim {

const std::vector<Microbench>& microbenches() {
    static const std::vector<Microbench> all = [] {
        std::vector<Microbench> made;
        for (const auto& benches :
             {copy_benches(), stream_benches(), vector_benches(), scalar_benches(), sync_benches(), remote_benches()}) {
            made.insert(made.end(), benches.begin(), benches.end());
        }
        return made;
    }();
    return all;
}

const Microbench* find_microbench(std::string_view name) {
    const auto& all = microbenches();
    const auto at = std::find_if(all.begin(), all.end(), [&](const Microbench& b) { return b.name == name; });
    return at == all.end() ? nullptr : &*at;
}

}  // namespace podsim
