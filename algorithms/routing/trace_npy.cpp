// SPDX-License-Identifier: Apache-2.0
#include "algorithms/routing/npy_header.hpp"
#include "algorithms/routing/trace.hpp"
#include "algorithms/routing/trace_file.hpp"
#include "models/engine/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace podsim {

namespace {

/// An integer type of numpy's.
struct ElementType {
    bool big_endian = false;
    bool is_signed = true;
    std::size_t bytes = 0;
};

std::optional<ElementType> parse_type(const std::string& descr) {
    const bool plausible = descr.size() == 3 && std::string_view("<>|").find(descr[0]) != std::string_view::npos &&
                           (descr[1] == 'i' || descr[1] == 'u') &&
                           std::string_view("1248").find(descr[2]) != std::string_view::npos;
    if (!plausible) {
        return std::nullopt;
    }
    return ElementType{descr[0] == '>', descr[1] == 'i', static_cast<std::size_t>(descr[2] - '0')};
}

/// Values beyond int64 become its largest: out of range either way.
std::int64_t decode(const char* bytes, const ElementType& type) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < type.bytes; ++i) {
        const char byte = bytes[type.big_endian ? i : type.bytes - 1 - i];
        value = value << 8U | static_cast<unsigned char>(byte);
    }
    if (type.is_signed) {
        const auto unused = static_cast<unsigned>(64 - 8 * type.bytes);
        return static_cast<std::int64_t>(value << unused) >> unused;
    }
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(std::min(value, kMost));
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
    return fmt::format("shape ({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

/// cards × tokens × k, where a (tokens, k) file is one card's worth.
struct Extents {
    std::uint64_t cards = 1, tokens = 0, k = 0;
};

Extents check_shape(const std::string& path, const NpyHeader& header, std::uint32_t top_k) {
    const auto& shape = header.shape;
    if ((shape.size() != 2 && shape.size() != 3) || shape.back() != top_k) {
        bad_trace(path, 0, "",
                  fmt::format("shape (tokens, {0}) or (cards, tokens, {0}) (/workload/top_k is {0})", top_k),
                  shape_text(shape));
    }
    return Extents{shape.size() == 3 ? shape[0] : 1, shape[shape.size() - 2], shape.back()};
}

void check_size(const std::string& path, const NpyHeader& header, std::uint64_t element_bytes, std::uint64_t found) {
    std::uint64_t bytes = element_bytes;
    bool countable = true;
    for (const std::uint64_t length : header.shape) {
        countable = countable && !__builtin_mul_overflow(bytes, length, &bytes);
    }
    if (!countable || bytes != found) {
        bad_trace(path, 0, "",
                  fmt::format("{} bytes of data for {} of {}", countable ? std::to_string(bytes) : "2^64 or more",
                              shape_text(header.shape), header.type),
                  fmt::format("{} bytes", found), !countable || bytes > found ? "the file may be cut off" : "");
    }
}

}  // namespace

Trace read_npy_trace(const std::string& path, std::optional<std::int64_t> layer, const Workload& workload) {
    if (layer) {
        throw UserError(ErrorDetail{"", "/workload/routing/layer", "no layer for a .npy file, which holds one",
                                    std::to_string(*layer), ""});
    }
    std::ifstream stream = open_trace(path);
    std::string problem;
    const std::optional<NpyHeader> header = read_npy_header(stream, problem);
    if (!header) {
        bad_trace(path, 0, "", "a .npy file of version 1, 2 or 3", problem);
    }
    const std::optional<ElementType> type = parse_type(header->type);
    if (!type) {
        bad_trace(path, 0, "", "integers (int8 … int64 or uint8 … uint64)",
                  header->type.empty() ? "a structured type" : "type " + excerpt(header->type),
                  "numpy: array.astype(numpy.int32)");
    }
    const Extents n = check_shape(path, *header, workload.top_k);
    const std::string data{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    check_size(path, *header, type->bytes, data.size());
    if (n.cards * n.tokens == 0) {
        bad_trace(path, 0, "", "routing of at least one token", shape_text(header->shape));
    }

    Trace trace;
    trace.ids.reserve(n.cards * n.tokens * n.k);
    if (header->shape.size() == 3) {
        trace.card_of_token.emplace();
    }
    std::vector<std::int64_t> token_ids(n.k);
    for (std::uint64_t card = 0; card < n.cards; ++card) {
        for (std::uint64_t token = 0; token < n.tokens; ++token) {
            for (std::uint64_t k = 0; k < n.k; ++k) {
                const std::uint64_t element = header->fortran_order ? card + n.cards * (token + n.tokens * k)
                                                                    : (card * n.tokens + token) * n.k + k;
                token_ids[k] = decode(data.data() + element * type->bytes, *type);
            }
            if (const auto wrong = find_token_problem(token_ids, workload.experts)) {
                const std::string place = header->shape.size() == 3 ? fmt::format("[{}, {}, {}]", card, token, wrong->k)
                                                                    : fmt::format("[{}, {}]", token, wrong->k);
                bad_trace(path, 0, place, wrong->expected, wrong->found);
            }
            std::transform(token_ids.begin(), token_ids.end(), std::back_inserter(trace.ids),
                           [](std::int64_t id) { return static_cast<std::int32_t>(id); });
            if (trace.card_of_token) {
                trace.card_of_token->push_back(static_cast<std::uint32_t>(
                    std::min<std::uint64_t>(card, std::numeric_limits<std::uint32_t>::max())));
            }
        }
    }
    return trace;
}

}  // namespace podsim
