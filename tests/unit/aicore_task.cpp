// SPDX-License-Identifier: Apache-2.0
// Coroutines: nested calls, values, exceptions, depth. Worth running at -O0 and under ASan.
#include "models/aicore/task.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

using namespace podsim;

namespace {

/// A wait for hardware: whoever holds the handle resumes it.
struct Hardware {
    std::coroutine_handle<> waiting;
    struct Wait {
        Hardware* hardware;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> h) const { hardware->waiting = h; }
        void await_resume() const noexcept {}
    };
    Wait wait() { return {this}; }
    void go(Trampoline& trampoline) {
        trampoline.transfer(std::exchange(waiting, {}));
        trampoline.run();
    }
};

Task<int> one() { co_return 1; }

Task<void> count_in_a_loop(int times, std::int64_t& sum) {
    for (int i = 0; i < times; ++i) {
        sum += co_await one();
    }
}

Task<std::int64_t> recurse(int depth) {
    if (depth == 0) {
        co_return 0;
    }
    const std::int64_t below = co_await recurse(depth - 1);
    co_return below + 1;
}

Task<void> recurse_into(int depth, std::int64_t& result) { result = co_await recurse(depth); }

Task<int> wait_deep(int depth, Hardware& hardware) {
    if (depth == 0) {
        co_await hardware.wait();
        co_return 7;
    }
    const int value = co_await wait_deep(depth - 1, hardware);
    co_await hardware.wait();
    co_return value;
}

Task<void> outer(int depth, Hardware& hardware, int& result) { result = co_await wait_deep(depth, hardware); }

Task<int> fails(int depth) {
    if (depth == 0) {
        throw std::runtime_error("deep down");
    }
    const int value = co_await fails(depth - 1);
    co_return value;
}

Task<void> catches(std::string& text) {
    try {
        const int never = co_await fails(10);
        text = std::to_string(never);
    } catch (const std::runtime_error& error) {
        text = error.what();
    }
}

Task<void> fails_outright() {
    const int never = co_await fails(3);
    static_cast<void>(never);
}

Task<std::string> text(int n) { co_return std::string(100, static_cast<char>('a' + n)); }

Task<void> collect(std::vector<std::string>& out) {
    for (int n = 0; n < 3; ++n) {
        std::string one_text = co_await text(n);
        out.push_back(std::move(one_text));
    }
}

/// Counts how many are alive.
struct Guard {
    explicit Guard(int& n) : alive(&n) { ++*alive; }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() { --*alive; }
    int* alive;
};

Task<int> guarded(int depth, int& alive, Hardware& hardware) {
    const Guard guard(alive);
    if (depth == 0) {
        co_await hardware.wait();
        co_return 0;
    }
    const int value = co_await guarded(depth - 1, alive, hardware);
    co_return value;
}

Task<void> guarded_outer(int depth, int& alive, Hardware& hardware) {
    const int value = co_await guarded(depth, alive, hardware);
    static_cast<void>(value);
}

}  // namespace

TEST_CASE("task: a hundred thousand nested calls in a loop do not grow the stack", "[task]") {
    std::int64_t sum = 0;
    Trampoline trampoline;
    Task<void> task = count_in_a_loop(100'000, sum);
    task.start(trampoline);
    CHECK(task.done());
    CHECK(sum == 100'000);
}

TEST_CASE("task: recursion thousands deep runs on the heap", "[task]") {
    std::int64_t depth = 0;
    Trampoline trampoline;
    Task<void> task = recurse_into(5'000, depth);
    task.start(trampoline);
    CHECK(task.done());
    CHECK(depth == 5'000);
}

TEST_CASE("task: a wait deep inside returns to whoever started it and goes on from there", "[task]") {
    Hardware hardware;
    int result = 0;
    Trampoline trampoline;
    Task<void> task = outer(3, hardware, result);
    task.start(trampoline);
    int resumed = 0;
    while (!task.done()) {
        REQUIRE(hardware.waiting);
        hardware.go(trampoline);
        ++resumed;
    }
    CHECK(resumed == 4);  // the innermost wait and one in each of three callers
    CHECK(result == 7);
}

TEST_CASE("task: an exception passes through all callers", "[task]") {
    Trampoline trampoline;
    std::string caught;
    Task<void> task = catches(caught);
    task.start(trampoline);
    CHECK(task.done());
    CHECK(caught == "deep down");
    CHECK_NOTHROW(task.check());

    Task<void> failing = fails_outright();
    failing.start(trampoline);
    CHECK(failing.done());
    CHECK_THROWS_WITH(failing.check(), "deep down");
}

TEST_CASE("task: results are moved out", "[task]") {
    std::vector<std::string> out;
    Trampoline trampoline;
    Task<void> task = collect(out);
    task.start(trampoline);
    REQUIRE(out.size() == 3);
    CHECK(out[2] == std::string(100, 'c'));
}

TEST_CASE("task: dropping a waiting task destroys all its frames", "[task]") {
    int alive = 0;
    Hardware hardware;
    {
        Trampoline trampoline;
        Task<void> task = guarded_outer(100, alive, hardware);
        CHECK(alive == 0);  // lazy
        task.start(trampoline);
        CHECK(alive == 101);
        CHECK_FALSE(task.done());
        Task<void> moved = std::move(task);
        CHECK(alive == 101);
    }
    CHECK(alive == 0);
}
