// SPDX-License-Identifier: Apache-2.0
/// --out of every command: what is in the way and not podsim's own stays as it is, whatever its name and kind.
#include "tests/cli/compare_support.hpp"

#include <sys/stat.h>
#include <filesystem>
#include <fstream>

using namespace podsim::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A quick config; `timeline`: with a trace.json that is larger than the other files.
json quick(const char* timeline = "off") {
    json config = json::parse(std::ifstream(smoke()));
    config["machine"] = repository("configs/machines/atlas_a3_pod.json");
    config["algorithm"]["aiv_cores"] = 6;
    config["check"]["hazards"] = "off";
    config["observe"]["timeline"] = timeline;
    return config;
}

/// A sweep of one point over `base`.
std::string sweep_file(const TempDir& dir, const std::string& base) {
    return dir.write("plan.json",
                     json{{"schema", "podsim.sweep/1"},
                          {"base", base},
                          {"axes", {{{"name", "b"}, {"pointer", "/workload/batch_size"}, {"values", {2}}}}}}
                         .dump());
}

/// The command is refused, and `file` is what it was.
void check_kept(const TempDir& dir, const std::string& file, const std::vector<std::string>& arguments) {
    const std::string before = dir.read(file);
    const ProgramResult run = podsim_program(arguments);
    CAPTURE(file, run.err);
    check_one_message(run, 2);
    CHECK(run.err.find("expected nothing, or what podsim") != std::string::npos);
    CHECK(dir.read(file) == before);
}

}  // namespace

TEST_CASE("nothing lost: run replaces nothing that no run has written, and nothing that it reads") {
    const auto refused = [](const TempDir& dir, const std::string& config, const char* name,
                            const std::vector<std::string>& more = {}) {
        const std::string before = dir.read(name);
        std::vector<std::string> arguments{"run", config, "--out", dir.path()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const ProgramResult run = podsim_program(arguments);
        check_one_message(run, 2);
        CHECK(run.err.find(dir.file(name) + ": expected nothing, or what podsim run --out has written") !=
              std::string::npos);
        CHECK(run.err.find("choose another --out") != std::string::npos);
        CHECK(dir.read(name) == before);
    };
    for (const char* name : {"config.json", "cores.csv", "trace.json", "stamps.txt", "result.json"}) {
        for (const char* text : {"somebody's", "{}", "[]", R"({"schema": "podsim.compare/1"})"}) {
            const TempDir dir;
            dir.write(name, text);
            refused(dir, smoke(), name);
        }
    }
    {
        // Beside a run's config.
        const TempDir dir;
        fs::copy_file(smoke(), dir.file("config.json"));
        for (const char* mine : {R"({"accuracy": 1})", R"({"loss": NaN})", R"({"schema": "podsim.result/1)"}) {
            dir.write("result.json", mine);
            refused(dir, smoke(), "result.json");
        }
    }
    for (const bool folder : {false, true}) {
        // Neither a folder nor a FIFO, which nobody writes to, is a file of a run.
        const TempDir dir;
        const std::string path = dir.file("result.json");
        REQUIRE((folder ? ::mkdir(path.c_str(), 0700) : ::mkfifo(path.c_str(), 0600)) == 0);
        check_one_message(podsim_program({"run", smoke(), "--out", dir.path()}), 2);
        CHECK(fs::exists(path));
    }
    {
        // A machine file with the name of a file of the result.
        const TempDir dir;
        REQUIRE(podsim_program({"run", smoke(), "--out", dir.path()}).exit_code == 0);
        fs::copy_file(repository("configs/machines/atlas_a3_pod.json"), dir.file("trace.json"));
        refused(dir, smoke(), "trace.json", {"--set", "/machine=" + dir.file("trace.json")});
        refused(dir, smoke(), "trace.json",
                {"--set", "/machine=" + dir.file("trace.json"), "--set", "/machine/name=mine"});
        // One that the config names and another --set replaces.
        json named = json::parse(std::ifstream(smoke()));
        named["machine"] = dir.file("trace.json");
        refused(dir, dir.write("own.json", named.dump()), "trace.json",
                {"--set", "/machine=" + repository("configs/machines/atlas_a3_pod.json")});
    }
    {
        // A config of one's own, beside an earlier result too; a link to it is no file of the folder.
        const TempDir dir;
        REQUIRE(podsim_program({"run", smoke(), "--out", dir.path()}).exit_code == 0);
        json own = json::parse(dir.read("config.json"));
        own.erase("limits");
        dir.write("config.json", own.dump());
        refused(dir, dir.file("config.json"), "config.json", {"--set", "/seed=2"});
        fs::rename(dir.file("config.json"), dir.file("own.json"));
        fs::create_symlink("own.json", dir.file("config.json"));
        refused(dir, smoke(), "config.json");
    }
    {
        // A routing table with the name of a file of the result.
        const TempDir dir;
        REQUIRE(podsim_program({"run", smoke(), "--out", dir.path()}).exit_code == 0);
        std::string table;
        for (int token = 0; token < 8 * 8; ++token) {
            table += "0,1,2,3\n";
        }
        dir.write("cards.csv", table);
        refused(dir, smoke(), "cards.csv",
                {"--set", "/workload/routing/kind=file", "--set", "/workload/routing/path=" + dir.file("cards.csv")});
    }
}

TEST_CASE("nothing lost: compare replaces runs, but none that it reads") {
    const Pair pair;
    const TempDir& dir = pair.dir;
    const std::string out = dir.file("out");
    for (const char* side : {"a", "b"}) {
        fs::create_directories(out + "/" + side);
    }
    const std::string config = dir.write("config.json", quick().dump());
    const std::string other = dir.file("b");
    // A file of the right name with no result beside it.
    for (const char* name : {"out/a/cores.csv", "out/a/messages.txt", "out/a/config.json"}) {
        dir.write(name, "{}");
        check_kept(dir, name, {"compare", config, other, "--different-workloads", "--out", out});
        fs::remove(dir.file(name));
    }
    // A config, a machine file, a result of this very comparison where an earlier run has left its files.
    fs::copy(pair.a, out + "/a");
    fs::copy(pair.b, out + "/b");
    check_kept(dir, "out/a/config.json",
               {"compare", out + "/a/config.json", other, "--different-workloads", "--out", out});
    fs::copy_file(repository("configs/machines/atlas_a3_pod.json"), out + "/b/trace.json");
    json with_machine = quick();
    with_machine["machine"] = out + "/b/trace.json";
    check_kept(dir, "out/b/trace.json",
               {"compare", pair.a, dir.write("m.json", with_machine.dump()), "--different-workloads", "--out", out});
    for (const char* of_result : {"out/b/result.json", "out/b/cores.csv"}) {
        check_kept(dir, of_result, {"compare", out + "/b", config, "--different-workloads", "--out", out});
    }
    // What no one reads is replaced.
    const std::string before = dir.read("out/a/result.json");
    REQUIRE(podsim_program({"compare", config, other, "--different-workloads", "--out", out}).exit_code == 0);
    CHECK(dir.read("out/a/result.json") != before);
}

TEST_CASE("nothing lost: sweep replaces its own points and table, but nothing that it reads") {
    const TempDir dir;
    const std::string out = dir.file("out");
    const std::string plan = sweep_file(dir, dir.write("base.json", quick().dump()));
    REQUIRE(podsim_program({"sweep", plan, "--out", out}).exit_code == 0);
    const auto kept = [&](const std::string& file, const std::string& sweep) {
        check_kept(dir, file, {"sweep", sweep, "--out", out});
        check_kept(dir, file, {"sweep", sweep, "--out", out, "--resume"});
    };
    kept("out/points/0000/config.json", sweep_file(dir, out + "/points/0000/config.json"));
    fs::copy_file(repository("configs/machines/atlas_a3_pod.json"), out + "/points/0000/trace.json");
    json with_machine = quick();
    with_machine["machine"] = out + "/points/0000/trace.json";
    kept("out/points/0000/trace.json", sweep_file(dir, dir.write("m.json", with_machine.dump())));
    fs::remove(out + "/points/0000/trace.json");
    const std::string table = dir.read("out/results.csv");
    dir.write("out/results.csv", quick().dump());
    kept("out/results.csv", sweep_file(dir, out + "/results.csv"));
    sweep_file(dir, dir.file("base.json"));
    // Somebody's table beside a sweep's plan, and a plan from which no sweep has been run.
    for (const char* mine : {"total,phase\n1,2\n", "", "point,measured_us\n1,2\n"}) {
        dir.write("out/results.csv", mine);
        kept("out/results.csv", plan);
    }
    fs::create_directory(dir.file("plans"));
    dir.write("plans/sweep.json", json::parse(dir.read("plan.json")).dump(4));
    check_kept(dir, "plans/sweep.json", {"sweep", plan, "--out", dir.file("plans")});
    fs::create_directory(dir.file("plans/points"));
    dir.write("plans/points/notes.txt", "mine");
    check_kept(dir, "plans/sweep.json", {"sweep", plan, "--out", dir.file("plans")});
    CHECK(podsim_program({"sweep", dir.file("plans/sweep.json"), "--out", dir.file("plans")}).exit_code == 0);
    dir.write("out/results.csv", table);
    // Notes of somebody's where a point has been, and links.
    fs::rename(out + "/points/0000", dir.file("point"));
    fs::create_directory(out + "/points/0000");
    dir.write("out/points/0000/messages.txt", "mine");
    kept("out/points/0000/messages.txt", plan);
    fs::remove_all(out + "/points/0000");
    fs::copy(dir.file("point"), out + "/points/0000");
    fs::rename(out + "/points/0000/cards.csv", dir.file("cards.csv"));
    fs::create_symlink(dir.file("cards.csv"), out + "/points/0000/cards.csv");
    kept("out/points/0000/cards.csv", plan);
    fs::rename(out + "/points", dir.file("elsewhere"));
    fs::create_directory_symlink(dir.file("elsewhere"), out + "/points");
    kept("elsewhere/0000/result.json", plan);
    fs::remove(out + "/points");
    for (const bool link : {true, false}) {
        fs::remove(out + "/results.csv");
        dir.write("notes.txt", table);
        link ? fs::create_symlink(dir.file("notes.txt"), out + "/results.csv")
             : static_cast<void>(fs::create_directory(out + "/results.csv"));
        check_kept(dir, "notes.txt", {"sweep", plan, "--out", out});
    }
    fs::remove(out + "/results.csv");
    // A link, a FIFO and a folder where a folder of points should be; the plan in DIR stays.
    fs::remove(out + "/results.csv");
    dir.write("out/results.csv", table);
    const std::string other = dir.write("other.json", json::parse(dir.read("plan.json")).dump(3));
    for (const int kind : {0, 1, 2}) {
        CAPTURE(kind);
        if (kind == 0) {
            fs::create_symlink("points", out + "/points");
        } else if (kind == 1) {
            REQUIRE(::mkfifo((out + "/points").c_str(), 0600) == 0);
        } else {
            dir.write("out/points", "mine");
        }
        check_kept(dir, "out/sweep.json", {"sweep", other, "--out", out});
        CHECK(dir.read("out/results.csv") == table);
        fs::remove(out + "/points");
    }
    // The name that only podsim uses, taken by a link: not written through.
    fs::create_symlink(dir.file("notes.txt"), out + "/.podsim-half");
    CHECK(podsim_program({"sweep", plan, "--out", out}).exit_code == 0);
    CHECK(dir.read("notes.txt") == table);
    CHECK(dir.read("out/sweep.json") == dir.read("plan.json"));
    CHECK(fs::is_regular_file(fs::symlink_status(out + "/sweep.json")));
}

TEST_CASE("nothing lost: sweep keeps what only an axis names, and a base in a point beyond its own") {
    std::string table;
    for (int token = 0; token < 8 * 8; ++token) {
        table += "0,1,2,3\n";
    }
    for (const char* place :
         {"out/points/0000/cards.csv", "out/points/0001/cards.csv", "out/results.csv", "out/points/0001/config.json"}) {
        const TempDir dir;
        const std::string out = dir.file("out");
        const std::string plan = sweep_file(dir, dir.write("base.json", quick().dump()));
        REQUIRE(podsim_program({"sweep", plan, "--out", out}).exit_code == 0);
        fs::copy(out + "/points/0000", out + "/points/0001");
        const bool routing = std::string(place).find(".csv") != std::string::npos;
        json base = quick();
        json axis{{"name", "b"}, {"pointer", "/workload/batch_size"}, {"values", {2}}};
        if (routing) {
            dir.write(place, table);
            base["workload"]["routing"] = {{"kind", "file"}, {"path", "routes.csv"}};
            axis = {{"name", "r"}, {"pointer", "/workload/routing/path"}, {"values", {dir.file(place)}}};
        }
        const std::string of = routing ? dir.write("routed.json", base.dump()) : dir.file(place);
        const std::string before = dir.read(place);
        const std::string file =
            dir.write("by_axis.json", json{{"schema", "podsim.sweep/1"}, {"base", of}, {"axes", {axis}}}.dump());
        for (const bool resume : {true, false}) {
            CAPTURE(place, resume);
            std::vector<std::string> arguments{"sweep", file, "--out", out};
            arguments.insert(arguments.end(), resume ? 1 : 0, "--resume");
            podsim_program(arguments);  // refused, or done without it
            REQUIRE(fs::exists(dir.file(place)));
            CHECK(dir.read(place) == before);
        }
    }
}

TEST_CASE("nothing lost: sweep keeps what a set names that is not valid without others, or beside one that fails") {
    std::string table;
    for (int token = 0; token < 8 * 8; ++token) {
        table += "0,1,2,3\n";
    }
    const json edit{{"plane", 0}, {"rate_scale", 1.0}};
    const std::vector<std::pair<json, json>> cases{
        {{{"name", "e"}, {"pointer", "/machine/topology/edits/-"}, {"values", {edit}}},
         {{"/machine/topology/edits/0/rate_scale", 0.5}}},
        {{{"name", "b"}, {"pointer", "/workload/batch_size"}, {"values", {2}}}, {{"/machine", "nosuch.json"}}}};
    for (const auto& [axis, other] : cases) {
        const TempDir dir;
        const std::string out = dir.file("out");
        json base = quick();
        base["workload"]["routing"] = {{"kind", "file"}, {"path", "routes.csv"}};
        dir.write("routes.csv", table);
        const std::string of = dir.write("base.json", base.dump());
        REQUIRE(podsim_program({"sweep", sweep_file(dir, of), "--out", out}).exit_code == 0);
        dir.write("out/points/0000/cards.csv", table);
        json set = other;
        set["/workload/routing/path"] = dir.file("out/points/0000/cards.csv");
        const std::string plan = dir.write(
            "named.json", json{{"schema", "podsim.sweep/1"},
                               {"base", of},
                               {"axes", {axis, {{"name", "v"}, {"variants", {{{"name", "v"}, {"set", set}}}}}}}}
                              .dump());
        check_kept(dir, "out/points/0000/cards.csv", {"sweep", plan, "--out", out});
    }
}

TEST_CASE("nothing lost: a sweep's plan may come through a pipe, and DIR has all of it") {
    const TempDir dir;
    const std::string plan = sweep_file(dir, dir.write("base.json", quick().dump()));
    for (const char* script :
         {"cat \"$1\" | exec \"$0\" sweep /dev/stdin --out \"$2\"",
          "mkfifo \"$1.fifo\"; cat \"$1\" >\"$1.fifo\" & exec \"$0\" sweep \"$1.fifo\" --out \"$2\""}) {
        CHECK(run_program({"/bin/sh", "-c", script, PODSIM_PROGRAM, plan, dir.file("out")}).exit_code == 0);
        CHECK(dir.read("out/sweep.json") == dir.read("plan.json"));
    }
}

TEST_CASE("nothing lost: a sweep that was ended before it had written its plan can be begun again") {
    const TempDir dir;
    const std::string plan = sweep_file(dir, dir.write("base.json", quick().dump()));
    const char* script = "ulimit -f 0; exec \"$0\" sweep \"$1\" --out \"$2\"";
    fs::create_directory(dir.file("out"));
    run_program({"/bin/sh", "-c", script, PODSIM_PROGRAM, plan, dir.file("out")});
    REQUIRE(fs::exists(dir.file("out/.podsim-half")));
    CHECK(podsim_program({"sweep", plan, "--out", dir.file("out"), "--resume"}).exit_code == 0);
    CHECK_FALSE(fs::exists(dir.file("out/.podsim-half")));
}

TEST_CASE("nothing lost: validate keeps its figures and machine where an earlier run has left files") {
    const TempDir dir;
    REQUIRE(podsim_program({"run", dir.write("q.json", quick().dump()), "--out", dir.file("out/0000")}).exit_code == 0);
    for (const auto& [option, file] : {std::pair{"--published", "configs/validation/kernels.json"},
                                       std::pair{"--machine", "configs/machines/atlas_a3_pod.json"}}) {
        fs::copy_file(repository(file), dir.file("out/0000/trace.json"));
        check_kept(dir, "out/0000/trace.json",
                   {"validate", "--quick", option, dir.file("out/0000/trace.json"), "--out", dir.file("out")});
        fs::remove(dir.file("out/0000/trace.json"));
    }
}

TEST_CASE("nothing lost: a folder with the mark of unfinished files is podsim's, whatever is left of its files") {
    const TempDir dir;
    const std::string plan = sweep_file(dir, dir.write("base.json", quick().dump()));
    const std::string out = dir.file("out");
    REQUIRE(podsim_program({"sweep", plan, "--out", out}).exit_code == 0);
    // As a process leaves it that is killed while it removes.
    for (const char* name : {"result.json", "config.json", "cards.csv"}) {
        fs::remove(out + "/points/0000/" + name);
    }
    dir.write("out/points/0000/.podsim-unfinished", "");
    CHECK(podsim_program({"sweep", plan, "--out", out, "--resume"}).out.find("1 points: 1 ok;") != std::string::npos);
}

TEST_CASE("nothing lost: a config that is run where it lies survives a run that is cut off") {
    const TempDir dir;
    REQUIRE(podsim_program({"run", dir.write("q.json", quick().dump()), "--out", dir.file("r")}).exit_code == 0);
    fs::create_directory(dir.file("out"));
    fs::copy_file(dir.file("r/config.json"), dir.file("out/config.json"));
    const char* script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" run \"$1\" --out \"$2\"";
    CHECK(run_program({"/bin/sh", "-c", script, PODSIM_PROGRAM, dir.file("out/config.json"), dir.file("out")})
              .exit_code == 3);
    CHECK(dir.read("out/config.json") == dir.read("r/config.json"));
}

TEST_CASE("nothing lost: a file is written beside the one it replaces, under a name of podsim's own") {
    const TempDir dir;
    const std::string config = dir.write("config.json", quick().dump());
    dir.write("notes.txt", "mine");
    for (const bool link : {true, false}) {
        const std::string out = dir.file(link ? "link" : "fifo");
        const std::string name = out + "/.podsim-half";
        fs::create_directory(out);
        if (link) {
            fs::create_symlink(dir.file("notes.txt"), name);
        } else {
            REQUIRE(::mkfifo(name.c_str(), 0600) == 0);
        }
        CHECK(podsim_program({"run", config, "--out", out}).exit_code == 0);
        CHECK(std::distance(fs::directory_iterator(out), {}) == 5);  // the files of the run
    }
    CHECK(dir.read("notes.txt") == "mine");
}

TEST_CASE("nothing lost: the mark of unfinished files is not written through a link or into a FIFO") {
    const TempDir dir;
    const std::string mark = dir.file("out/.podsim-unfinished");
    fs::create_directory(dir.file("out"));
    fs::create_symlink(dir.write("notes.txt", "mine"), mark);
    check_kept(dir, "notes.txt", {"run", smoke(), "--out", dir.file("out")});
    fs::remove(mark);
    REQUIRE(::mkfifo(mark.c_str(), 0600) == 0);
    check_one_message(podsim_program({"run", smoke(), "--out", dir.file("out")}), 2);
}

TEST_CASE("nothing lost: a point whose files were cut off is run again, and its folder is podsim's") {
    for (const bool by_signal : {true, false}) {
        const TempDir dir;
        const std::string plan = sweep_file(dir, dir.write("base.json", quick("phases").dump()));
        const std::string out = dir.file("out");
        // Files of at most 64 KiB: enough for the result, too small for the timeline, which is written after it.
        const char* script = by_signal ? "ulimit -f 128; exec \"$0\" sweep \"$1\" --out \"$2\""
                                       : "trap '' XFSZ; ulimit -f 128; exec \"$0\" sweep \"$1\" --out \"$2\"";
        const ProgramResult cut = run_program({"/bin/sh", "-c", script, PODSIM_PROGRAM, plan, out});
        CAPTURE(cut.err, cut.out);
        CHECK(cut.out.find(by_signal ? "1 crashed" : "1 io_error") != std::string::npos);
        REQUIRE(fs::exists(out + "/points/0000/result.json"));
        CHECK_FALSE(fs::exists(out + "/points/0000/trace.json"));
        CHECK(fs::exists(out + "/points/0000/.podsim-half") == by_signal);
        CHECK(fs::exists(out + "/points/0000/.podsim-unfinished"));
        // Neither taken for done, nor for somebody else's.
        const ProgramResult again = podsim_program({"sweep", plan, "--out", out, "--resume"});
        CAPTURE(again.err);
        CHECK(again.out.find("1 points: 1 ok;") != std::string::npos);
        CHECK(json::parse(dir.read("out/points/0000/trace.json")).contains("traceEvents"));
        CHECK_FALSE(fs::exists(out + "/points/0000/messages.txt"));
        CHECK(podsim_program({"sweep", plan, "--out", out, "--resume"}).out.find("1 kept") != std::string::npos);
    }
}

TEST_CASE("nothing lost: a FIFO in a result's folder is told, not waited for") {
    const Pair pair;
    for (const char* name : {"a/cores.csv", "a/result.json"}) {
        fs::remove(pair.dir.file(name));
        REQUIRE(::mkfifo(pair.dir.file(name).c_str(), 0600) == 0);
        const ProgramResult run = podsim_program({"compare", pair.a, pair.b});
        check_one_message(run, 3);
        CHECK(run.err.find(std::string(name) + ": not a regular file") != std::string::npos);
    }
}

TEST_CASE("nothing lost: compare keeps its last comparison until the new one is whole, and takes no cut-off run") {
    const Pair pair;
    const TempDir& dir = pair.dir;
    const std::string out = dir.file("out");
    REQUIRE(podsim_program({"compare", pair.a, pair.b, "--out", out}).exit_code == 0);
    const std::string before = dir.read("out/compare.json");
    const char* script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" compare \"$1\" \"$2\" --out \"$3\" >/dev/null";
    REQUIRE(before.size() > 512);
    const ProgramResult cut = run_program({"/bin/sh", "-c", script, PODSIM_PROGRAM, pair.b, pair.a, out});
    check_one_message(cut, 3);
    CHECK(dir.read("out/compare.json") == before);
    CHECK(std::distance(fs::directory_iterator(out), {}) == 1);

    dir.write("a/.podsim-unfinished", "");
    const ProgramResult run = podsim_program({"compare", pair.a, pair.b});
    check_one_message(run, 2);
    CHECK(run.err.find("they are not") != std::string::npos);
}
