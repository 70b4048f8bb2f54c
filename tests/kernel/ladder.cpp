// SPDX-License-Identifier: Apache-2.0
/// A ladder of small runs in which any two values of cards, sizes, cores, calls, options, routing and machine
/// meet at least once (where they may meet: top_k <= experts, 12 cards and cores on the small machine, and
/// bounded rows). Made by a greedy search over the value lists in the struct below.
#include "tests/kernel/kernel_support.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

using namespace podsim;

namespace {

struct Rung {
    std::uint32_t cards;             // 2 3 4 5 7 8 13 16 24
    std::uint32_t experts_per_card;  // 1 2 3
    std::uint32_t batch;             // 1 2 3 7 8 32 128
    std::uint32_t top_k;             // 1 2 3 5 8 12
    std::uint32_t hidden;            // 32 96 512 544 1024 1056 7168
    std::uint32_t cores;             // 1 2 5 12 48
    std::uint32_t calls;             // 1 2 3 4 5
    const char* machine;
    const char* quant;
    const char* sync_mode;
    const char* cumsum;
    std::uint32_t stride;
    const char* reset;
    const char* routing;
};

const std::vector<Rung> kLadder{
    {2, 1, 3, 2, 32, 48, 1, "atlas", "none", "token_flag", "replicated", 512, "epoch", "balanced"},
    {2, 1, 128, 1, 512, 5, 4, "atlas", "int8_dynamic", "status", "replicated", 32, "clear", "uniform"},
    {2, 2, 128, 2, 1056, 12, 1, "atlas", "int8_dynamic", "token_flag", "matrix", 512, "epoch", "balanced"},
    {2, 3, 1, 1, 7168, 1, 2, "atlas", "int8_dynamic", "token_flag", "replicated", 32, "epoch", "balanced"},
    {2, 3, 7, 2, 32, 5, 4, "atlas", "none", "token_flag", "replicated", 512, "epoch", "uniform"},
    {2, 3, 128, 3, 32, 48, 2, "atlas", "none", "status", "replicated", 512, "clear", "zipf"},
    {2, 3, 128, 5, 544, 12, 1, "atlas", "none", "status", "replicated", 32, "clear", "uniform"},
    {3, 1, 3, 1, 1056, 48, 4, "atlas", "none", "status", "replicated", 32, "epoch", "hot"},
    {3, 1, 8, 1, 1024, 1, 3, "atlas", "int8_dynamic", "status", "replicated", 512, "epoch", "uniform"},
    {3, 2, 2, 5, 7168, 48, 5, "atlas", "none", "status", "matrix", 32, "epoch", "zipf"},
    {3, 2, 7, 5, 7168, 2, 1, "atlas", "int8_dynamic", "status", "matrix", 512, "epoch", "zipf"},
    {3, 3, 1, 8, 512, 2, 4, "atlas", "int8_dynamic", "status", "matrix", 512, "epoch", "uniform"},
    {4, 1, 7, 1, 96, 12, 5, "atlas", "int8_dynamic", "token_flag", "matrix", 32, "epoch", "hot"},
    {4, 2, 1, 2, 1024, 48, 2, "atlas", "none", "status", "replicated", 512, "clear", "hot"},
    {4, 2, 7, 8, 1056, 48, 3, "atlas", "none", "status", "matrix", 512, "clear", "balanced"},
    {4, 2, 32, 8, 544, 5, 1, "atlas", "none", "status", "matrix", 32, "clear", "zipf"},
    {4, 2, 128, 1, 96, 1, 3, "atlas", "none", "token_flag", "matrix", 32, "epoch", "balanced"},
    {4, 2, 128, 1, 7168, 5, 1, "atlas", "int8_dynamic", "status", "matrix", 32, "clear", "uniform"},
    {4, 3, 2, 3, 7168, 48, 2, "atlas", "int8_dynamic", "status", "replicated", 32, "epoch", "balanced"},
    {4, 3, 32, 12, 1056, 5, 1, "atlas", "none", "status", "matrix", 32, "epoch", "zipf"},
    {5, 2, 3, 8, 7168, 1, 2, "atlas", "none", "token_flag", "replicated", 32, "clear", "hot"},
    {5, 2, 32, 5, 512, 48, 2, "atlas", "int8_dynamic", "status", "replicated", 512, "epoch", "uniform"},
    {5, 3, 2, 2, 96, 48, 3, "atlas", "none", "token_flag", "matrix", 512, "epoch", "uniform"},
    {7, 1, 1, 5, 544, 1, 3, "atlas", "int8_dynamic", "token_flag", "matrix", 512, "epoch", "hot"},
    {7, 1, 3, 2, 7168, 5, 5, "atlas", "none", "token_flag", "matrix", 32, "epoch", "uniform"},
    {7, 2, 8, 1, 32, 48, 1, "atlas", "int8_dynamic", "token_flag", "replicated", 32, "epoch", "zipf"},
    {8, 1, 2, 3, 544, 5, 2, "atlas", "int8_dynamic", "status", "matrix", 32, "epoch", "hot"},
    {8, 1, 2, 2, 512, 12, 5, "atlas", "int8_dynamic", "status", "matrix", 32, "epoch", "uniform"},
    {8, 2, 8, 8, 7168, 1, 1, "atlas", "int8_dynamic", "status", "matrix", 32, "epoch", "uniform"},
    {8, 3, 32, 1, 7168, 48, 1, "atlas", "int8_dynamic", "token_flag", "replicated", 32, "epoch", "balanced"},
    {8, 3, 128, 1, 544, 48, 1, "atlas", "none", "token_flag", "matrix", 512, "clear", "balanced"},
    {13, 1, 1, 12, 544, 2, 5, "atlas", "int8_dynamic", "token_flag", "replicated", 32, "epoch", "balanced"},
    {13, 1, 2, 3, 96, 1, 4, "atlas", "none", "status", "matrix", 512, "clear", "balanced"},
    {13, 1, 8, 8, 1024, 1, 1, "atlas", "none", "status", "matrix", 512, "clear", "uniform"},
    {13, 2, 1, 5, 1056, 1, 4, "atlas", "int8_dynamic", "status", "matrix", 512, "clear", "uniform"},
    {13, 2, 1, 12, 7168, 48, 3, "atlas", "int8_dynamic", "token_flag", "matrix", 512, "epoch", "hot"},
    {13, 2, 3, 3, 96, 5, 1, "atlas", "int8_dynamic", "status", "matrix", 32, "epoch", "zipf"},
    {13, 2, 7, 1, 1056, 12, 3, "atlas", "int8_dynamic", "status", "matrix", 32, "clear", "uniform"},
    {13, 2, 32, 1, 512, 1, 3, "atlas", "none", "token_flag", "replicated", 32, "epoch", "uniform"},
    {13, 3, 8, 2, 32, 12, 2, "atlas", "int8_dynamic", "token_flag", "matrix", 32, "epoch", "balanced"},
    {16, 1, 1, 8, 32, 5, 4, "atlas", "none", "token_flag", "replicated", 32, "epoch", "zipf"},
    {16, 1, 1, 5, 1056, 2, 5, "atlas", "int8_dynamic", "token_flag", "replicated", 32, "epoch", "balanced"},
    {16, 1, 8, 3, 544, 48, 3, "atlas", "none", "status", "replicated", 32, "clear", "balanced"},
    {16, 2, 1, 3, 7168, 12, 4, "atlas", "int8_dynamic", "status", "replicated", 512, "clear", "hot"},
    {16, 3, 2, 2, 1056, 1, 5, "atlas", "none", "status", "replicated", 512, "clear", "zipf"},
    {16, 3, 3, 12, 96, 1, 2, "atlas", "none", "status", "matrix", 32, "clear", "uniform"},
    {16, 3, 7, 12, 512, 5, 1, "atlas", "int8_dynamic", "token_flag", "matrix", 32, "clear", "hot"},
    {16, 3, 32, 1, 1024, 12, 1, "atlas", "int8_dynamic", "token_flag", "replicated", 32, "epoch", "hot"},
    {24, 1, 1, 8, 96, 1, 5, "atlas", "none", "token_flag", "matrix", 32, "epoch", "zipf"},
    {24, 1, 1, 12, 1056, 12, 4, "atlas", "int8_dynamic", "status", "replicated", 512, "epoch", "hot"},
    {24, 2, 3, 3, 512, 48, 2, "atlas", "int8_dynamic", "token_flag", "replicated", 32, "epoch", "hot"},
    {24, 2, 8, 1, 7168, 5, 2, "atlas", "int8_dynamic", "status", "matrix", 512, "clear", "uniform"},
    {24, 3, 2, 1, 32, 12, 3, "atlas", "none", "status", "matrix", 32, "clear", "uniform"},
    {24, 3, 3, 5, 1024, 5, 3, "atlas", "int8_dynamic", "token_flag", "replicated", 32, "epoch", "balanced"},
    {24, 3, 7, 2, 544, 2, 1, "atlas", "int8_dynamic", "status", "matrix", 512, "clear", "uniform"},
    {24, 3, 32, 1, 512, 1, 2, "atlas", "none", "status", "matrix", 32, "clear", "uniform"},
    {2, 3, 2, 1, 32, 5, 1, "tiny", "none", "status", "matrix", 32, "epoch", "uniform"},
    {2, 3, 8, 5, 96, 12, 3, "tiny", "none", "status", "replicated", 32, "clear", "hot"},
    {2, 3, 32, 1, 544, 5, 5, "tiny", "int8_dynamic", "token_flag", "replicated", 32, "epoch", "hot"},
    {2, 3, 128, 1, 1024, 2, 5, "tiny", "none", "status", "replicated", 512, "clear", "hot"},
    {3, 1, 32, 2, 32, 5, 3, "tiny", "none", "status", "matrix", 512, "clear", "zipf"},
    {3, 1, 128, 3, 544, 2, 1, "tiny", "none", "token_flag", "matrix", 32, "epoch", "uniform"},
    {3, 3, 3, 8, 544, 12, 2, "tiny", "none", "status", "matrix", 32, "clear", "balanced"},
    {3, 3, 32, 2, 96, 1, 4, "tiny", "int8_dynamic", "token_flag", "replicated", 512, "epoch", "uniform"},
    {4, 3, 3, 5, 32, 1, 5, "tiny", "int8_dynamic", "token_flag", "replicated", 32, "epoch", "uniform"},
    {4, 3, 8, 3, 512, 2, 4, "tiny", "none", "token_flag", "matrix", 512, "epoch", "balanced"},
    {5, 1, 1, 5, 512, 12, 1, "tiny", "none", "token_flag", "matrix", 32, "clear", "zipf"},
    {5, 1, 128, 1, 1024, 1, 1, "tiny", "int8_dynamic", "status", "matrix", 32, "clear", "zipf"},
    {5, 2, 2, 8, 32, 2, 1, "tiny", "int8_dynamic", "status", "matrix", 512, "epoch", "hot"},
    {5, 2, 7, 5, 1024, 5, 3, "tiny", "int8_dynamic", "token_flag", "replicated", 32, "epoch", "balanced"},
    {5, 2, 8, 3, 1056, 5, 5, "tiny", "none", "token_flag", "replicated", 32, "epoch", "uniform"},
    {5, 3, 8, 12, 512, 1, 3, "tiny", "int8_dynamic", "status", "matrix", 32, "clear", "hot"},
    {5, 3, 32, 1, 544, 2, 4, "tiny", "int8_dynamic", "token_flag", "matrix", 32, "epoch", "balanced"},
    {7, 1, 32, 3, 512, 12, 1, "tiny", "none", "token_flag", "replicated", 32, "clear", "uniform"},
    {7, 2, 2, 12, 1024, 12, 4, "tiny", "none", "status", "replicated", 512, "epoch", "balanced"},
    {7, 3, 7, 8, 1056, 2, 2, "tiny", "int8_dynamic", "token_flag", "replicated", 512, "clear", "zipf"},
    {7, 3, 128, 1, 96, 5, 1, "tiny", "none", "token_flag", "matrix", 512, "epoch", "hot"},
    {8, 2, 2, 12, 544, 1, 5, "tiny", "none", "token_flag", "replicated", 512, "clear", "zipf"},
    {8, 2, 7, 3, 1024, 1, 4, "tiny", "int8_dynamic", "token_flag", "replicated", 32, "epoch", "zipf"},
    {8, 3, 1, 12, 1056, 1, 1, "tiny", "none", "token_flag", "replicated", 512, "epoch", "uniform"},
    {8, 3, 3, 5, 96, 2, 3, "tiny", "int8_dynamic", "status", "matrix", 512, "epoch", "hot"},
    {8, 3, 7, 12, 32, 5, 2, "tiny", "int8_dynamic", "status", "matrix", 32, "clear", "hot"},
};

void climb(std::size_t part, std::size_t parts) {
    for (std::size_t i = part; i < kLadder.size(); i += parts) {
        const Rung& r = kLadder[i];
        Sets sets = sized({r.cards, r.experts_per_card, r.batch, r.top_k, r.hidden, r.cores});
        if (r.machine == std::string("tiny")) {
            sets.push_back(kTiny);
        }
        sets = sets + Sets{fmt::format("/calls={}", r.calls),
                           fmt::format("/workload/quant={}", r.quant),
                           fmt::format("/workload/routing/kind={}", r.routing),
                           fmt::format("/algorithm/options/sync_mode={}", r.sync_mode),
                           fmt::format("/algorithm/options/cumsum={}", r.cumsum),
                           fmt::format("/algorithm/options/status_stride_bytes={}", r.stride),
                           fmt::format("/algorithm/options/flag_reset={}", r.reset)};
        delivers(sets, std::uint64_t{r.cards} * r.batch * r.top_k * r.calls);
    }
}

}  // namespace

// Two halves, so that two processes can climb at the same time.
TEST_CASE("ladder: any two sizes and options together deliver every byte, odd rungs", "[kernel]") { climb(0, 2); }
TEST_CASE("ladder: any two sizes and options together deliver every byte, even rungs", "[kernel]") { climb(1, 2); }
