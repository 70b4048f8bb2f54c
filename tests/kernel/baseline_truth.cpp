// SPDX-License-Identifier: Apache-2.0
/// The baseline delivers every byte, whatever the sizes, options and machine.
#include "tests/kernel/kernel_support.hpp"
#include "tests/support/temp_dir.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

using namespace podsim;

TEST_CASE("baseline: sizes at the rim: one card, one core, one row, many experts a card, large rows", "[kernel]") {
    delivers(sized({1, 1, 1, 1, 32, 1}), 1);
    delivers(sized({1, 4, 5, 3, 96, 48}), 5 * 3);
    delivers(sized({2, 32, 3, 12, 64, 48}), 2 * 3 * 12);
    delivers(sized({16, 1, 2, 6, 7168, 48}), 16 * 2 * 6);
    delivers(sized({3, 1, 2, 2, 8192, 48}), 3 * 2 * 2);
    delivers(sized({2, 8, 128, 8, 64, 48}), 2 * 128 * 8);
    delivers(sized({13, 1, 4, 12, 480, 7}), 13 * 4 * 12);
}

TEST_CASE("baseline: unquantized rows, uneven cards, none on a card, several calls", "[kernel]") {
    const Sets four = sized({4, 2, 6, 3, 1056, 12});
    delivers(four + Sets{"/workload/quant=none"}, 4 * 6 * 3);
    for (const char* sync : {"status", "token_flag"}) {
        const Sets mode = four + Sets{fmt::format("/algorithm/options/sync_mode={}", sync)};
        delivers(mode + Sets{"/workload/routing/tokens_per_card=[6,1,0,4]"}, 11 * 3);
        delivers(mode + Sets{"/workload/routing/tokens_per_card=[0,0,0,1]", "/calls=3"}, 3 * 3);
        delivers(mode + Sets{"/workload/routing/tokens_per_card=[0,0,0,0]", "/calls=2"}, 0);
        delivers(mode + Sets{"/calls=5"}, 5 * 4 * 6 * 3);
        delivers(mode + Sets{"/calls=5", "/algorithm/options/flag_reset=clear", "/workload/quant=none"}, 5 * 4 * 6 * 3);
    }
}

TEST_CASE("baseline: cards that start at different times, and other seeds", "[kernel]") {
    const Sets five = sized({5, 2, 7, 4, 544, 5}) + Sets{"/calls=4"};
    for (const int seed : {1, 2, 3}) {
        for (const char* reset : {"epoch", "clear"}) {
            delivers(five + Sets{fmt::format("/seed={}", seed), "/machine/launch/card_start_skew=20us",
                                 fmt::format("/algorithm/options/flag_reset={}", reset)},
                     std::uint64_t{4} * 5 * 7 * 4);
        }
    }
}

TEST_CASE("baseline: every combination of options delivers", "[kernel]") {
    for (const char* sync : {"status", "token_flag"}) {
        for (const char* cumsum : {"replicated", "matrix"}) {
            for (const int stride : {32, 512}) {
                for (const char* reset : {"epoch", "clear"}) {
                    delivers(sized({4, 2, 4, 3, 544, 6}) +
                                 Sets{fmt::format("/algorithm/options/sync_mode={}", sync),
                                      fmt::format("/algorithm/options/cumsum={}", cumsum),
                                      fmt::format("/algorithm/options/status_stride_bytes={}", stride),
                                      fmt::format("/algorithm/options/flag_reset={}", reset), "/calls=3"},
                             3 * 4 * 4 * 3);
                }
            }
        }
    }
}

TEST_CASE("baseline on the fictitious machine", "[kernel]") {
    delivers(Sets{kTiny} + sized({6, 2, 5, 4, 1024, 12}), 6 * 5 * 4);
    delivers(Sets{kTiny} + sized({12, 1, 3, 2, 96, 5}) + Sets{"/calls=2"}, 2 * 12 * 3 * 2);
}

TEST_CASE("baseline: shared experts take a copy of every token", "[kernel]") {
    for (const char* sync : {"status", "token_flag"}) {
        const Sets mode = sized({6, 2, 5, 3, 544, 12}) + Sets{fmt::format("/algorithm/options/sync_mode={}", sync)};
        delivers(mode + Sets{"/workload/experts=8", "/workload/shared_experts=1", "/workload/shared_expert_cards=2"},
                 6 * 5 * (3 + 1));
        delivers(mode + Sets{"/workload/experts=8", "/workload/shared_experts=2", "/workload/shared_expert_cards=2",
                             "/calls=3", "/workload/quant=none"},
                 3 * 6 * 5 * (3 + 2));
        delivers(mode + Sets{"/workload/experts=3", "/workload/shared_experts=1", "/workload/shared_expert_cards=3",
                             "/workload/routing/tokens_per_card=[5,0,2,0,1,3]", "/algorithm/aiv_cores=1"},
                 11 * (3 + 1));
    }
}

TEST_CASE("baseline: dropped selections of a trace", "[kernel]") {
    const podsim::test::TempDir dir;
    std::string rows, none;
    for (int token = 0; token < 8; ++token) {
        rows += fmt::format("{},{}\n", token % 4, token % 2 == 0 ? -1 : 4 + token % 4);
        none += "-1,-1\n";
    }
    const Sets file = sized({4, 2, 2, 2, 96, 4}) + Sets{"/workload/routing/kind=file"};
    // 4 cards x 2 tokens; every other token lost one of its two selections.
    const std::string some = dir.write("routes.csv", rows);
    delivers(file + Sets{"/workload/routing/path=" + some}, 8 * 2 - 4);
    delivers(file + Sets{"/workload/routing/path=" + some, "/algorithm/options/sync_mode=token_flag", "/calls=2"},
             2 * (8 * 2 - 4));
    // A token may lose all of its selections, and so may every token.
    delivers(file + Sets{"/workload/routing/path=" + dir.write("none.csv", none)}, 0);
}
