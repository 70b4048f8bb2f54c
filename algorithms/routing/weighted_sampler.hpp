// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Drawing distinct items with given integer weights; internal to algorithms/routing.
#include "algorithms/routing/draws.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace podsim {

/// A Fenwick tree of weights: draw and removal in O(log n), so that strong skew and many experts stay cheap.
class WeightedSampler {
public:
    /// Weights > 0; their sum must fit into 63 bits.
    explicit WeightedSampler(std::vector<std::uint64_t> weights)
        : weights_(std::move(weights)), tree_(weights_.size() + 1, 0) {
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            add(i, weights_[i]);
        }
    }

    /// Draws an item with chance weight / (sum of weights still there) and takes it out.
    std::size_t take(Draws& draws) {
        std::uint64_t rest = draws.below(total_);
        std::size_t position = 0;
        for (std::size_t step = std::bit_floor(weights_.size()); step > 0; step /= 2) {
            if (position + step <= weights_.size() && tree_[position + step] <= rest) {
                position += step;
                rest -= tree_[position];
            }
        }
        add(position, 0 - weights_[position]);
        taken_.push_back(position);
        return position;
    }

    /// Puts everything back.
    void restore() {
        for (const std::size_t item : taken_) {
            add(item, weights_[item]);
        }
        taken_.clear();
    }

private:
    /// Subtraction is addition modulo 2^64.
    void add(std::size_t item, std::uint64_t weight) {
        total_ += weight;
        for (std::size_t i = item + 1; i < tree_.size(); i += i & (~i + 1)) {
            tree_[i] += weight;
        }
    }

    std::vector<std::uint64_t> weights_;
    std::vector<std::uint64_t> tree_;
    std::vector<std::size_t> taken_;
    std::uint64_t total_ = 0;
};

}  // namespace podsim
