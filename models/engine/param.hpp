// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A machine parameter that knows whether any model ever used it, so that a run can report the
/// parameters its kernels never touched. Reading is a load and a store: cheap enough for hot paths.
#include <utility>

namespace podsim {

template <class T>
class Param {
public:
    Param() = default;
    explicit Param(T value) : value_(std::move(value)) {}

    /// The value, and "this parameter mattered".
    const T& get() const {
        used_ = true;
        return value_;
    }
    operator const T&() const { return get(); }  // NOLINT(google-explicit-constructor): reads like a number

    /// The value for printing and validation: does not count as use.
    const T& peek() const { return value_; }
    void set(T value) { value_ = std::move(value); }
    bool used() const { return used_; }

private:
    T value_{};
    mutable bool used_ = false;
};

}  // namespace podsim
