// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/footprint_check.hpp"

#include "algorithms/dispatch/dispatch_args.hpp"
#include "algorithms/kernel_api/registry.hpp"
#include "algorithms/routing/routing_table.hpp"
#include "models/engine/error.hpp"
#include "sim/config/origins.hpp"
#include "sim/config/run_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace podsim {

namespace {

constexpr std::size_t kMostRemedies = 4;
constexpr std::uint32_t kHiddenStep = 32;

struct Need {
    std::uint64_t bytes = 0;
    std::uint32_t card = 0, core = 0;
};

class Footprints {
public:
    Footprints(const RunConfig& config, const RoutingTable& table) : config_(config) {
        // Cards with as many tokens and experts of their own need the same.
        std::set<std::pair<bool, std::uint32_t>> seen;
        for (std::uint32_t card = 0; card < config.cards; ++card) {
            if (seen.emplace(config.workload.is_shared_card(card), table.tokens(card)).second) {
                cards_.emplace_back(card, table.tokens(card));
            }
        }
        const std::uint64_t stamps =
            config.observe.stamps == Stamps::cost ? std::uint64_t{DispatchLayout::kStamps} * sizeof(std::int64_t) : 0;
        const std::uint64_t all = config.machine.core.ub_bytes.peek();
        there_ = all > stamps ? all - stamps : 0;
    }

    std::uint64_t there() const { return there_; }

    Need most(const Workload& workload, const Options& options) const {
        const KernelInfo& kernel = *config_.algorithm.kernel;
        const LayoutNeeds needs = kernel.layout_needs(options);
        const std::uint32_t cores = config_.algorithm.aiv_cores;
        const DispatchLayout layout(workload, cores, needs.status_stride, parse_block_layout(needs.block_layout));
        DispatchArgs args;
        args.workload = &workload;
        args.options = &options;
        args.layout = &layout;
        args.cores = cores;
        args.count_cores = config_.algorithm.count_cores;
        Need most;
        for (const auto& [card, tokens] : cards_) {
            for (std::uint32_t core = 0; core < cores; ++core) {
                args.card = card;
                args.core = core;
                args.tokens = tokens;
                const std::uint64_t bytes = kernel.ub_needed(args, there_);
                if (bytes > most.bytes) {
                    most = {bytes, card, core};
                }
            }
        }
        return most;
    }
    bool fits(const Workload& workload, const Options& options) const {
        return most(workload, options).bytes <= there_;
    }

    /// Single changes that make it fit.
    std::vector<std::string> remedies() const {
        std::vector<std::string> out;
        for (const OptionSpec& spec : config_.algorithm.kernel->options) {
            for (const OptionValue& value : others(spec)) {
                Options changed = config_.algorithm.options;
                changed.set(spec.key, value);
                const auto refuse = config_.algorithm.kernel->refuse;
                if (out.size() < kMostRemedies && (refuse == nullptr || refuse(changed).empty()) &&
                    fits(config_.workload, changed)) {
                    out.push_back(fmt::format("/algorithm/options/{}={}", spec.key, text(value)));
                    break;
                }
            }
        }
        Workload smaller = config_.workload;
        while (smaller.hidden > kHiddenStep) {
            smaller.hidden -= kHiddenStep;
            if (fits(smaller, config_.algorithm.options)) {
                out.push_back(fmt::format("/workload/hidden={}", smaller.hidden));
                break;
            }
        }
        return out;
    }

private:
    static std::vector<OptionValue> others(const OptionSpec& spec) {
        if (std::holds_alternative<bool>(spec.standard)) {
            return {false, true};
        }
        if (spec.choices.empty()) {
            return {spec.least};
        }
        return {spec.choices.begin(), spec.choices.end()};
    }
    static std::string text(const OptionValue& value) {
        return std::visit([](const auto& plain) { return fmt::format("{}", plain); }, value);
    }

    const RunConfig& config_;
    std::uint64_t there_ = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> cards_;  ///< and tokens
};

}  // namespace

void check_footprint(const RunConfig& config, const RoutingTable& table) {
    const KernelInfo& kernel = *config.algorithm.kernel;
    if (kernel.ub_needed == nullptr) {
        return;
    }
    const Footprints footprints(config, table);
    const Need need = footprints.most(config.workload, config.algorithm.options);
    if (need.bytes <= footprints.there()) {
        return;
    }
    const auto remedies = footprints.remedies();
    throw UserError(
        config.origins->at("/algorithm/options",
                           fmt::format("buffers of kernel {} in the {} B of Unified Buffer a core has for them",
                                       kernel.name, footprints.there()),
                           fmt::format("{} B needed by card {} core {}", need.bytes, need.card, need.core),
                           remedies.empty() ? "no single option makes it fit"
                                            : fmt::format("it fits with {}", fmt::join(remedies, ", or "))));
}

}  // namespace podsim
