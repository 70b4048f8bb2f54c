// SPDX-License-Identifier: Apache-2.0
#include "sim/config/json_text.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/config_support.hpp"

#include <filesystem>

using namespace podsim;
using namespace podsim::test;
using nlohmann::json;

TEST_CASE("config set: JSON if it can be read as JSON else text, applied left to right", "[config]") {
    CHECK(load_small({"/cards=16"}).cards == 16);
    CHECK(load_small({"/cards=4", "/cards=8", "/cards=16"}).cards == 16);
    CHECK(load_small({"/cards=8.0"}).cards == 8);
    CHECK(effective_json(load_small({"/description=a=b"}))["description"] == "a=b");
    CHECK(effective_json(load_small({"/description=\"12\""}))["description"] == "12");
    CHECK(effective_json(load_small({"/description={broken"}))["description"] == "{broken");
    CHECK(refused({"/description=12"}).expected == "a string");
    CHECK(load_small({"/workload={\"batch_size\": 2, \"experts\": 8}", "/workload/top_k=2"}).workload.top_k == 2);
}

TEST_CASE("config set: missing objects are made, then checked like any other", "[config]") {
    CHECK(load_small({"/limits/timeout_us=1"}).limits.timeout == 1'000'000);
    CHECK(load_small({"/workload/routing/kind=zipf"}).routing.kind == RoutingKind::zipf);
    const ErrorDetail detail = refused({"/new/things/here=1"});
    CHECK(detail.file == "--set");
    CHECK(detail.pointer == "/new");
}

TEST_CASE("config set: a machine parameter takes its value, in its unit or another", "[config]") {
    const auto link_rate = [](const std::string& value) {
        return load_small({"/machine/hccs/link_rate=" + value}).machine.fabric.link_rate.peek();
    };
    CHECK(link_rate("56") == 56'000);
    CHECK(link_rate("448Gbps") == 56'000);
    CHECK(link_rate("0.056 TB/s") == 56'000);
    CHECK(load_small({"/machine/mte/mte3_event=read"}).machine.core.mte.mte3_event.peek() == Mte3Event::at_read);
    CHECK(load_small({"/machine/hccs/network_in_order=true"}).machine.fabric.network_in_order.peek());
    const json machine = effective_json(load_small({"/machine/hccs/link_rate=56"}))["machine"];
    CHECK(machine["hccs"]["link_rate"]["unit"] == "GB/s");
    CHECK(machine["hccs"]["link_rate"]["source"].is_string());
    // The whole parameter, its members, and what is no parameter still work as plain pointers.
    CHECK(load_small({"/machine/mte/queue_depth/range=[1,100]", "/machine/mte/queue_depth=100"})
              .machine.core.mte.queue_depth.peek() == 100);
    CHECK(load_small({"/machine/mte/queue_depth={\"value\": 7, \"unit\": \"count\", \"source\": \"mine\", "
                      "\"kind\": \"derived\"}"})
              .machine.core.mte.queue_depth.peek() == 7);
    CHECK(load_small({"/machine/name=mine"}).machine.name == "mine");
    CHECK(
        load_small({"/machine/vector/instructions/Add/head=11"}).machine.core.vector.instructions.front().head.peek() >
        0);
}

TEST_CASE("config set: a machine given by --set is looked for in the current folder and can be changed after",
          "[config]") {
    const TempDir dir;
    dir.write("here.json", read_text_file(repository("configs/machines/tiny_pod.json")));
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(dir.path());
    const RunConfig c = load_small({"/machine=here.json", "/machine/mte/queue_depth=5",
                                    "/workload/routing={\"kind\": \"file\", \"path\": \"t.csv\"}"});
    std::filesystem::current_path(before);
    CHECK(c.machine.name == "tiny_pod");
    CHECK(c.machine.core.mte.queue_depth.peek() == 5);
    CHECK(c.routing.path == dir.file("t.csv"));
    CHECK_THROWS_AS(load_small({"/machine=not_there.json"}), IoError);
}

TEST_CASE("config set: edits are appended and addressed", "[config]") {
    const RunConfig c =
        load_small({"/machine/topology/edits/-/kind=slow", "/machine/topology/edits/0/plane=3",
                    "/machine/topology/edits/-={\"kind\": \"remove\", \"from\": \"card1\", \"to\": \"l1.n0.p0\"}"});
    REQUIRE(c.machine.fabric.topology.edits.size() == 2);
    CHECK(c.machine.fabric.topology.edits[0].plane == 3);
    CHECK(c.machine.fabric.topology.edits[1].from == "card1");
    // An array that is not there yet begins with the first element.
    CHECK(effective_json(
              load_small({"/workload/routing/tokens_per_card/-=3", "/workload/routing/tokens_per_card/-=4", "/cards=2",
                          "/workload/batch_size=4"}))["workload"]["routing"]["tokens_per_card"] == json{3, 4});
    CHECK(refused({"/machine/topology/edits/0/kind=slow"}).expected == "an index below 0, or - to append");
    CHECK(refused({"/machine/topology/edits/-/kind=slo"}).pointer == "/machine/topology/edits/0/kind");
}

TEST_CASE("config set: what is no set is refused, and every message names --set", "[config]") {
    const std::vector<std::string> all{"",
                                       "=",
                                       "cards=8",
                                       "/cards",
                                       "/=1",
                                       "/a~2=1",
                                       "/a~=1",
                                       "/cards/x=1",
                                       "/cards=",
                                       "/cards=null",
                                       "/cards=NaN",
                                       "/cards=1e999",
                                       "/cards=-1",
                                       "/cards=0",
                                       "/cards=1.5",
                                       "/cards=1e30",
                                       "/cards=\"8\"",
                                       "/cards=[8]",
                                       "/crads=8",
                                       "/seed=-1",
                                       "/seed=18446744073709551615",
                                       "/machine=7",
                                       "/machine/hccs/link_rate=0",
                                       "/machine/hccs/link_rate=-5GB/s",
                                       "/machine/hccs/link_rate=56GBps",
                                       "/machine/hccs/link_rate=56ns",
                                       "/machine/hccs/link_rate=null",
                                       "/machine/hccs/link_rat=56",
                                       "/machine/mte/queue_depth=65",
                                       "/workload/routing/path=\xff",
                                       "/workload/routing/tokens_per_card/0=1",
                                       std::string(100'000, '/') + "=1"};
    for (const std::string& set : all) {
        INFO(set.substr(0, 80));
        CHECK(refused({set}).file == "--set");
    }
}
