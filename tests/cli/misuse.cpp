// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/cli_support.hpp"

#include <fmt/format.h>

#include <filesystem>

using namespace podsim::test;

namespace {

void check_refused(const std::vector<std::string>& arguments, int exit_code, const std::string& contains) {
    std::string line = "podsim";
    for (const std::string& argument : arguments) {
        line += " " + argument.substr(0, 60);
    }
    CAPTURE(line);
    const ProgramResult result = podsim_program(arguments);
    check_one_message(result, exit_code);
    CHECK(result.err.find(contains) != std::string::npos);
}

}  // namespace

TEST_CASE("misuse: the command line") {
    check_refused({}, 2, "expected a command, found none");
    check_refused({"rnu", smoke()}, 2, "nearest valid name: run");
    check_refused({"chekc"}, 2, "nearest valid name: check");
    check_refused({"sweeep"}, 2, "expected a command");
    check_refused({smoke()}, 2, "expected a command");
    check_refused({""}, 2, "expected a command");
    check_refused({"--jsn"}, 2, "--jsn");
    check_refused({"run"}, 2, "expected CONFIG.json, found none");
    check_refused({"check"}, 2, "expected CONFIG.json, found none");
    check_refused({"compare"}, 2, "expected A and B, each a result or a config, found none");
    check_refused({"compare", "out/a"}, 2, "expected A and B, each a result or a config, found only \"out/a\"");
    check_refused({"run", ""}, 2, "an empty argument");
    check_refused({"run", smoke(), smoke()}, 2, "no further argument");
    check_refused({"run", smoke(), "--set"}, 2, "--set with exactly one value");
    check_refused({"run", "--set"}, 2, "--set with exactly one value");
    check_refused({"run", smoke(), "--out"}, 2, "--out with exactly one value");
    check_refused({"run", smoke(), "--out", ""}, 2, "--out");
    check_refused({"run", smoke(), "--out", "--json"}, 2, "--out with a folder's name, found \"--json\"");
    check_refused({"validate", "--machine", "--json"}, 2, "--machine with a file's name, found \"--json\"");
    check_refused({"run", smoke(), "--out", "a", "--out", "b"}, 2, "--out with exactly one value, once");
    check_refused({"check", smoke(), "--out", "a"}, 2, "expected an option of podsim check, found \"--out\"");
    check_refused({"run", smoke(), "--sett", "/cards=8"}, 2, "nearest valid name: --set");
    check_refused({"run", smoke(), "--sett=/cards=8"}, 2, "nearest valid name: --set");
    check_refused({"run", smoke(), "--json=maybe"}, 2, "expected");
    check_refused({"run", smoke(), "-q"}, 2, "-q");
    check_refused({"run", smoke(), "--set", "cards=8"}, 2, "the pointer starting with /");
    check_refused({"run", smoke(), "--set", "/cards"}, 2, "there is no =");
}

TEST_CASE("misuse: --set takes one value, so the config may follow it") {
    CHECK(podsim_program({"check", "--set", "/cards=8", "--set=/seed=2", smoke()}).exit_code == 0);
}

TEST_CASE("misuse: files that are not there or are no files") {
    const TempDir dir;
    check_refused({"run", dir.file("gone.json")}, 3, "no such file (looked for " + dir.path());
    check_refused({"run", dir.path()}, 3, "found a directory");
    check_refused({"run", smoke(), "--set", "/machine=gone.json"}, 3, "gone.json: no such file");
    const std::vector<std::string> trace{"run", smoke(), "--set", "/workload/routing/kind=file", "--set"};
    const auto with_trace = [&](const std::string& path) {
        auto arguments = trace;
        arguments.push_back("/workload/routing/path=" + path);
        return arguments;
    };
    check_refused(with_trace(dir.file("gone.jsonl")), 3, "gone.jsonl");
    const TempDir folder;
    std::filesystem::create_directory(folder.file("t.jsonl"));
    check_refused(with_trace(folder.file("t.jsonl")), 3, "t.jsonl");
    check_refused(with_trace(dir.path()), 2, "podsim: --set: /workload/routing/path: ");
    check_refused(
        with_trace(dir.write("lfs.jsonl", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")), 2,
        "LFS");
    check_refused(with_trace(dir.write("empty.jsonl", "")), 2, "empty.jsonl");
}

TEST_CASE("misuse: link rates that would have to be cut are refused, also where edits multiply") {
    const std::string edits = "/machine/topology/edits=";
    const std::string slow = R"({"kind":"slow","from":"card0","to":"l1.n0.p2","rate_scale":)";
    check_refused({"check", smoke(), "--set", edits + "[" + slow + "1e-12}]"}, 2,
                  "/machine/topology/edits/0/rate_scale: expected a number from 0.001 to 1000, found 1e-12");
    check_refused({"run", smoke(), "--set", edits + "[" + slow + "0.02}," + slow + "0.02}]"}, 2,
                  "--set: /machine/topology/edits: expected links at 0.001 to 1000 times their rate");
    check_refused({"run", smoke(), "--set", edits + "[" + slow + "100}," + slow + "100}]"}, 2, "card0 - l1.n0.p2");
    CHECK(podsim_program({"run", smoke(), "--set", edits + "[" + slow + "0.05}," + slow + "0.02}]"}).exit_code == 0);
}

TEST_CASE("misuse: check refuses of the fabric what run refuses, in the same words") {
    const std::string remove = R"({"kind":"remove",)", add = R"({"kind":"add",)", slow = R"({"kind":"slow",)";
    const auto ends = [](const std::string& from, const std::string& to) {
        return "\"from\":\"" + from + "\",\"to\":\"" + to + "\"";
    };
    std::vector<std::string> all_planes, all_ports;
    for (int plane = 0; plane < 7; ++plane) {
        all_planes.push_back(fmt::format(R"({}"plane":{}}})", remove, plane));
        all_ports.push_back(fmt::format("{}{}}}", remove, ends("card3", fmt::format("l1.n0.p{}", plane))));
    }
    const std::string edge = ends("card0", "l1.n0.p0");
    const std::vector<std::string> wrong{
        R"({"kind":"remove"})",
        R"({"kind":"remove","from":"card0"})",
        R"({"kind":"slow","to":"card0","rate_scale":0.5})",
        remove + "\"plane\":7}",
        remove + ends("card0", "card0") + "}",
        remove + ends("card0", "l1.n0.p9") + "}",
        remove + ends("card0", "l1.n1.p0") + "}",
        remove + ends("card0", "card1") + ",\"plane\":2}",
        remove + edge + ",\"plane\":1}",
        remove + edge + "}," + remove + edge + "}",
        remove + edge + "}," + slow + edge + ",\"rate_scale\":0.5}",
        slow + edge + ",\"rate_scale\":0.02}," + slow + edge + ",\"rate_scale\":0.02}",
        add + "\"plane\":2}",
        add + edge + "}",
        add + ends("card0", "card2") + "}",
        add + ends("l1.n0.p0", "l2.p1.k0") + "}",
        add + ends("l1.n0.p0", "relay") + "}",
        add + ends("relay", "tower") + "}",
        fmt::format("{}", fmt::join(all_planes, ",")),
        fmt::format("{}", fmt::join(all_ports, ",")),
    };
    for (const std::string& edits : wrong) {
        CAPTURE(edits);
        const std::string set = "/machine/topology/edits=[" + edits + "]";
        const ProgramResult check = podsim_program({"check", smoke(), "--set", set});
        check_one_message(check, 2);
        CHECK(check.err.find("--set: /machine/topology") != std::string::npos);
        CHECK(podsim_program({"run", smoke(), "--set", set}).err == check.err);
    }
    const std::vector<std::string> right{
        remove + edge + "}," + add + edge + "}",
        remove + ends("card0", "card1") + "}",
        remove + "\"plane\":6}",
        add + ends("relay", "l1.n0.p0") + "}," + add + ends("relay", "l1.n1.p0") + "}",
        slow + edge + ",\"extra_latency_ns\":100}",
    };
    for (const std::string& edits : right) {
        CAPTURE(edits);
        const std::string set = "/machine/topology/edits=[" + edits + "]";
        CHECK(podsim_program({"check", smoke(), "--set", set}).exit_code == 0);
        CHECK(podsim_program({"run", smoke(), "--set", set}).exit_code == 0);
    }
}

TEST_CASE("misuse: --out is tried before the run") {
    const TempDir dir;
    const std::string file = dir.write("file", "x");
    check_refused({"run", smoke(), "--out", file}, 3, "found a file");
    check_refused({"run", smoke(), "--out", file + "/below"}, 3, "--out");
    check_refused({"run", smoke(), "--out", "/proc/podsim"}, 3, "--out");
}

TEST_CASE("misuse: texts that are no config") {
    const TempDir dir;
    const std::string deep(1'000'000, '[');
    struct Text {
        std::string text;
        const char* contains;
    };
    const std::vector<Text> all{{"", "an empty file"},
                                {"{\"cards\": 8,", "cut off"},
                                {std::string("\x7f"
                                             "ELF\x00\x01",
                                             6),
                                 "binary data"},
                                {deep, "64 levels"},
                                {"{\"cards\": 8, \"cards\": 8}", "a second \"cards\""},
                                {"{\"cards\": NaN}", "NaN and Infinity"},
                                {"{\"cards\": 1e999}", "1e999"},
                                {"[]", "expected an object"},
                                {"null", "expected an object"},
                                {"\"x\"", "expected an object"},
                                {"{}", "/cards"},
                                {"{\"crads\": 8}", "nearest valid name: cards"},
                                {"\xEF\xBB\xBF{\"crads\": 8}", "nearest valid name: cards"},
                                {"{\"schema\": \"podsim.sweep/1\"}", "expected \"podsim.run/1\""},
                                {"not json", "valid JSON"}};
    for (const Text& text : all) {
        CAPTURE(text.text.substr(0, 40));
        const std::string path = dir.write("x.json", text.text);
        check_refused({"check", path}, 2, text.contains);
        check_refused({"run", path, "--json"}, 2, path);
    }
}

TEST_CASE("misuse: a message is one line whatever a name contains") {
    check_refused({"check", smoke(), "--set", "/a\nb\x1b[31m=1"}, 2, "\\x0a");
    check_refused({"check", smoke(), "--set", "/" + std::string(100'000, 'k') + "=1"}, 2, "unknown key");
    check_refused({"check", "no\nsuch"}, 3, "\\x0a");
}

TEST_CASE("misuse: the place named for a misplaced key is one that --set takes") {
    struct Place {
        const char *wrong, *right;
    };
    for (const Place& key : {Place{"/workload/cards", "/cards"}, Place{"/top_k", "/workload/top_k"},
                             Place{"/machine/hccs/planes", "/machine/topology/planes"},
                             Place{"/machine/memory/ub_bytes", "/machine/core/ub_bytes"}}) {
        CAPTURE(key.wrong);
        check_refused({"check", smoke(), "--set", fmt::format("{}=x", key.wrong)}, 2,
                      fmt::format("a key of that name is known at {})", key.right));
        // Refused for its value, which is a text, not for its name.
        check_refused({"check", smoke(), "--set", fmt::format("{}=x", key.right)}, 2, "found \"x\"");
    }
}
