// SPDX-License-Identifier: Apache-2.0
#include "algorithms/kernel_api/registry.hpp"
#include "sim/config/json_text.hpp"
#include "sim/config/nearest.hpp"
#include "sim/config/run_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

namespace podsim {

namespace {

using nlohmann::json;

constexpr const char* kOptions = "/algorithm/options";

std::string expectation(const OptionSpec& spec) {
    if (std::holds_alternative<bool>(spec.standard)) {
        return "true or false";
    }
    if (std::holds_alternative<std::int64_t>(spec.standard)) {
        return fmt::format("an integer from {} to {}", spec.least, spec.most);
    }
    return fmt::format("one of {}", fmt::join(spec.choices, ", "));
}

/// The value in the option's own type, or nothing when it is not legal.
std::optional<OptionValue> option_value(const OptionSpec& spec, const json& value) {
    if (std::holds_alternative<bool>(spec.standard)) {
        return value.is_boolean() ? std::optional<OptionValue>(value.get<bool>()) : std::nullopt;
    }
    if (std::holds_alternative<std::int64_t>(spec.standard)) {
        if (!value.is_number_integer() || value > spec.most || value < spec.least) {
            return std::nullopt;
        }
        return value.get<std::int64_t>();
    }
    const bool known = value.is_string() && std::find(spec.choices.begin(), spec.choices.end(),
                                                      value.get_ref<const std::string&>()) != spec.choices.end();
    return known ? std::optional<OptionValue>(value.get<std::string>()) : std::nullopt;
}

void check_names(const RunDocument& document, const KernelInfo& kernel, const json& options) {
    std::vector<std::string> names;
    names.reserve(kernel.options.size());
    for (const OptionSpec& spec : kernel.options) {
        names.push_back(spec.key);
    }
    for (const auto& [key, value] : options.items()) {
        if (std::find(names.begin(), names.end(), key) == names.end()) {
            throw UserError(document.origins.at(join_pointer(kOptions, key),
                                                fmt::format("an option of kernel {}", kernel.name),
                                                fmt::format("the unknown key {}", in_words(key)),
                                                names.empty() ? "it has none" : name_hint(key, names)));
        }
    }
}

}  // namespace

void resolve_algorithm(RunDocument& document, RunConfig& config) {
    json& algorithm = document.root["algorithm"];
    AlgorithmConfig& out = config.algorithm;
    out.name = algorithm["name"].get<std::string>();
    out.kernel = find_kernel(out.name);
    if (out.kernel == nullptr) {
        std::vector<std::string> names;
        for (const KernelInfo* kernel : kernels()) {
            names.push_back(kernel->name);
        }
        throw UserError(document.origins.at("/algorithm/name", "a registered kernel", in_words(out.name),
                                            name_hint(out.name, names)));
    }
    if (!out.kernel->shared_experts && config.workload.shared_experts != 0) {
        throw UserError(document.origins.at("/workload/shared_experts",
                                            fmt::format("0: kernel {} serves no shared experts", out.name),
                                            std::to_string(config.workload.shared_experts)));
    }
    json& options = algorithm["options"];
    check_names(document, *out.kernel, options);
    for (const OptionSpec& spec : out.kernel->options) {
        OptionValue value = spec.standard;
        if (const auto given = options.find(spec.key); given != options.end()) {
            auto legal = option_value(spec, *given);
            if (!legal) {
                std::string hint = given->is_string() && !spec.choices.empty()
                                       ? nearest_name(given->get<std::string>(), spec.choices)
                                       : "";
                throw UserError(document.origins.at(join_pointer(kOptions, spec.key), expectation(spec),
                                                    in_words(*given),
                                                    hint.empty() ? "" : "nearest valid name: " + hint));
            }
            value = std::move(*legal);
        }
        std::visit([&](const auto& plain) { options[spec.key] = plain; }, value);
        out.options.set(spec.key, std::move(value));
    }
    if (out.kernel->refuse != nullptr) {
        if (const std::string reason = out.kernel->refuse(out.options); !reason.empty()) {
            throw UserError(document.origins.at(kOptions, fmt::format("options kernel {} can run", out.name),
                                                "a combination it refuses", reason));
        }
    }
    const std::uint32_t cores = config.machine.core.aiv_per_card.peek();
    json& aiv_cores = algorithm["aiv_cores"];
    out.aiv_cores = aiv_cores == "all" ? cores : aiv_cores.get<std::uint32_t>();
    if (out.aiv_cores > cores) {
        throw UserError(document.origins.at("/algorithm/aiv_cores",
                                            fmt::format("at most {}, the AIV cores of a card", cores),
                                            std::to_string(out.aiv_cores)));
    }
    aiv_cores = out.aiv_cores;
    out.count_cores = algorithm["count_cores"].get<std::uint32_t>();
    if (out.count_cores != 0 && out.count_cores >= out.aiv_cores) {
        throw UserError(
            document.origins.at("/algorithm/count_cores",
                                fmt::format("fewer than /algorithm/aiv_cores ({}), or 0 to derive it", out.aiv_cores),
                                std::to_string(out.count_cores)));
    }
}

}  // namespace podsim
