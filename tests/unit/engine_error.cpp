// SPDX-License-Identifier: Apache-2.0
#include "models/engine/error.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace podsim;
using Catch::Matchers::Contains;

TEST_CASE("each kind of error carries the exit code the user guide promises") {
    CHECK(UserError("x").code() == ExitCode::user_error);
    CHECK(IoError("x").code() == ExitCode::io_error);
    CHECK(KernelError("x").code() == ExitCode::kernel_wrong);
    CHECK(InternalError("x").code() == ExitCode::bug);

    CHECK(static_cast<int>(ExitCode::ok) == 0);
    CHECK(static_cast<int>(ExitCode::user_error) == 2);
    CHECK(static_cast<int>(ExitCode::io_error) == 3);
    CHECK(static_cast<int>(ExitCode::kernel_wrong) == 4);
    CHECK(static_cast<int>(ExitCode::stuck) == 5);
    CHECK(static_cast<int>(ExitCode::out_of_tolerance) == 6);
    CHECK(static_cast<int>(ExitCode::bug) == 70);
}

TEST_CASE("every error is caught as a PodsimError with its text") {
    const auto text_of = [](auto&& error) {
        try {
            throw error;
        } catch (const PodsimError& e) {
            return std::string(e.what());
        }
    };
    CHECK(text_of(UserError("no such card")) == "no such card");
    CHECK(text_of(IoError("disk full")) == "disk full");
    CHECK(text_of(KernelError("UB over budget")) == "UB over budget");
    CHECK(text_of(InternalError("lost a block")) == "lost a block");
}

TEST_CASE("a user error is one message: file, pointer, expected, found, hint") {
    const UserError full({"run.json", "/cards", "1 to 768", "0", "did you mean 8?"});
    CHECK(std::string(full.what()) == "run.json: /cards: expected 1 to 768, found 0 (did you mean 8?)");
    CHECK(full.detail().pointer == "/cards");
    CHECK(full.detail().hint == "did you mean 8?");

    SECTION("parts that do not apply leave no trace") {
        CHECK(std::string(UserError({"", "", "a number", "a string", ""}).what()) ==
              "expected a number, found a string");
        CHECK(std::string(UserError({"", "/seed", "a number", "\"x\"", ""}).what()) ==
              "/seed: expected a number, found \"x\"");
    }
}

TEST_CASE("check() stays on in every build and names its own line") {
    CHECK_NOTHROW(check(true, "always"));
    try {
        check(false, "two is three");
        FAIL("check(false) came back");
    } catch (const InternalError& e) {
        CHECK_THAT(e.what(), Contains("two is three"));
        CHECK_THAT(e.what(), Contains("engine_error.cpp"));
    }
}

TEST_CASE("fail_check() adds the state it is given") {
    try {
        fail_check("queue is empty", "3 left", std::source_location::current());
    } catch (const InternalError& e) {
        CHECK_THAT(e.what(), Contains("queue is empty; 3 left"));
    }
}
