// SPDX-License-Identifier: Apache-2.0
// Every way in which a routing file can be unusable ends in one message that names the place.
#include "algorithms/routing/npy_header.hpp"
#include "algorithms/routing/routing.hpp"
#include "models/engine/error.hpp"
#include "tests/support/temp_dir.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace podsim;
using Catch::Contains;
using podsim::test::TempDir;

namespace {

const std::string kData = PODSIM_SOURCE_DIR "/tests/unit/data/";

class Files {
public:
    /// The message with which a file of this name and text is refused; "accepted" when it is not. `code` tells
    /// UserError from IoError.
    std::string refusal(const std::string& name, const std::string& text,
                        std::optional<std::int64_t> layer = std::nullopt) {
        return refusal_of(dir_.write(name, text), layer);
    }

    std::string refusal_of(const std::string& path, std::optional<std::int64_t> layer = std::nullopt) {
        Workload w;
        w.cards = 2;
        w.batch_size = 2;
        w.top_k = 2;
        w.experts = 16;
        RoutingSpec spec;
        spec.kind = RoutingKind::file;
        spec.path = path;
        spec.layer = layer;
        try {
            make_routing(spec, w, 0);
        } catch (const PodsimError& e) {
            code = e.code();
            std::string what = e.what();
            CHECK(what.find('\n') == std::string::npos);
            CHECK(what.size() < 700);
            return what;
        }
        return "accepted";
    }

    std::string path(const std::string& name) const { return dir_.file(name); }
    const TempDir& dir() const { return dir_; }

    ExitCode code = ExitCode::ok;

private:
    TempDir dir_;
};

std::string read_file(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

/// A version 1 file around a header dictionary.
std::string npy(const std::string& dictionary, const std::string& data) {
    const auto length = static_cast<unsigned>(dictionary.size());
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length & 0xFFU) + static_cast<char>(length >> 8U) +
           dictionary + data;
}

}  // namespace

TEST_CASE("routing file errors: what cannot be read") {
    Files f;
    CHECK_THAT(f.refusal_of(f.path("absent.jsonl")), Contains("absent.jsonl") && Contains("No such file"));
    CHECK(f.code == ExitCode::io_error);
    std::filesystem::create_directory(f.path("dir.npy"));
    CHECK_THAT(f.refusal_of(f.path("dir.npy")), Contains("dir.npy") && Contains("directory"));
    CHECK(f.code == ExitCode::io_error);
    std::filesystem::create_symlink("/dev/zero", f.path("zero.csv"));
    CHECK_THAT(f.refusal_of(f.path("zero.csv")), Contains("not a regular file"));
    CHECK(f.code == ExitCode::io_error);
    CHECK_THAT(f.refusal_of(f.path("absent.jsonl") + "/" + std::string(400, 'x') + ".csv"), Contains("cannot read"));
    CHECK(f.code == ExitCode::io_error);
}

TEST_CASE("routing file errors: the path") {
    Files f;
    CHECK_THAT(f.refusal_of(""), Contains("/workload/routing/path") && Contains("no path"));
    CHECK(f.code == ExitCode::user_error);
    CHECK_THAT(f.refusal("a.txt", "1,2\n"), Contains("/workload/routing/path") && Contains(".jsonl, .csv or .npy"));
    CHECK_THAT(f.refusal("a", "1,2\n"), Contains("/workload/routing/path"));
    CHECK_THAT(f.refusal_of(std::string("a\0.csv", 6)), Contains("zero character"));
}

TEST_CASE("routing file errors: every format, empty, binary or not there yet") {
    Files f;
    const auto extension = GENERATE(as<std::string>{}, "jsonl", "csv", "npy");
    CHECK_THAT(f.refusal("empty." + extension, ""), Contains("empty." + extension) && Contains("empty file"));
    CHECK(f.code == ExitCode::user_error);
    CHECK_THAT(
        f.refusal("lfs." + extension, "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1213597\n"),
        Contains("Git LFS pointer") && Contains("git lfs pull"));
    CHECK(f.code == ExitCode::user_error);
    CHECK_THAT(f.refusal("binary." + extension, std::string("\x7F\x45\x4C\x46\x02\x01\x01\0\0\0\0\0", 12)),
               Contains("binary." + extension) && Contains("expected"));
    CHECK(f.code == ExitCode::user_error);
    CHECK_THAT(f.refusal("utf16." + extension, std::string("\xFF\xFE[\0\n\0", 6)), Contains("expected"));
    CHECK_THAT(f.refusal("blank." + extension, "\n\n  \n"), Contains("expected"));
}

TEST_CASE("routing file errors: jsonl names line and place") {
    Files f;
    const std::string good = "{\"topk_ids\":[3,1]}\n";
    const auto second_line = [&](const std::string& line) { return f.refusal("a.jsonl", good + line + "\n" + good); };
    CHECK_THAT(second_line("{\"topk_ids\":[3,16]}"),
               Contains("a.jsonl:2: /topk_ids/1") && Contains("from 0 to 15") && Contains("found 16"));
    CHECK(f.code == ExitCode::user_error);
    CHECK_THAT(second_line("{\"topk_ids\":[-2,1]}"), Contains("a.jsonl:2: /topk_ids/0") && Contains("found -2"));
    CHECK_THAT(second_line("{\"topk_ids\":[5,5]}"), Contains("a.jsonl:2: /topk_ids/1") && Contains("distinct"));
    CHECK_THAT(second_line("{\"topk_ids\":[1,2,3]}"),
               Contains("a.jsonl:2: /topk_ids") && Contains("2 expert ids (/workload/top_k)") && Contains("found 3"));
    CHECK_THAT(second_line("{\"topk_ids\":[]}"), Contains("found 0"));
    CHECK_THAT(second_line("{\"topk_ids\":[1,2.5]}"), Contains("/topk_ids/1") && Contains("found 2.5"));
    CHECK_THAT(second_line("{\"topk_ids\":[1,\"2\"]}"), Contains("/topk_ids/1") && Contains("the string \"2\""));
    CHECK_THAT(second_line("{\"topk_ids\":[1,null]}"), Contains("/topk_ids/1") && Contains("found null"));
    CHECK_THAT(second_line("{\"topk_ids\":[1,99999999999999999999]}"), Contains("/topk_ids/1"));
    CHECK_THAT(second_line("{\"topk_ids\":[1,18446744073709551615]}"), Contains("/topk_ids/1"));
    CHECK_THAT(second_line("{\"topk_ids\":[1,1e999]}"), Contains("a.jsonl:2") && Contains("too large"));
    CHECK_THAT(second_line("{\"topk_ids\":{\"a\":1}}"), Contains("/topk_ids") && Contains("an object"));
    CHECK_THAT(second_line("{\"topk_ids\":[1,[[2]]]}"), Contains("/topk_ids/1") && Contains("an array"));
    CHECK_THAT(second_line("{\"type\":\"route\"}"), Contains("a.jsonl:2: /topk_ids") && Contains("nothing"));
    CHECK_THAT(second_line("{\"other\":1}"), Contains("a.jsonl:2: /topk_ids"));
    CHECK_THAT(second_line("{\"type\":7,\"topk_ids\":[1,2]}"), Contains("/type"));
    CHECK_THAT(second_line("[3,1]"), Contains("a.jsonl:2") && Contains("a JSON object") && Contains("an array"));
    CHECK_THAT(second_line("nonsense"), Contains("a.jsonl:2") && Contains("not JSON"));
    CHECK_THAT(second_line("{\"topk_ids\":[3,1]} x"), Contains("not JSON"));
    CHECK_THAT(second_line("{\"layer\":\"x\",\"topk_ids\":[3,1]}"), Contains("/layer"));
    CHECK_THAT(second_line("{\"s\":\"\xC3\x28\",\"topk_ids\":[3,1]}"), Contains("a.jsonl:2"));
    CHECK_THAT(second_line(std::string(200000, '[')), Contains("not JSON"));
    CHECK_THAT(second_line("{\"topk_ids\":" + std::string(100000, '[') + std::string(100000, ']') + "}"),
               Contains("/topk_ids") && Contains("found 1"));
    CHECK_THAT(f.refusal("cut.jsonl", good + "{\"topk_ids\":[3,"), Contains("cut.jsonl:2") && Contains("cut off"));
    CHECK_THAT(f.refusal("meta.jsonl", "{\"type\":\"meta\",\"num_experts\":16}\n"), Contains("at least one token"));
}

TEST_CASE("routing file errors: jsonl meta line contradicts the workload") {
    Files f;
    const std::string good = "{\"topk_ids\":[3,1]}\n";
    CHECK_THAT(f.refusal("a.jsonl", "{\"type\":\"meta\",\"num_experts\":64}\n" + good),
               Contains("a.jsonl:1: /num_experts") && Contains("16 as in /workload/experts") && Contains("found 64"));
    CHECK_THAT(f.refusal("a.jsonl", "{\"type\":\"meta\",\"top_k\":8}\n" + good),
               Contains("a.jsonl:1: /top_k") && Contains("2 as in /workload/top_k") && Contains("found 8"));
    CHECK_THAT(f.refusal("a.jsonl", "{\"type\":\"meta\",\"top_k\":\"two\"}\n" + good), Contains("/top_k"));
}

TEST_CASE("routing file errors: layers") {
    Files f;
    const std::string two = "{\"layer\":4,\"topk_ids\":[1,2]}\n{\"layer\":0,\"topk_ids\":[1,2]}\n";
    CHECK_THAT(f.refusal("a.jsonl", two), Contains("/workload/routing/layer") && Contains("layers: 0, 4"));
    CHECK_THAT(f.refusal("a.jsonl", two, 3), Contains("layer 3") && Contains("layers: 0, 4"));
    CHECK_THAT(f.refusal("a.jsonl", "{\"topk_ids\":[1,2]}\n", 3), Contains("layer 3") && Contains("none named"));
    CHECK_THAT(f.refusal("a.csv", "layer,k0,k1\n4,1,2\n0,1,2\n"), Contains("layers: 0, 4"));
    CHECK_THAT(f.refusal("a.csv", "1,2\n", 0), Contains("none named"));
    CHECK_THAT(f.refusal("a.jsonl", "{\"layer\":-1,\"topk_ids\":[1,2]}\n"),
               Contains("/layer: expected a layer from 0"));
    CHECK_THAT(f.refusal_of(kData + "routing_i4.npy", 0), Contains("/workload/routing/layer"));
    std::string many;
    for (int i = 0; i < 500; ++i) {
        many += "{\"layer\":" + std::to_string(i) + ",\"topk_ids\":[1,2]}\n";
    }
    CHECK_THAT(f.refusal("many.jsonl", many), Contains("…"));
}

TEST_CASE("routing file errors: csv names line and column") {
    Files f;
    CHECK_THAT(f.refusal("a.csv", "1,2\n3,16\n"), Contains("a.csv:2") && Contains("column 2") && Contains("found 16"));
    CHECK_THAT(f.refusal("a.csv", "k0,k1\n\n1,-2\n"), Contains("a.csv:3") && Contains("column k1"));
    CHECK_THAT(f.refusal("a.csv", "1,2\n4,4\n"), Contains("a.csv:2") && Contains("distinct"));
    CHECK_THAT(f.refusal("a.csv", "1,2\n4,x\n"), Contains("a.csv:2") && Contains("\"x\"") && Contains("an integer"));
    CHECK_THAT(f.refusal("a.csv", "1,2\n4,2.0\n"), Contains("\"2.0\""));
    CHECK_THAT(f.refusal("a.csv", "1,2\n4,\n"), Contains("a.csv:2") && Contains("\"\""));
    CHECK_THAT(f.refusal("a.csv", "1,2\n4,99999999999999999999\n"), Contains("a.csv:2"));
    CHECK_THAT(f.refusal("a.csv", "1,2\n4"), Contains("a.csv:2") && Contains("2 fields") && Contains("cut off"));
    CHECK_THAT(f.refusal("a.csv", "1,2\n4,5,6\n"), Contains("a.csv:2") && Contains("found 3"));
    CHECK_THAT(f.refusal("a.csv", "1,2,3\n"), Contains("a.csv:1") && Contains("2 expert ids (/workload/top_k)"));
    CHECK_THAT(f.refusal("a.csv", "k0,k1,k2\n1,2,3\n"), Contains("a.csv:1") && Contains("3 expert columns"));
    CHECK_THAT(f.refusal("a.csv", "k0,weight\n1,2\n"), Contains("a.csv:1") && Contains("\"weight\""));
    CHECK_THAT(f.refusal("a.csv", "k0,K0\n1,2\n"), Contains("twice"));
    CHECK_THAT(f.refusal("a.csv", "k0,expert_0\n1,2\n"), Contains("two expert columns numbered 0"));
    CHECK_THAT(f.refusal("a.csv", "k0,k7\n1,2\n"), Contains("a.csv:1") && Contains("numbered 0, 7"));
    CHECK_THAT(f.refusal("a.csv", "k2,k3\n1,2\n"), Contains("a.csv:1") && Contains("numbered 2, 3"));
    CHECK_THAT(f.refusal("a.csv", "k0,k99999999999999999999\n1,2\n"), Contains("a.csv:1"));
    CHECK_THAT(f.refusal("a.csv", "layer,k0,k1\n-1,1,2\n"), Contains("a.csv:2") && Contains("a layer from 0"));
    CHECK_THAT(f.refusal("a.csv", "k0;k1\n1;2\n"), Contains("separated by commas"));
    CHECK_THAT(f.refusal("a.csv", "card,k0,k1\n-1,1,2\n"), Contains("a.csv:2") && Contains("column card"));
    CHECK_THAT(f.refusal("a.csv", "card,k0,k1\n9999999999,1,2\n"), Contains("column card"));
    CHECK_THAT(f.refusal("a.csv", "1,2\n\"4,5\n"), Contains("a.csv:2") && Contains("quotes"));
    CHECK_THAT(f.refusal("a.csv", "k0,k1\n"), Contains("at least one token"));
    CHECK_THAT(f.refusal("a.csv", std::string("1,2\n3,\0", 7)), Contains("a.csv:2") && Contains("binary"));
}

TEST_CASE("routing file errors: npy names what it holds") {
    Files f;
    const std::string whole = read_file(kData + "routing_i4.npy");
    REQUIRE(whole.size() == 128 + 48);
    CHECK_THAT(f.refusal("cut.npy", whole.substr(0, 170)),
               Contains("48 bytes of data") && Contains("found 42 bytes") && Contains("cut off"));
    CHECK(f.code == ExitCode::user_error);
    CHECK_THAT(f.refusal("long.npy", whole + "x"), Contains("found 49 bytes"));
    CHECK_THAT(f.refusal("head.npy", whole.substr(0, 60)), Contains("ends within its header"));
    CHECK_THAT(f.refusal("magic.npy", whole.substr(0, 4)), Contains("does not begin as numpy's"));
    CHECK_THAT(f.refusal("version.npy", whole.substr(0, 6) + "\x04" + whole.substr(7)), Contains("version 4"));
    CHECK_THAT(f.refusal("text.npy", "3,1\n2,0\n"), Contains("does not begin as numpy's"));
    CHECK_THAT(f.refusal_of(kData + "routing_float.npy"),
               Contains("integers") && Contains("<f4") && Contains("astype"));
    CHECK_THAT(f.refusal_of(kData + "routing_bool.npy"), Contains("integers") && Contains("|b1"));
    CHECK_THAT(f.refusal_of(kData + "routing_structured.npy"), Contains("a structured type"));
    CHECK_THAT(f.refusal_of(kData + "routing_1d.npy"), Contains("(tokens, 2)") && Contains("shape (6,)"));
    CHECK_THAT(f.refusal_of(kData + "routing_no_token.npy"), Contains("at least one token"));

    const auto shaped = [&](const std::string& shape, const std::string& data) {
        return f.refusal("s.npy", npy("{'descr': '|i1', 'fortran_order': False, 'shape': " + shape + ", }\n", data));
    };
    CHECK_THAT(shaped("(1, 3)", "abc"), Contains("shape (1, 3)") && Contains("/workload/top_k is 2"));
    CHECK_THAT(shaped("(2, 2)", std::string("\1\2\3\x10", 4)), Contains("[1, 1]") && Contains("found 16"));
    CHECK_THAT(shaped("(1, 2, 2)", std::string("\1\2\3\3", 4)), Contains("[0, 1, 1]") && Contains("distinct"));
    CHECK_THAT(shaped("(1, 1, 2, 2)", std::string("\1\2\3\4", 4)), Contains("shape (1, 1, 2, 2)"));
    CHECK_THAT(shaped("(9223372036854775807, 4, 2)", "x"), Contains("2^64 or more"));
    CHECK_THAT(shaped("(4294967296, 2147483648, 2)", ""), Contains("2^64 or more"));
    CHECK_THAT(shaped("(99999999999999999999999, 2)", "x"), Contains("a header that is not numpy's"));
    CHECK_THAT(shaped("(-1, 2)", "x"), Contains("a header that is not numpy's"));
    CHECK(shaped("(1, 2)", std::string("\1\2", 2)) == "accepted");
}

TEST_CASE("routing file npy: header dictionaries") {
    const auto header = parse_npy_dictionary("{'shape': (3L, 2L), 'descr': \"<i4\", 'fortran_order': True}");
    REQUIRE(header.has_value());
    CHECK(header->shape == std::vector<std::uint64_t>{3, 2});
    CHECK(header->type == "<i4");
    CHECK(header->fortran_order);
    const auto scalar = parse_npy_dictionary("{'descr': '<i4', 'fortran_order': False, 'shape': (), }   \n");
    REQUIRE(scalar.has_value());
    CHECK(scalar->shape.empty());
    for (const char* bad :
         {"", "{", "{}", "{'descr': '<i4'}", "{'descr': '<i4', 'fortran_order': False, 'shape': (3, 2}",
          "{'descr': '<i4', 'fortran_order': 1, 'shape': (3, 2)}",
          "{'descr': '<i4', 'fortran_order': False, 'shape': (3 2)}",
          "{'descr': '<i4', 'fortran_order': False, 'other': (3, 2)}",
          "{'descr': '<i4', 'fortran_order': False, 'shape': (3, 2)} x", "{'descr': '<i4",
          "{'descr': [('a', '<i4'), 'fortran_order': False, 'shape': (3, 2)}", "[1, 2]"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_npy_dictionary(bad).has_value());
    }
}
