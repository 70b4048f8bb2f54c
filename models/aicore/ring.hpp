// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A growing ring buffer: queues of a core are short, many, and mostly empty (std::deque takes 576 B empty).
#include <cstddef>
#include <utility>
#include <vector>

namespace podsim {

template <class T>
class Ring {
public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    T& front() { return room_[head_]; }
    const T& front() const { return room_[head_]; }
    T& back() { return (*this)[size_ - 1]; }
    const T& back() const { return (*this)[size_ - 1]; }
    T& operator[](std::size_t i) { return room_[(head_ + i) & (room_.size() - 1)]; }
    const T& operator[](std::size_t i) const { return room_[(head_ + i) & (room_.size() - 1)]; }
    /// `value` must not lie in this ring.
    template <class U = T>
    void push(U&& value) {
        if (size_ == room_.size()) {
            grow();
        }
        (*this)[size_++] = std::forward<U>(value);
    }
    T pop() {
        T value = std::move(room_[head_]);
        head_ = (head_ + 1) & (room_.size() - 1);
        if (--size_ == 0) {
            head_ = 0;  // where the cache has it
            if (room_.size() > kKept) {
                room_ = {};  // a burst need not be paid for ever after
            }
        }
        return value;
    }

private:
    static constexpr std::size_t kKept = 32;

    void grow() {
        std::vector<T> larger(room_.empty() ? 4 : room_.size() * 2);
        for (std::size_t i = 0; i < size_; ++i) {
            larger[i] = std::move((*this)[i]);
        }
        room_ = std::move(larger);
        head_ = 0;
    }

    std::vector<T> room_;  // size is a power of two
    std::size_t head_ = 0;
    std::size_t size_ = 0;
};

}  // namespace podsim
