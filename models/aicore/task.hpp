// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Kernels are coroutines: the scalar program of an AIV core.
///
/// Nested calls go through a trampoline instead of symmetric transfer, which g++ 12 turns into real
/// recursion at -O0 and under ASan. Keep temporaries in a co_await expression trivial (g++ 12 destroys
/// others twice).
#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace podsim {

/// Runs one coroutine after the other until one waits for hardware.
class Trampoline {
public:
    void transfer(std::coroutine_handle<> next) { next_ = next; }
    void run() {
        while (next_) {
            std::exchange(next_, {}).resume();
        }
    }

private:
    std::coroutine_handle<> next_;
};

class TaskPromiseBase {
public:
    Trampoline* trampoline = nullptr;
    std::coroutine_handle<> continuation;
    std::exception_ptr failure;

    static std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
        static bool await_ready() noexcept { return false; }
        template <class P>
        void await_suspend(std::coroutine_handle<P> self) noexcept {
            TaskPromiseBase& promise = self.promise();
            if (promise.continuation) {
                promise.trampoline->transfer(promise.continuation);
            }
        }
        void await_resume() noexcept {}
    };
    static Final final_suspend() noexcept { return {}; }
    void unhandled_exception() { failure = std::current_exception(); }
};

template <class T>
class TaskPromise;

/// A coroutine that ends with a T; starts when awaited (or by start()). Owns its frame.
template <class T>
class [[nodiscard]] Task {
public:
    using promise_type = TaskPromise<T>;
    using Handle = std::coroutine_handle<promise_type>;

    Task() = default;
    explicit Task(Handle handle) : handle_(handle) {}
    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Task& operator=(Task&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Task() {
        if (handle_) {
            handle_.destroy();
        }
    }

    /// Starts an outermost task; hardware waits return control to the caller.
    void start(Trampoline& trampoline) {
        handle_.promise().trampoline = &trampoline;
        trampoline.transfer(handle_);
        trampoline.run();
    }
    bool done() const { return handle_ && handle_.done(); }
    /// Rethrows what the finished task threw.
    void check() const {
        if (handle_.promise().failure) {
            std::rethrow_exception(handle_.promise().failure);
        }
    }

    bool await_ready() const noexcept { return false; }
    template <class P>
    void await_suspend(std::coroutine_handle<P> caller) {
        handle_.promise().trampoline = caller.promise().trampoline;
        handle_.promise().continuation = caller;
        handle_.promise().trampoline->transfer(handle_);
    }
    T await_resume() {
        check();
        return handle_.promise().take();
    }

private:
    Handle handle_;
};

template <class T>
class TaskPromise : public TaskPromiseBase {
public:
    Task<T> get_return_object() { return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this)); }
    void return_value(T value) { value_.emplace(std::move(value)); }
    T take() { return std::move(*value_); }

private:
    std::optional<T> value_;
};

template <>
class TaskPromise<void> : public TaskPromiseBase {
public:
    Task<void> get_return_object() { return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this)); }
    void return_void() {}
    void take() {}
};

}  // namespace podsim
