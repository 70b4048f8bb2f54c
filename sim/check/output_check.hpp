// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Functional truth: what a card's memory holds after a call against the independent reference, byte by byte.
#include "algorithms/dispatch/layout.hpp"
#include "algorithms/reference/reference_dispatch.hpp"
#include "models/memory/gm_store.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace podsim {

/// One wrong byte (the first of its item).
struct Mismatch {
    std::uint32_t call = 0;
    std::uint32_t card = 0;
    std::string what;            ///< row, scale, triple, ep_recv_counts, expert_token_nums
    std::int64_t expert = -1;    ///< global expert of the row
    std::int64_t row = -1;       ///< row in the OutputBuffer, or index of the count
    std::uint32_t byte = 0;      ///< within the item
    std::uint32_t expected = 0;  ///< byte value
    std::uint32_t found = 0;
    std::int64_t source = -1;  ///< card the row came from
    double landed_us = -1;     ///< when the block with that byte landed in the window; -1 never or unknown
    double read_us = -1;       ///< when a core last read that block
    std::string text() const;
};

class OutputCheck {
public:
    OutputCheck(const Workload& workload, const DispatchLayout& layout) : workload_(workload), layout_(layout) {}

    /// Compares everything `card` must hold after `reference`'s call.
    void check_card(const ReferenceDispatch& reference, std::uint32_t card, const GmStore& memory);
    std::uint64_t rows() const { return rows_; }
    std::uint64_t mismatches() const { return mismatches_; }
    /// The first few by call, card and order of discovery.
    const std::vector<Mismatch>& examples() const { return examples_; }

private:
    /// Where the block with a byte of an item lies in the card's memory; none: it came in no block.
    using Place = std::function<std::uint64_t(std::uint32_t byte)>;

    void check_row(const ReferenceDispatch& reference, std::uint32_t card, std::uint64_t row, const GmStore& memory);
    void compare(Mismatch item, std::span<const std::byte> expected, std::span<const std::byte> found,
                 const GmStore& memory, const Place& in_window);
    template <class T>
    void compare_array(const ReferenceDispatch& reference, std::uint32_t card, const char* what, std::uint64_t offset,
                       const std::vector<T>& expected, const GmStore& memory);

    struct Known {
        Slice slice;  ///< contents found right before: the same slice is right again
        float scale = 0;
    };

    const Workload& workload_;
    const DispatchLayout& layout_;
    std::unordered_map<std::uint64_t, Known> known_;  // by call, source card and token
    std::uint64_t rows_ = 0;
    std::uint64_t mismatches_ = 0;
    std::vector<Mismatch> examples_;
};

}  // namespace podsim
