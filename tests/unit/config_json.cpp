// SPDX-License-Identifier: Apache-2.0
#include "sim/config/json_text.hpp"

#include "tests/support/temp_dir.hpp"
#include "tests/unit/config_support.hpp"

#include <filesystem>
#include <limits>

using namespace podsim;
using namespace podsim::test;
using nlohmann::json;

namespace {

struct Broken {
    const char* what;
    std::string text;
    std::string file;  ///< as the message names it
    std::string found;
    std::string hint;  ///< must be contained
};

}  // namespace

TEST_CASE("config json: broken texts give one message with their place", "[config]") {
    const std::vector<Broken> all{
        {"empty", "", "f", "an empty file", ""},
        {"white space", " \n\t", "f", "an empty file", ""},
        {"cut off", "{\"a\":1,", "f:1:8", "the end of the text", "cut off"},
        {"cut in a string", "{\"a\": \"x", "f:1:9", "the end of the text", "cut off"},
        {"binary", std::string("\x01\x00\x02", 3), "f", "binary data", ""},
        {"UTF-16", std::string("\xFF\xFE{\x00", 4), "f", "UTF-16 text", "UTF-8"},
        {"not UTF-8", "{\"a\": \"\xFF\"}", "f:1:8", "the byte 0xff", "UTF-8"},
        {"NaN", "{\"a\": NaN}", "f:1:7", "`NaN`", "NaN and Infinity"},
        {"Infinity", "{\n\"a\": -Infinity}", "f:2:7", "`-Infinity`", "NaN and Infinity"},
        {"huge", "[1e999]", "f:1:6", "`1e999`", ""},
        {"hexadecimal", "[0x10]", "f:1:3", "`0x10`", ""},
        {"comment", "{\n \"a\": 1\n // why\n}", "f:3:2", "`/`", "no comments"},
        {"trailing comma", "{\"a\": 1,}", "f:1:9", "`}`", "trailing comma"},
        {"single quotes", "{'a': 1}", "f:1:2", "`'`", "double quotes"},
        {"two documents", "{} {}", "f:1:4", "`{`", ""},
        {"open string", "{\"a\": \"x\n\"}", "f:1:9", "the end of the line", ""},
        {"duplicate key", "{\"a\": 1,\n \"a\": 2}", "f:2:4", "a second \"a\"", ""},
        {"duplicate key inside", "{\"b\": {\"a\": 1, \"a\": 2}}", "f:1:18", "a second \"a\"", ""},
        {"deep arrays", std::string(1'000'000, '['), "f:1:65", "more", ""},
        {"Git-LFS", "version https://git-lfs.github.com/spec/v1\n", "f", "a Git-LFS pointer", "git lfs pull"},
    };
    for (const Broken& broken : all) {
        INFO(broken.what);
        const ErrorDetail detail = user_error([&] { parse_json(broken.text, "f"); });
        CHECK(detail.file == broken.file);
        CHECK(detail.found == broken.found);
        CHECK(detail.hint.find(broken.hint) != std::string::npos);
        CHECK(detail.expected.find("nlohmann") == std::string::npos);
    }
}

TEST_CASE("config json: deep objects do not exhaust the stack", "[config]") {
    std::string text;
    for (int i = 0; i < 200'000; ++i) {
        text += "{\"a\":";
    }
    CHECK(user_error([&] { parse_json(text, "f"); }).found == "more");
    std::string legal(kMaxJsonDepth, '[');
    legal += std::string(kMaxJsonDepth, ']');
    CHECK(parse_json(legal, "f").is_array());
}

TEST_CASE("config json: values survive, whole numbers become integers", "[config]") {
    const json value =
        parse_json("\xEF\xBB\xBF{\"a\": [1, -2, 8.0, 1e3, 0.5, true, null, \"\\u00e9\"], \"b\": {}}", "f");
    CHECK(value == json{{"a", {1, -2, 8, 1000, 0.5, true, nullptr, "é"}}, {"b", json::object()}});
    CHECK(value["a"][2].is_number_integer());
    CHECK(value["a"][3].is_number_integer());
    CHECK(parse_json("[1e300]", "f")[0].is_number_float());
    CHECK(parse_json("[18446744073709551615]", "f")[0] == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("config json: files that cannot be read are exit 3 and name the absolute path", "[config]") {
    const TempDir dir;
    const auto io_error = [](const std::string& path) {
        try {
            read_json_file(path);
        } catch (const PodsimError& error) {
            CHECK(error.code() == ExitCode::io_error);
            return std::string(error.what());
        }
        FAIL("an IoError was expected");
        return std::string();
    };
    CHECK(io_error(dir.file("none.json")).find("no such file (looked for " + dir.path()) != std::string::npos);
    CHECK(io_error(dir.path()).find("found a directory") != std::string::npos);
    CHECK(io_error("no/such/relative.json").find("looked for /") != std::string::npos);
}

TEST_CASE("config json: a file is known by its schema only if it is whole, regular and says so", "[config]") {
    const TempDir dir;
    const std::string right = dir.write("right.json", R"({"schema": "podsim.x/1"})");
    CHECK(file_has_schema(right, "podsim.x/1"));
    CHECK_FALSE(file_has_schema(right, "podsim.x/2"));
    for (const char* text :
         {"", "{}", "[]", "3", R"({"schema": 3})", R"(["podsim.x/1"])", R"({"schema": "podsim.x/1")"}) {
        CAPTURE(text);
        CHECK_FALSE(file_has_schema(dir.write("other.json", text), "podsim.x/1"));
    }
    CHECK_FALSE(file_has_schema(dir.file("none.json"), "podsim.x/1"));
    CHECK_FALSE(file_has_schema(dir.path(), "podsim.x/1"));
    std::filesystem::create_symlink(right, dir.file("link.json"));
    CHECK_FALSE(file_has_schema(dir.file("link.json"), "podsim.x/1"));
}

TEST_CASE("config json: words for values, and pointers", "[config]") {
    CHECK(in_words(json::object()) == "an empty object");
    CHECK(in_words(json{{"a", 1}}) == "an object with 1 key");
    CHECK(in_words(json{1, 2}) == "an array of 2");
    CHECK(in_words("a\nb") == "\"a\\x0ab\"");
    CHECK(in_words(std::string(1000, 'x')).size() < 100);
    CHECK(join_pointer("/a", "b/c~d") == "/a/b~1c~0d");
}
