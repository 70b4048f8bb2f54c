// SPDX-License-Identifier: Apache-2.0
/// An option that is said to change nothing changes nothing; every other one does.
#include "tests/kernel/option_draws.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

using namespace podsim;

namespace {

const Sets kWork = sized({4, 8, 24, 3, 544, 8}) + Sets{"/check/hazards=off"};

/// All that a run is, but for what it was asked.
std::string outcome(const Sets& sets) {
    nlohmann::ordered_json result = result_with(kWork + sets);
    for (const char* key : {"config", "notes", "unused_machine_parameters"}) {
        result.erase(key);
    }
    return result.dump();
}

std::set<std::string> idle_keys(const Sets& sets) {
    const RunConfig config = load_run_config(kSmoke, kWork + sets);
    std::set<std::string> keys;
    for (const WithoutEffect& idle :
         config.algorithm.kernel->without_effect(config.algorithm.options, config.algorithm.count_cores)) {
        keys.insert(idle.key);
    }
    return keys;
}

}  // namespace

TEST_CASE("options: what is said to have no effect has none, and all else has some", "[kernel]") {
    std::vector<Sets> bases{
        {},
        {kOption + "sync_mode=token_flag"},
        {kOption + "sync_mode=token_flag", kOption + "out_of_order=true"},
        {kOption + "sync_mode=token_flag", kOption + "out_of_order=true", kOption + "receive_batch=4"},
        {kOption + "early_counts=true", kOption + "cumsum=early"},
        {kOption + "sync_mode=block_flag", kOption + "block_layout=striped_504"},
        {"/algorithm/name=v2"},
        {"/algorithm/name=optimized"},
        {"/algorithm/name=fullmesh_gen_a"},
    };
    for (const Sets& base : bases) {
        CHECK(load_run_config(kSmoke, kWork + base).without_effect.empty());  // all that is chosen here works
    }
    std::mt19937 random(11);
    while (bases.size() < 24) {
        const Options options = drawn(random);
        if (refuse_dispatch_options(options).empty()) {
            bases.push_back(sets_of(options));
        }
    }
    std::map<std::string, int> idle_seen;
    std::set<std::string> changed_something;
    for (const Sets& base : bases) {
        const std::string before = outcome(base);
        const std::set<std::string> idle = idle_keys(base);
        const RunConfig config = load_run_config(kSmoke, kWork + base);
        for (const OptionSpec& spec : config.algorithm.kernel->options) {
            auto values = values_of(spec);
            if (spec.key.ends_with("_barrier")) {
                values = {false};
            }
            for (const OptionValue& value : values) {
                Options changed = config.algorithm.options;
                changed.set(spec.key, value);
                if (config.algorithm.options.all().at(spec.key) == value || !refuse_dispatch_options(changed).empty()) {
                    continue;
                }
                const Sets sets = base + Sets{kOption + spec.key + "=" + text_of(value)};
                const bool same = outcome(sets) == before;
                CAPTURE(sets);
                if (idle.contains(spec.key) && idle_keys(sets).contains(spec.key)) {
                    CHECK(same);
                    ++idle_seen[spec.key];
                    const auto notes = load_run_config(kSmoke, kWork + sets).without_effect;
                    const bool told = std::any_of(notes.begin(), notes.end(), [&](const std::string& note) {
                        return note.starts_with("/algorithm/options/" + spec.key + " has no effect unless ");
                    });
                    CHECK(told == (value != spec.standard));  // the preset's own value is nobody's choice
                } else {
                    // A deeper pipeline is of no use where the scalar unit waits at every row.
                    CHECK((!same || spec.key == "pipeline_depth"));
                    if (!same) {
                        changed_something.insert(spec.key);
                    }
                }
            }
        }
    }
    for (const char* key : {"token_barrier", "rows_barrier", "flag_pack", "flag_check", "out_of_order"}) {
        CHECK(idle_seen[key] > 0);
    }
    CHECK(changed_something.size() == find_kernel("baseline")->options.size());
}

TEST_CASE("options: count_cores without count cores is told, and is a note of the result", "[kernel]") {
    const Sets counted{"/algorithm/count_cores=2"};
    CHECK(outcome(counted) == outcome({}));
    CHECK(outcome(counted + Sets{"/algorithm/name=optimized"}) != outcome({"/algorithm/name=optimized"}));
    const auto notes = result_with(counted)["notes"];
    const auto told = [&](const std::string& text) {
        return std::find(notes.begin(), notes.end(), text) != notes.end();
    };
    CHECK(told("/algorithm/count_cores has no effect unless early_counts is true"));
    CHECK(load_run_config(kSmoke, counted + Sets{"/algorithm/name=optimized"}).without_effect.empty());
    // A preset's own values say nothing where other values make them idle.
    CHECK(load_run_config(
              kSmoke, {"/algorithm/name=optimized", kOption + "sync_mode=token_flag", kOption + "block_layout=plain"})
              .without_effect.empty());
}
