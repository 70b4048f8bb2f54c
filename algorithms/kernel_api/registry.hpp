// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Kernels by name. A kernel is one .cpp that defines a KernelInfo and registers it with PODSIM_KERNEL;
/// presets (same kernel, other option values) register the same way.
#include "algorithms/kernel_api/options.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace podsim {

class Aiv;
struct DispatchArgs;
template <class T>
class Task;

/// Body of one AIV core for one call.
using KernelBody = Task<void> (*)(Aiv&, const DispatchArgs&);

/// What a kernel wants of the memory layout that a run prepares for it (DispatchLayout).
struct LayoutNeeds {
    std::uint32_t status_stride = 512;   ///< bytes from one status cell to the next
    std::string block_layout = "plain";  ///< how a row lies in its blocks: plain, striped_504, packed_480
};

/// A setting that changes nothing.
struct WithoutEffect {
    std::string key;     ///< of an option; "count_cores": that key of /algorithm
    std::string unless;  ///< what would have to be, "sync_mode is token_flag"
};

struct KernelInfo {
    std::string name;                 ///< `/algorithm/name`
    std::string summary;              ///< one sentence
    std::vector<OptionSpec> options;  ///< declared options; `standard` holds this preset's value
    /// "" when the combination is legal, else why the kernel refuses it (one sentence).
    std::string (*refuse)(const Options&) = nullptr;
    /// Layout needs under these options; without it the defaults of LayoutNeeds.
    LayoutNeeds (*layout)(const Options&) = nullptr;
    /// Bytes of Unified Buffer that the core of these arguments has allocated at one time, at most, if it has
    /// `ub_bytes`; without it `podsim check` cannot tell whether the kernel fits.
    std::uint64_t (*ub_needed)(const DispatchArgs&, std::uint64_t ub_bytes) = nullptr;
    /// What is chosen but changes nothing under the other options; without it nothing is known of that.
    std::vector<WithoutEffect> (*without_effect)(const Options&, std::uint32_t count_cores) = nullptr;
    /// False: a workload with shared experts is refused.
    bool shared_experts = true;
    KernelBody body = nullptr;

    LayoutNeeds layout_needs(const Options& chosen) const { return layout == nullptr ? LayoutNeeds{} : layout(chosen); }
};

/// All registered kernels in name order.
const std::vector<const KernelInfo*>& kernels();
/// The kernel of that name, nullptr if there is none.
const KernelInfo* find_kernel(std::string_view name);

/// Registers at program start; the object's lifetime is the program's.
struct KernelRegistration {
    explicit KernelRegistration(KernelInfo (*describe)());
};

}  // namespace podsim

/// PODSIM_KERNEL(describe): `describe` is a function returning the kernel's KernelInfo.
#define PODSIM_KERNEL(describe) \
    static const ::podsim::KernelRegistration podsim_kernel_registration_##describe { describe }
