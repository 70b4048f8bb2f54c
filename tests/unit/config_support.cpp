// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/config_support.hpp"

#include "algorithms/kernel_api/registry.hpp"
#include "tests/support/temp_dir.hpp"

namespace podsim::test {

namespace {

KernelInfo config_test_kernel() {
    KernelInfo info;
    info.name = "config_test";
    info.summary = "Only there for the tests of sim/config.";
    info.options = {{"mode", std::string("a"), {"a", "b"}, 0, 0, "One of two."},
                    {"level", std::int64_t{3}, {}, 1, 9, "A number."},
                    {"strict", false, {}, 0, 0, "A switch."}};
    info.refuse = [](const Options& options) -> std::string {
        return options.choice("mode") == "b" && options.flag("strict") ? "mode b cannot be strict" : "";
    };
    return info;
}

PODSIM_KERNEL(config_test_kernel);

}  // namespace

std::string repository(const std::string& relative) { return std::string(PODSIM_SOURCE_DIR) + "/" + relative; }

nlohmann::json small_config() {
    return {{"schema", "podsim.run/1"},
            {"cards", 8},
            {"workload", {{"batch_size", 4}, {"hidden", 1024}, {"top_k", 4}, {"experts", 16}}},
            {"algorithm", {{"name", "config_test"}}},
            {"machine", repository("configs/machines/atlas_a3_pod.json")}};
}

ErrorDetail user_error(const std::function<void()>& act) {
    try {
        act();
    } catch (const UserError& error) {
        INFO(error.what());
        CHECK(error.code() == ExitCode::user_error);
        return error.detail();
    }
    FAIL("a UserError was expected");
    return {};
}

RunConfig load_small(const std::vector<std::string>& sets) {
    const TempDir dir;
    return load_run_config(dir.write("run.json", small_config().dump()), sets);
}

ErrorDetail refused(const std::vector<std::string>& sets) {
    return user_error([&] { load_small(sets); });
}

}  // namespace podsim::test
