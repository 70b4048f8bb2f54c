// SPDX-License-Identifier: Apache-2.0
/// podsim sweep: points in order, failures as rows, the same bytes for any number of jobs, resuming.
#include "tests/cli/cli_support.hpp"
#include "tests/support/csv_table.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

using namespace podsim::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// The smoke config, with few cores: quick.
json base() {
    json config = json::parse(std::ifstream(smoke()));
    config["machine"] = repository("configs/machines/atlas_a3_pod.json");
    config["algorithm"]["aiv_cores"] = 4;
    config["check"]["hazards"] = "off";
    return config;
}

json sweep_of(json axes) { return {{"schema", "podsim.sweep/1"}, {"base", "base.json"}, {"axes", std::move(axes)}}; }

/// A folder with base.json and sweep.json.
struct Bench {
    explicit Bench(const json& sweep) : file(dir.write("sweep.json", sweep.dump())) {
        dir.write("base.json", base().dump());
    }
    ProgramResult run(const std::string& out, std::vector<std::string> more = {}) const {
        more.insert(more.begin(), {"sweep", file, "--out", dir.file(out)});
        return podsim_program(more);
    }
    CsvTable table(const std::string& out) const { return csv_table(dir.read(out + "/results.csv")); }

    TempDir dir;
    std::string file;
};

CsvTable without_host(CsvTable table) {
    std::erase_if(table.columns, [](const std::string& name) { return name.starts_with("host_"); });
    for (auto& row : table.rows) {
        std::erase_if(row, [](const auto& cell) { return cell.first.starts_with("host_"); });
    }
    return table;
}

std::vector<std::string> column(const CsvTable& table, const std::string& name) {
    std::vector<std::string> out;
    out.reserve(table.rows.size());
    for (const auto& row : table.rows) {
        out.push_back(row.at(name));
    }
    return out;
}

json axis(const char* name, const char* pointer, json values) {
    return {{"name", name}, {"pointer", pointer}, {"values", std::move(values)}};
}

void check_refused(const json& sweep, const std::string& contains) {
    CAPTURE(sweep.dump());
    const Bench bench(sweep);
    const ProgramResult result = bench.run("out");
    check_one_message(result, 2);
    CHECK(result.err.find(contains) != std::string::npos);
}

}  // namespace

TEST_CASE("sweep: every kind of axis, the last one fastest, rows in point order") {
    json sweep =
        sweep_of({axis("batch_size", "/workload/batch_size", {1, 2}),
                  {{"zip", {axis("experts", "/workload/experts", {8, 16}), axis("top_k", "/workload/top_k", {1, 2})}}},
                  {{"name", "rung"},
                   {"variants",
                    {{{"name", "plain"}, {"set", json::object()}},
                     {{"name", "matrix, \"v2\""}, {"set", {{"/algorithm/options/cumsum", "matrix"}}}}}}}});
    sweep["seeds"] = {7, 5};
    const Bench bench(sweep);
    const ProgramResult run = bench.run("out", {"--jobs", "2"});
    CAPTURE(run.err);
    REQUIRE(run.exit_code == 0);
    CHECK(run.err.empty());
    const CsvTable table = bench.table("out");
    REQUIRE(table.rows.size() == 16);
    CHECK(std::vector<std::string>(table.columns.begin(), table.columns.begin() + 8) ==
          std::vector<std::string>{"point", "batch_size", "experts", "top_k", "rung", "seed", "status", "exit_code"});
    for (std::size_t i = 0; i < 16; ++i) {
        const auto& row = table.rows[i];
        CHECK(row.at("point") == std::to_string(i));
        CHECK(row.at("batch_size") == (i < 8 ? "1" : "2"));
        CHECK(row.at("experts") == (i / 4 % 2 == 0 ? "8" : "16"));
        CHECK(row.at("top_k") == (i / 4 % 2 == 0 ? "1" : "2"));
        CHECK(row.at("rung") == (i / 2 % 2 == 0 ? "plain" : "matrix, \"v2\""));
        CHECK(row.at("seed") == (i % 2 == 0 ? "7" : "5"));
        CHECK(row.at("status") == "ok");
        CHECK(row.at("functional_ok") == "true");
        // 8 cards, each token to top_k experts
        CHECK(std::stoi(row.at("rows")) == 8 * std::stoi(row.at("batch_size")) * std::stoi(row.at("top_k")));
        double phases = 0;
        for (const char* name : {"init_us", "transfer_us", "flags_us", "address_us", "reorder_us", "idle_us"}) {
            phases += std::stod(row.at(name));
        }
        CHECK(phases == Approx(std::stod(row.at("total_us"))).margin(1e-5));
    }
    // What stands in the table is what the point's own result says.
    const json result = json::parse(bench.dir.read("out/points/0014/result.json"));
    CHECK(result["config"]["workload"]["experts"] == 16);
    CHECK(result["config"]["algorithm"]["options"]["cumsum"] == "matrix");
    CHECK(result["seed"] == 7);
    CHECK(std::stod(table.rows[14].at("total_us")) == result["total_us"].get<double>());
    CHECK(table.rows[14].at("flags.poll_us") == result["subphases_us"]["flags.poll"].dump());
    CHECK(table.rows[14].at("tail_us") == result["overlap"]["tail_us"].dump());
}

TEST_CASE("sweep: a point that fails is a row with its status and reason, the same for any number of jobs") {
    const json rungs = {
        {{"name", "fine"}, {"set", json::object()}},
        {{"name", "refused"}, {"set", {{"/workload/top_k", 99}}}},
        {{"name", "unknown"}, {"set", {{"/workload/top_kk", 1}}}},
        {{"name", "no machine"}, {"set", {{"/machine", "gone.json"}}}},
        {{"name", "no trace"}, {"set", {{"/workload/routing", {{"kind", "file"}, {"path", "gone.csv"}}}}}},
        {{"name", "stuck"}, {"set", {{"/limits/timeout_us", 3}}}},
        {{"name", "wrong"},
         {"set",
          {{"/algorithm/options/sync_mode", "token_flag"},
           {"/algorithm/options/token_barrier", false},
           {"/machine/hccs/extra_reorder", "20us"}}}},
        {{"name", "fine again"}, {"set", {{"/seed", 2}}}},
        {{"name", "too large"}, {"set", {{"/machine/core/ub_bytes", 8192}}}}};
    const Bench bench(sweep_of({{{"name", "rung"}, {"variants", rungs}}}));
    const ProgramResult run = bench.run("two", {"--jobs", "2"});
    CHECK(run.exit_code == 0);
    const CsvTable table = bench.table("two");
    CHECK(column(table, "status") == std::vector<std::string>{"ok", "refused", "refused", "io_error", "io_error",
                                                              "timeout", "mismatch", "ok", "refused"});
    CHECK(column(table, "exit_code") == std::vector<std::string>{"0", "2", "2", "3", "3", "5", "4", "0", "2"});
    const auto reasons = column(table, "reason");
    CHECK(reasons[0].empty());
    CHECK(reasons[1].find("sweep.json: /axes/0/variants/1/set/~1workload~1top_k: expected") != std::string::npos);
    CHECK(reasons[2].find("nearest valid name: top_k") != std::string::npos);
    CHECK(reasons[3].find("gone.json") != std::string::npos);
    CHECK(reasons[4].find("gone.csv") != std::string::npos);
    CHECK(reasons[5].find("/limits/timeout_us") != std::string::npos);
    CHECK(reasons[6].find("expected") != std::string::npos);
    CHECK(reasons[8].find("in the 8192 B of Unified Buffer") != std::string::npos);
    CHECK(table.rows[1].at("total_us").empty());
    CHECK(table.rows[6].at("functional_ok") == "false");
    CHECK(fs::exists(bench.dir.file("two/points/0006/result.json")));
    CHECK(run.err.find("point 1: refused: ") != std::string::npos);

    REQUIRE(bench.run("one", {"--jobs", "1"}).exit_code == 0);
    const CsvTable one = without_host(bench.table("one")), two = without_host(table);
    CHECK(one.columns == two.columns);
    CHECK(one.rows == two.rows);
}

TEST_CASE("sweep: --resume runs what is missing, changed or cut off, and nothing else") {
    const Bench bench(sweep_of({axis("batch_size", "/workload/batch_size", {1, 2, 3, 4, 5, 6, 7})}));
    REQUIRE(bench.run("out").exit_code == 0);
    const CsvTable first = bench.table("out");
    const auto result = [&](int point) {
        return bench.dir.file("out/points/000" + std::to_string(point) + "/result.json");
    };
    const auto written = [&](int point) { return fs::last_write_time(result(point)); };
    const auto kept = written(0);
    fs::remove_all(bench.dir.file("out/points/0001"));
    fs::resize_file(result(2), 100);
    json other = json::parse(std::ifstream(result(3)));
    other["config"]["seed"] = 99;
    other["total_us"] = 1.0;
    std::ofstream(result(3)) << other.dump();
    json older = json::parse(std::ifstream(result(4)));
    older["model_version"] = older["model_version"].get<int>() - 1;
    older["total_us"] = 1.0;
    std::ofstream(result(4)) << older.dump();
    fs::remove(bench.dir.file("out/points/0005/planes.csv"));
    fs::resize_file(bench.dir.file("out/points/0006/cards.csv"), 0);
    fs::create_directory(bench.dir.file("out/points/0001.tmp"));

    const ProgramResult run = bench.run("out", {"--resume"});
    CHECK(run.exit_code == 0);
    CHECK(run.out.find("1 kept from before") != std::string::npos);
    CHECK(written(0) == kept);
    CHECK_FALSE(fs::exists(bench.dir.file("out/points/0001.tmp")));
    CHECK(without_host(bench.table("out")).rows == without_host(first).rows);
    CHECK(bench.run("out", {"--resume"}).out.find("7 kept from before") != std::string::npos);
    // Without it, all anew.
    REQUIRE(bench.run("out").exit_code == 0);
    CHECK(written(0) != kept);
}

TEST_CASE("sweep: --resume wants the files that the config asks for") {
    const Bench bench(
        sweep_of({axis("checked", "/check/hazards", {"on", "off"}), axis("tokens", "/workload/batch_size", {1, 2})}));
    REQUIRE(bench.run("out").exit_code == 0);
    CHECK_FALSE(fs::exists(bench.dir.file("out/points/0002/hazards.json")));
    fs::remove(bench.dir.file("out/points/0000/hazards.json"));
    CHECK(bench.run("out", {"--resume"}).out.find("3 kept from before") != std::string::npos);
    CHECK(fs::exists(bench.dir.file("out/points/0000/hazards.json")));
}

TEST_CASE("sweep: a process that is killed is a row, and the others are not touched") {
    const Bench bench(sweep_of({axis("calls", "/calls", {1, 1000, 2})}));
    const std::string out = bench.dir.file("out");
    // One second of CPU time for each process, then SIGKILL; a thousand calls need more.
    const ProgramResult run = run_program(
        {"/bin/sh", "-c",
         "ulimit -t 1; exec " + std::string(PODSIM_PROGRAM) + " sweep " + bench.file + " --out " + out + " --jobs 2"});
    CHECK(run.exit_code == 0);
    const CsvTable table = bench.table("out");
    CHECK(column(table, "status") == std::vector<std::string>{"ok", "crashed", "ok"});
    CHECK(table.rows[1].at("exit_code") == std::to_string(128 + SIGKILL));
    CHECK(table.rows[1].at("reason").find("signal") != std::string::npos);
    // It is not done: the next try runs it again, shorter here.
    bench.dir.write("sweep.json", sweep_of({axis("calls", "/calls", {1, 3, 2})}).dump());
    const ProgramResult again = bench.run("out", {"--resume"});
    CHECK(again.out.find("2 kept from before") != std::string::npos);
    CHECK(column(bench.table("out"), "status") == std::vector<std::string>{"ok", "ok", "ok"});
}

TEST_CASE("sweep: SIGINT ends it by that signal and leaves a folder to resume") {
    // A second point that takes long: many calls.
    const Bench bench(sweep_of({axis("calls", "/calls", {1, 1000, 2})}));
    const std::string out = bench.dir.file("out");
    const pid_t sweep = ::fork();
    REQUIRE(sweep >= 0);
    if (sweep == 0) {
        const int nowhere = ::open("/dev/null", O_WRONLY);
        ::dup2(nowhere, STDOUT_FILENO);
        ::dup2(nowhere, STDERR_FILENO);
        ::execl(PODSIM_PROGRAM, PODSIM_PROGRAM, "sweep", bench.file.c_str(), "--out", out.c_str(), "--jobs", "1",
                nullptr);
        ::_exit(127);
    }
    for (int i = 0; i < 3000 && !fs::exists(out + "/points/0001.tmp"); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ::kill(sweep, SIGINT);
    int status = 0;
    REQUIRE(::waitpid(sweep, &status, 0) == sweep);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 128 + SIGINT);
    CHECK(column(bench.table("out"), "status") == std::vector<std::string>{"ok", "not_run", "not_run"});
    // The long point is no longer wanted.
    bench.dir.write("sweep.json", sweep_of({axis("calls", "/calls", {1, 3, 2})}).dump());
    const ProgramResult resumed = bench.run("out", {"--resume"});
    CHECK(resumed.out.find("1 kept from before") != std::string::npos);
    CHECK(column(bench.table("out"), "status") == std::vector<std::string>{"ok", "ok", "ok"});
}

TEST_CASE("sweep: files named in it resolve against its folder") {
    const Bench bench(sweep_of({axis("machine", "/machine", {"pods/tiny.json", "pods/../pods/tiny.json"})}));
    fs::create_directory(bench.dir.file("pods"));
    fs::copy(repository("configs/machines/tiny_pod.json"), bench.dir.file("pods/tiny.json"));
    REQUIRE(bench.run("out").exit_code == 0);
    const CsvTable table = bench.table("out");
    CHECK(column(table, "status") == std::vector<std::string>{"ok", "ok"});
    CHECK(column(table, "machine") == std::vector<std::string>{"pods/tiny.json", "pods/../pods/tiny.json"});
}

TEST_CASE("sweep: mistakes in the file are one message") {
    const json one = axis("b", "/workload/batch_size", {1});
    check_refused({{"schema", "podsim.sweep/1"}, {"base", "base.json"}}, "/axes: expected");
    check_refused({{"schema", "podsim.run/1"}, {"base", "base.json"}, {"axes", {one}}}, "/schema: expected");
    json typo = sweep_of({one});
    typo["seed"] = {1};
    check_refused(typo, "nearest valid name: seeds");
    check_refused(sweep_of({{{"name", "b"}, {"pointer", "/seed"}}}), "/axes/0/values: expected an array");
    check_refused(sweep_of({{{"name", "b"}, {"values", {1}}}}), "/axes/0/pointer: expected");
    check_refused(sweep_of({{{"pointer", "/seed"}, {"values", {1}}}}), "/axes/0/name: expected");
    check_refused(sweep_of({{{"name", "b"}}}), "found none of them");
    check_refused(sweep_of({axis("b", "seed", {1})}), "/axes/0/pointer: expected a JSON pointer");
    check_refused(sweep_of({axis("b", "/seed", json::array())}), "/axes/0/values: expected");
    check_refused(sweep_of({one, one}), "found \"b\" twice");
    check_refused(sweep_of({one, axis("c", "/workload/batch_size", {8})}),
                  "/axes/1/values/0: expected a value that no other axis sets");
    check_refused(sweep_of({one, {{"name", "r"}, {"variants", {{{"name", "v"}, {"set", {{"/workload", 1}}}}}}}}),
                  "another axis sets /workload/batch_size");
    json two_seeds = sweep_of({axis("mine", "/seed", {1})});
    two_seeds["seeds"] = {2};
    check_refused(two_seeds, "/seeds/0: expected a value that no other axis sets");
    check_refused(sweep_of({axis("total_us", "/seed", {1})}), "found \"total_us\"");
    check_refused(sweep_of({axis("host_x", "/seed", {1})}), "found \"host_x\"");
    check_refused(sweep_of({{{"zip", {axis("a", "/seed", {1, 2}), axis("c", "/calls", {1})}}}}),
                  "/axes/0/zip/1/values: expected 2 values");
    const json variant = {{"name", "v"}, {"set", json::object()}};
    check_refused(sweep_of({{{"name", "r"}, {"variants", {variant, variant}}}}), "/axes/0/variants/1/name: expected");
    json both = one;
    both["variants"] = {variant};
    check_refused(sweep_of({both}), "found more than one of them");
    json seeds = sweep_of({axis("seed", "/seed", {1})});
    seeds["seeds"] = {1, 2};
    check_refused(seeds, "found \"seed\" twice");
}

TEST_CASE("sweep: a folder with other things in it is refused, and nothing that is not a point's is touched") {
    const Bench bench(sweep_of({axis("batch_size", "/workload/batch_size", {1, 2})}));
    const auto refused = [&](const std::string& out, const std::vector<std::string>& more,
                             const std::string& contains) {
        const ProgramResult run = bench.run(out, more);
        CAPTURE(run.err);
        check_one_message(run, 2);
        CHECK(run.err.find(contains) != std::string::npos);
    };
    // Not a sweep's: somebody's files, or somebody's points.
    fs::create_directories(bench.dir.file("mine/points/0000"));
    bench.dir.write("mine/points/0000/thesis.txt", "all my work");
    bench.dir.write("mine/results.csv", "my table");
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--resume"}}) {
        refused("mine", more, "expected a new or empty folder, or one of an earlier podsim sweep");
    }
    bench.dir.write("mine/sweep.json", "{\"schema\": \"other/1\"}");
    refused("mine", {}, "no sweep.json of a sweep");
    CHECK(bench.dir.read("mine/points/0000/thesis.txt") == "all my work");
    CHECK(bench.dir.read("mine/results.csv") == "my table");

    // A sweep's, with something of somebody's in the place of a point: told before anything is removed.
    REQUIRE(bench.run("out").exit_code == 0);
    const std::string table = bench.dir.read("out/results.csv");
    bench.dir.write("out/points/0001/notes.txt", "what I saw");
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--resume"}}) {
        refused("out", more,
                "points/0001: expected nothing, or what podsim run --out has written, found \"notes.txt\" in it");
    }
    CHECK(bench.dir.read("out/results.csv") == table);
    CHECK(bench.dir.read("out/points/0001/notes.txt") == "what I saw");
    CHECK(fs::exists(bench.dir.file("out/points/0000/result.json")));
    fs::remove(bench.dir.file("out/points/0001/notes.txt"));
    fs::create_directory(bench.dir.file("out/points/0001/plots"));
    refused("out", {}, "\"plots\" in it");
    fs::remove(bench.dir.file("out/points/0001/plots"));
    fs::remove_all(bench.dir.file("out/points/0000"));
    fs::create_directory_symlink(bench.dir.file("mine"), bench.dir.file("out/points/0000"));
    refused("out", {}, "a symbolic link");
    fs::remove(bench.dir.file("out/points/0000"));

    // Other names, and numbers beyond this sweep's, are nobody's way; old points of ours beyond it go.
    for (const char* name : {"0007", "00001", "1", "best"}) {
        fs::create_directory(bench.dir.file(std::string("out/points/") + name));
        bench.dir.write(std::string("out/points/") + name + "/thesis.txt", "x");
    }
    fs::copy(bench.dir.file("out/points/0001"), bench.dir.file("out/points/0009"));
    REQUIRE(bench.run("out").exit_code == 0);
    for (const char* name : {"0007", "00001", "1", "best"}) {
        CHECK(bench.dir.read(std::string("out/points/") + name + "/thesis.txt") == "x");
    }
    CHECK_FALSE(fs::exists(bench.dir.file("out/points/0009")));
    CHECK(column(bench.table("out"), "status") == std::vector<std::string>{"ok", "ok"});
}

TEST_CASE("sweep: settings that change nothing are told once, with their points") {
    const Bench bench(sweep_of({axis("count_cores", "/algorithm/count_cores", {0, 1, 2}),
                                axis("barrier", "/algorithm/options/token_barrier", {true})}));
    const ProgramResult run = bench.run("out");
    REQUIRE(run.exit_code == 0);
    CHECK(run.err ==
          "podsim: note: /algorithm/count_cores has no effect unless early_counts is true (point 1 and 1 more)\n");
    CHECK(bench.dir.read("out/points/0001/messages.txt") ==
          "podsim: note: /algorithm/count_cores has no effect unless early_counts is true\n");
    CHECK_FALSE(fs::exists(bench.dir.file("out/points/0000/messages.txt")));
}

TEST_CASE("sweep: mistakes on the command line") {
    const Bench bench(sweep_of({axis("b", "/workload/batch_size", {1})}));
    check_one_message(podsim_program({"sweep", bench.file}), 2);
    check_one_message(podsim_program({"sweep", "--out", bench.dir.file("out")}), 2);
    check_one_message(bench.run("out", {"--jobs", "0"}), 2);
    check_one_message(bench.run("out", {"--jobs", "two"}), 2);
    check_one_message(bench.run("out", {"--jobs", "99999"}), 2);
    check_one_message(bench.run("out", {"--resumee"}), 2);
    check_one_message(bench.run("sweep.json"), 3);
    check_one_message(podsim_program({"sweep", bench.dir.file("gone.json"), "--out", bench.dir.file("out")}), 3);
    fs::remove(bench.dir.file("base.json"));
    check_one_message(bench.run("out"), 3);
}

TEST_CASE("sweep: every shipped sweep runs, with 8 cards and one token a card") {
    std::size_t seen = 0;
    const auto shrink = [](json& axis) {
        for (const auto& [pointer, least] : {std::pair{"/cards", 8}, std::pair{"/workload/batch_size", 1}}) {
            if (axis.value("pointer", "") == pointer) {
                axis["values"] = std::vector<int>(axis["values"].size(), least);
            }
        }
    };
    for (const auto& entry : fs::directory_iterator(repository("configs/sweeps"))) {
        CAPTURE(entry.path().string());
        json sweep = json::parse(std::ifstream(entry.path()));
        json config = json::parse(std::ifstream(entry.path().parent_path() / sweep["base"].get<std::string>()));
        config["machine"] = repository("configs/machines/atlas_a3_pod.json");
        config["cards"] = 8;
        config["workload"]["batch_size"] = 1;
        config["workload"]["hidden"] = 512;
        for (json& axis : sweep["axes"]) {
            shrink(axis);
            if (axis.contains("zip")) {
                std::for_each(axis["zip"].begin(), axis["zip"].end(), shrink);
            }
        }
        sweep["base"] = "base.json";
        const TempDir dir;
        dir.write("base.json", config.dump());
        const ProgramResult run =
            podsim_program({"sweep", dir.write("sweep.json", sweep.dump()), "--out", dir.file("out")},
                           {.timeout = std::chrono::seconds(240)});
        CAPTURE(run.err);
        CHECK(run.exit_code == 0);
        CHECK(run.err.empty());  // no setting without effect, either
        for (const std::string& status : column(csv_table(dir.read("out/results.csv")), "status")) {
            CHECK(status == "ok");
        }
        ++seen;
    }
    CHECK(seen >= 4);
}
