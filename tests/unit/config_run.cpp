// SPDX-License-Identifier: Apache-2.0
#include "algorithms/kernel_api/registry.hpp"
#include "sim/config/json_text.hpp"
#include "sim/config/window.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/config_support.hpp"

#include <algorithm>

using namespace podsim;
using namespace podsim::test;
using nlohmann::json;

TEST_CASE("config run: defaults come from the schema and everything reaches the structs", "[config]") {
    const RunConfig c = load_small();
    CHECK(c.cards == 8);
    CHECK(c.workload.cards == 8);
    CHECK(c.workload.batch_size == 4);
    CHECK(c.workload.quant == Quant::int8_dynamic);
    CHECK(c.workload.seed == 1);
    CHECK(c.routing == RoutingSpec{});
    CHECK(c.algorithm.name == "config_test");
    CHECK(c.algorithm.kernel == find_kernel("config_test"));
    CHECK(c.algorithm.aiv_cores == 48);
    CHECK(c.algorithm.count_cores == 0);
    CHECK(c.algorithm.options.choice("mode") == "a");
    CHECK(c.algorithm.options.number("level") == 3);
    CHECK_FALSE(c.algorithm.options.flag("strict"));
    CHECK(c.machine.name == "atlas_a3_pod");
    CHECK(c.limits.window_auto);
    CHECK(c.limits.timeout == 50'000'000'000);  // 50 000 us in ps
    CHECK(c.limits.max_wall_s == 0);
    CHECK(c.observe.timeline == Timeline::off);
    CHECK(c.observe.stamps == Stamps::off);
    CHECK(c.engine.wake == Wake::calendar);
    CHECK(c.engine.polling == Polling::elided);
    CHECK(c.engine.payload == PayloadMode::extents);
    CHECK(c.engine.quantum == 10'000'000);
    CHECK(c.calls == 1);
    CHECK(c.seed == 1);
    CHECK(c.notes.empty());
}

TEST_CASE("config run: every key changes what it names", "[config]") {
    const RunConfig c = load_small({"/workload/quant=none",
                                    "/workload/routing/kind=hot",
                                    "/workload/routing/hot_experts=3",
                                    "/workload/routing/hot_share=0.25",
                                    "/workload/routing/same_table=true",
                                    "/workload/routing/tokens_per_card=[4,3,2,1,0,4,4,4]",
                                    "/workload/routing/zipf_exponent=1.5",
                                    "/algorithm/options/mode=b",
                                    "/algorithm/options/level=9",
                                    "/algorithm/aiv_cores=24",
                                    "/algorithm/count_cores=4",
                                    "/limits/hccl_buffsize_mb=500",
                                    "/limits/timeout_us=7.5",
                                    "/limits/max_wall_s=3",
                                    "/check/hazards=off",
                                    "/observe/timeline=phases",
                                    "/observe/stamps=cost",
                                    "/engine/wake=systemc",
                                    "/engine/polling=explicit",
                                    "/engine/payload=copying",
                                    "/engine/quantum_us=2",
                                    "/calls=3",
                                    "/seed=99"});
    CHECK(c.workload.quant == Quant::none);
    CHECK(c.routing.kind == RoutingKind::hot);
    CHECK(c.routing.hot_experts == 3);
    CHECK(c.routing.hot_share == 0.25);
    CHECK(c.routing.same_table_on_every_card);
    CHECK(c.routing.tokens_per_card == std::vector<std::uint32_t>{4, 3, 2, 1, 0, 4, 4, 4});
    CHECK(c.routing.zipf_exponent == 1.5);
    CHECK(c.notes.size() == 1);  // zipf_exponent beside kind hot
    CHECK(c.algorithm.options.choice("mode") == "b");
    CHECK(c.algorithm.options.number("level") == 9);
    CHECK(c.algorithm.aiv_cores == 24);
    CHECK(c.algorithm.count_cores == 4);
    CHECK_FALSE(c.limits.window_auto);
    CHECK(c.limits.hccl_buffsize_mb == 500);
    CHECK(c.limits.timeout == 7'500'000);
    CHECK(c.limits.max_wall_s == 3);
    CHECK_FALSE(c.check_hazards);
    CHECK(c.observe.timeline == Timeline::phases);
    CHECK(c.observe.stamps == Stamps::cost);
    CHECK(c.engine.wake == Wake::systemc);
    CHECK(c.engine.polling == Polling::explicit_steps);
    CHECK(c.engine.payload == PayloadMode::copying);
    CHECK(c.engine.quantum == 2'000'000);
    CHECK(c.calls == 3);
    CHECK(c.seed == 99);
    CHECK(c.workload.seed == 99);
    CHECK(load_small({"/check/hazards=on"}).check_hazards);
}

TEST_CASE("config run: the effective config loads again to itself", "[config]") {
    const TempDir dir;
    const RunConfig first = load_small({"/algorithm/options/level=7", "/machine/hccs/link_rate=448Gbps",
                                        "/machine/topology/edits/-={\"kind\": \"slow\", \"plane\": 1}",
                                        "/workload/routing/kind=file", "/workload/routing/path=some/trace.csv"});
    const json effective = effective_json(first);
    const RunConfig second = load_run_config(dir.write("effective.json", effective.dump()));
    CHECK(effective_json(second) == effective);
    CHECK(second.workload == first.workload);
    CHECK(second.routing == first.routing);
    CHECK(second.machine.fabric.link_rate.peek() == 56'000);
    CHECK(second.machine.fabric.topology.edits == first.machine.fabric.topology.edits);
    CHECK(second.algorithm.options.all() == first.algorithm.options.all());
    CHECK(effective["machine"].is_object());
    CHECK(effective["algorithm"]["options"] == json{{"level", 7}, {"mode", "a"}, {"strict", false}});
    CHECK(effective["algorithm"]["aiv_cores"] == 48);
}

TEST_CASE("config run: contradictions between keys", "[config]") {
    struct Wrong {
        std::vector<std::string> sets;
        const char* pointer;
        const char* expected;
        const char* hint;
    };
    const std::vector<Wrong> all{
        {{"/machine=configs/machines/tiny_pod.json", "/cards=13", "/workload/experts=13"}, "/cards", "at most 12", ""},
        {{"/cards=769"}, "/cards", "from 1 to 768", ""},
        {{"/workload/hidden=1000"}, "/workload/hidden", "a multiple of 32", "561002"},
        {{"/workload/hidden=8224"}, "/workload/hidden", "from 32 to 8192", ""},
        {{"/workload/batch_size=513"}, "/workload/batch_size", "from 1 to 512", ""},
        {{"/workload/experts=17"}, "/workload/experts", "a multiple of the 8 cards", "561002"},
        {{"/workload/experts=4"}, "/workload/experts", "a multiple of the 8 cards", "561002"},
        {{"/workload/experts=1032"}, "/workload/experts", "from 1 to 1024", ""},
        {{"/workload/experts=8", "/workload/top_k=9"}, "/workload/top_k", "at most /workload/experts (8)", "561002"},
        {{"/workload/top_k=17"}, "/workload/top_k", "from 1 to 16", ""},
        {{"/cards=96", "/workload/experts=1024", "/workload/shared_experts=1", "/workload/shared_expert_cards=32"},
         "",
         "",
         ""},  // 16 x 96 = 1536 status cells: fine
        {{"/cards=384", "/workload/experts=768", "/workload/shared_experts=4", "/workload/shared_expert_cards=256"},
         "/workload/experts",
         "at most 2048",
         "561002"},  // 6 x 384 = 2304
        {{"/workload/shared_experts=1"}, "/workload/shared_experts", "both 0 or both not", "561002"},
        {{"/workload/shared_expert_cards=1"}, "/workload/shared_expert_cards", "both 0 or both not", "561002"},
        {{"/workload/shared_experts=2", "/workload/shared_expert_cards=3"},
         "/workload/shared_expert_cards",
         "a multiple of shared_experts (2)",
         "561002"},
        {{"/workload/shared_experts=1", "/workload/shared_expert_cards=8"},
         "/workload/shared_expert_cards",
         "fewer than /cards (8)",
         "561002"},
        {{"/limits/hccl_buffsize_mb=1", "/workload/batch_size=64"},
         "/limits/hccl_buffsize_mb",
         "at least",
         "HCCL_BUFFSIZE is too SMALL"},
        {{"/algorithm/aiv_cores=49"}, "/algorithm/aiv_cores", "at most 48", ""},
        {{"/algorithm/aiv_cores=8", "/algorithm/count_cores=8"}, "/algorithm/count_cores", "fewer than", ""},
        {{"/workload/routing/kind=file"}, "/workload/routing/path", "a routing file", "/workload/routing/path=FILE"},
        {{"/workload/routing/path=x.csv"}, "/workload/routing/path", "no path", "kind=file"},
        {{"/workload/routing/layer=0"}, "/workload/routing/layer", "no layer", ""},
        {{"/workload/routing/kind=hot", "/workload/routing/hot_experts=17"},
         "/workload/routing/hot_experts",
         "at most /workload/experts (16)",
         ""},
        {{"/workload/routing/tokens_per_card=[1,2]"}, "/workload/routing/tokens_per_card", "each of 8 cards", ""},
        {{"/workload/routing/tokens_per_card=[0,0,5,0,0,0,0,0]"},
         "/workload/routing/tokens_per_card/2",
         "at most /workload/batch_size (4)",
         ""},
        {{"/algorithm/name=config_tset"}, "/algorithm/name", "a registered kernel", "nearest valid name: config_test"},
        {{"/algorithm/options/modee=a"},
         "/algorithm/options/modee",
         "an option of kernel config_test",
         "nearest valid name: mode"},
        {{"/algorithm/options/mode=c"}, "/algorithm/options/mode", "one of a, b", ""},
        {{"/algorithm/options/mode=1"}, "/algorithm/options/mode", "one of a, b", ""},
        {{"/algorithm/options/level=10"}, "/algorithm/options/level", "an integer from 1 to 9", ""},
        {{"/algorithm/options/level=0"}, "/algorithm/options/level", "an integer from 1 to 9", ""},
        {{"/algorithm/options/level=1.5"}, "/algorithm/options/level", "", ""},
        {{"/algorithm/options/strict=1"}, "/algorithm/options/strict", "true or false", ""},
        {{"/algorithm/options/strict=true", "/algorithm/options/mode=b"},
         "/algorithm/options",
         "options kernel config_test can run",
         "mode b cannot be strict"},
    };
    const auto inside = [](const std::string& set) {
        const std::string file = "/machine=configs/";
        return set.starts_with(file) ? "/machine=" + repository(set.substr(9)) : set;
    };
    for (const Wrong& wrong : all) {
        std::vector<std::string> sets(wrong.sets.size());
        std::transform(wrong.sets.begin(), wrong.sets.end(), sets.begin(), inside);
        INFO(sets.back());
        if (*wrong.pointer == '\0') {
            CHECK_NOTHROW(load_small(sets));
            continue;
        }
        const ErrorDetail detail = refused(sets);
        CHECK(detail.pointer == wrong.pointer);
        INFO(detail.expected << " | " << detail.hint);
        CHECK(detail.expected.find(wrong.expected) != std::string::npos);
        CHECK(detail.hint.find(wrong.hint) != std::string::npos);
    }
}

TEST_CASE("config run: the HCCL window is the tiling's", "[config]") {
    // vllm-ascend PR #5287: maxBS 512, H 2048, W 2, L 64, K 8 -> 609 MB were asked for.
    Workload w;
    w.cards = 2;
    w.batch_size = 512;
    w.hidden = 2048;
    w.top_k = 8;
    w.experts = 128;
    CHECK(window_slot_bytes(w, "plain") == 4608);
    CHECK(needed_hccl_buffsize_mb(w, "plain") == 609);
    // dispatch_kernels.md §1.3, hidden 7168 sized for 2-byte values: 14848 plain, 15360 with 480 B of data a block.
    w.hidden = 7168;
    CHECK(window_slot_bytes(w, "plain") == 14848);
    CHECK(window_slot_bytes(w, "packed_480") == 15360);
    const RunConfig small = load_small();
    CHECK(small.limits.hccl_buffsize_mb == small.needed_buffsize_mb);
    // 2 x (2 local experts x 4 x 8 slots of 2560 B + 4 x 4 combine rows of 2048 B)
    CHECK(small.window_bytes == 2 * (2 * 4 * 8 * 2560 + 4 * 4 * 2048));
}

TEST_CASE("config run: what is legal but unlike hardware is noted", "[config]") {
    CHECK(load_small({"/workload/hidden=992"}).notes.size() == 1);
    CHECK(load_small({"/cards=1"}).notes.size() == 1);
    CHECK(load_small({"/workload/hidden=32", "/cards=1"}).notes.size() == 2);
}

TEST_CASE("config run: files resolve against the config's folder", "[config]") {
    const TempDir dir;
    dir.write("machine.json", read_text_file(repository("configs/machines/tiny_pod.json")));
    json config = small_config();
    config["machine"] = "machine.json";
    config["workload"]["routing"] = {{"kind", "file"}, {"path", "trace.csv"}};
    const RunConfig loaded = load_run_config(dir.write("run.json", config.dump()));
    CHECK(loaded.machine.name == "tiny_pod");
    CHECK(loaded.routing.path == dir.file("trace.csv"));
    config["machine"] = "gone.json";
    const std::string path = dir.write("run.json", config.dump());
    try {
        load_run_config(path);
        FAIL("an IoError was expected");
    } catch (const IoError& error) {
        const std::string text = error.what();
        CHECK(text.find(path + ": /machine: ") == 0);
        CHECK(text.find(dir.file("gone.json")) != std::string::npos);
    }
}

TEST_CASE("config run: an error in the machine file names that file", "[config]") {
    const TempDir dir;
    json machine = read_json_file(repository("configs/machines/tiny_pod.json"));
    machine["mte"]["queue_depth"]["value"] = -1;
    dir.write("machine.json", machine.dump());
    json config = small_config();
    config["machine"] = "machine.json";
    const std::string path = dir.write("run.json", config.dump());
    ErrorDetail detail = user_error([&] { load_run_config(path); });
    CHECK(detail.file == dir.file("machine.json"));
    CHECK(detail.pointer == "/mte/queue_depth/value");
    config["machine"] = machine;
    dir.write("run.json", config.dump());
    detail = user_error([&] { load_run_config(path); });
    CHECK(detail.file == path);
    CHECK(detail.pointer == "/machine/mte/queue_depth/value");
}
