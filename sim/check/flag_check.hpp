// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What became of flags that left too early, for people: which rows, of whom, when. A run with one is a failed run,
/// whatever its output.
#include "algorithms/dispatch/layout.hpp"
#include "algorithms/reference/reference_dispatch.hpp"
#include "sim/observe/early_flags.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace podsim {

class FlagCheck {
public:
    FlagCheck(const Workload& workload, const DispatchLayout& layout) : workload_(workload), layout_(layout) {}

    /// An early flag of `reference`'s call. `way_back`: what its store's acknowledgement took from where it landed.
    void add(const EarlyFlag& flag, const ReferenceDispatch& reference, Picoseconds way_back);
    std::uint64_t early() const { return early_; }
    /// One line each, the first few by call, card and order of discovery.
    std::vector<std::string> lines() const;

private:
    struct Example {
        std::uint32_t call = 0, card = 0;
        std::string text;
    };

    std::string text_of(const EarlyFlag& early, const ReferenceDispatch& reference, Picoseconds way_back) const;
    std::string name_of(const StoreEvent& store, const ReferenceDispatch& reference) const;

    const Workload& workload_;
    const DispatchLayout& layout_;
    std::uint64_t early_ = 0;
    std::vector<Example> examples_;
};

}  // namespace podsim
