// SPDX-License-Identifier: Apache-2.0
/// podsim compare: the table of cores beside a result.
#include "tests/cli/compare_support.hpp"

#include <filesystem>
#include <sstream>

using namespace podsim::test;
namespace fs = std::filesystem;

TEST_CASE("compare: a cores.csv of another run is refused") {
    const Pair pair;
    fs::copy_file(pair.dir.file("a/cores.csv"), pair.dir.file("b/cores.csv"), fs::copy_options::overwrite_existing);
    const ProgramResult refused = podsim_program({"compare", pair.dir.file("a"), pair.dir.file("b")});
    check_one_message(refused, 2);
    CHECK(refused.err.find("b/cores.csv: expected") != std::string::npos);
    CHECK(refused.err.find("as result.json has it") != std::string::npos);
}

TEST_CASE("compare: a cores.csv that is cut off or changed is refused with its line") {
    const Pair pair;
    const std::string good = pair.dir.read("b/cores.csv");
    fs::create_directory(pair.dir.file("bad"));
    fs::copy(pair.b + "/result.json", pair.dir.file("bad/result.json"));
    const auto with = [&](const std::string& text) {
        pair.dir.write("bad/cores.csv", text);
        return compare_here(pair.a, pair.dir.file("bad"));
    };
    REQUIRE(with(good).exit_code == 0);
    std::vector<std::string> lines;
    std::istringstream stream(good);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    REQUIRE(lines.size() == 1 + 8 * 6);
    const auto joined = [](const std::vector<std::string>& parts, const char* end = "\n") {
        std::string text;
        for (const std::string& line : parts) {
            text += line + end;
        }
        return text;
    };
    CHECK(with(joined(lines, "\r\n")).exit_code == 0);  // as other editors leave it
    const auto edited = [&](std::size_t line, const std::string& text) {
        auto changed = lines;
        changed[line] = text;
        return joined(changed);
    };
    const auto field = [&](std::size_t line, std::size_t number, const std::string& text) {
        std::string out;
        std::istringstream fields(lines[line]);
        std::size_t i = 0;
        for (std::string value; std::getline(fields, value, ','); ++i) {
            out += (i > 0 ? "," : "") + (i == number ? text : value);
        }
        return edited(line, out);
    };
    auto fewer = lines, twice = lines, more = lines;
    fewer.pop_back();
    twice.back() = twice[1];
    more.push_back(lines.back());
    const struct {
        std::string text;
        const char* told;
    } kBad[] = {
        {"", "cores.csv:1: expected 48 rows: 1 calls x 8 cards x 6 cores, found an empty file"},
        {joined(fewer),
         "cores.csv:49: expected 48 rows: 1 calls x 8 cards x 6 cores, found the end of the file after 47"},
        {good.substr(0, good.size() - 1), "cores.csv:49: expected a line break"},
        {good.substr(0, good.size() - 3), "cores.csv:49: expected a line break"},
        {good.substr(0, good.size() - 40), "cores.csv:49: expected"},
        {joined(twice),
         "cores.csv:49: expected one row for each call, card and core, found call 0 card 0 core 0 again"},
        {joined(more), "cores.csv:50: expected one row for each"},
        {edited(3, ""), "cores.csv:4: expected"},
        {edited(3, lines[3] + ",1"), "cores.csv:4: expected"},
        {edited(3, "\"" + lines[3]), "cores.csv:4: expected comma-separated values"},
        {edited(0, "a,b"), "cores.csv:1: expected the columns call, card, core, role, start_us, end_us"},
        {edited(0, "call,card,core,role,start_us,end_us"), "cores.csv:1: expected a column for each sub-phase"},
        {edited(0, lines[0] + ",x"), "cores.csv:1: expected a column <group>.<part>_us, found \"x\""},
        {edited(0, lines[0] + ",init.setup_us"), "cores.csv:1: expected columns with different names"},
        {field(2, 0, "1"), "cores.csv:3: expected a call from 0 to 0, found \"1\""},
        {field(2, 1, "8"), "cores.csv:3: expected a card from 0 to 7"},
        {field(2, 1, "-1"), "cores.csv:3: expected a card from 0 to 7"},
        {field(2, 2, "0.5"), "cores.csv:3: expected a core from 0 to 5"},
        {field(2, 5, "-2"), "cores.csv:3: expected a time in us"},
        {field(2, 5, "0"), "cores.csv:3: expected an end_us at or after start_us"},
        {field(2, 7, "nan"), "cores.csv:3: expected a time in us, 0 or more, found \"nan\""},
        {field(2, 7, "1e400"), "cores.csv:3: expected a time in us"},
        {field(2, 7, ""), "cores.csv:3: expected a time in us"},
        {field(2, 7, "1.5x"), "cores.csv:3: expected a time in us"},
    };
    for (const auto& [text, told] : kBad) {
        const ProgramResult run = with(text);
        CAPTURE(told, run.err);
        check_one_message(run, 2);
        CHECK(run.err.find(told) != std::string::npos);
    }
}
