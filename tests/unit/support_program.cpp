// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program.hpp"
#include "tests/support/temp_dir.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>

using namespace podsim::test;

TEST_CASE("run_program keeps both streams apart and gives the exit code") {
    const ProgramResult r = run_program({"/bin/sh", "-c", "echo out; echo err >&2; exit 5"});
    CHECK(r.exit_code == 5);
    CHECK(r.out == "out\n");
    CHECK(r.err == "err\n");
}

TEST_CASE("run_program passes arguments, input, environment and working directory") {
    const TempDir dir;
    const ProgramResult r = run_program({"/bin/sh", "-c", "cat; echo \"$1|$WORD\"; pwd -P", "sh", "a b"},
                                        {.working_dir = dir.path(), .environment = {"WORD=x y"}, .input = "in\n"});
    CHECK(r.exit_code == 0);
    CHECK(r.out == "in\na b|x y\n" + std::filesystem::canonical(dir.path()).string() + "\n");
}

TEST_CASE("run_program survives a megabyte on both streams") {
    const ProgramResult r = run_program({"/bin/sh", "-c", "head -c 1000000 /dev/zero | tee /dev/stderr"});
    CHECK(r.out.size() == 1'000'000);
    CHECK(r.err.size() == 1'000'000);
}

TEST_CASE("run_program reports signals, what cannot run and what does not end") {
    CHECK(run_program({"/bin/sh", "-c", "kill -TERM $$"}).exit_code == 128 + 15);
    CHECK_THROWS_AS(run_program({"/no/such/program"}), std::runtime_error);
    CHECK_THROWS_AS(run_program({}), std::runtime_error);
    CHECK_THROWS_AS(run_program({"/bin/sleep", "60"}, {.timeout = std::chrono::seconds(1)}), std::runtime_error);
}

TEST_CASE("a TempDir keeps bytes and is gone with its object") {
    std::string path;
    {
        const TempDir dir;
        path = dir.path();
        const std::string text("1\0\r\n2", 5);
        CHECK(dir.write("x", text) == path + "/x");
        CHECK(dir.read("x") == text);
        CHECK_THROWS_AS(dir.read("y"), std::runtime_error);
    }
    CHECK_FALSE(std::filesystem::exists(path));
}
