// SPDX-License-Identifier: Apache-2.0
/// The baseline delivers every byte, whatever the sizes, options and machine.
#include "models/engine/error.hpp"
#include "tests/kernel/kernel_support.hpp"
#include "tests/support/temp_dir.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

using namespace podsim;

namespace {

void delivers(const Sets& sets, std::uint64_t rows) {
    std::string name;
    for (const std::string& set : sets) {
        name += set + " ";
    }
    INFO(name);
    const auto simulation = run_with(sets);
    for (const std::string& line : simulation->diagnosis()) {
        UNSCOPED_INFO(line);
    }
    CHECK(name_of(simulation->status()) == "ok");
    CHECK(simulation->job().check().rows() == rows);
    CHECK(simulation->job().check().mismatches() == 0);
}

Sets sized(std::uint32_t cards, std::uint32_t experts_per_card, std::uint32_t batch, std::uint32_t top_k,
           std::uint32_t hidden, std::uint32_t cores) {
    return {fmt::format("/cards={}", cards),
            fmt::format("/workload/experts={}", cards * experts_per_card),
            fmt::format("/workload/batch_size={}", batch),
            fmt::format("/workload/top_k={}", top_k),
            fmt::format("/workload/hidden={}", hidden),
            fmt::format("/algorithm/aiv_cores={}", cores)};
}

Sets operator+(Sets a, const Sets& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace

TEST_CASE("baseline ladder: card counts, batches, top-k, hidden sizes and cores", "[kernel]") {
    struct Rung {
        std::uint32_t cards, per_card, batch, top_k, hidden, cores;
    };
    const std::vector<Rung> ladder{{2, 2, 1, 1, 32, 1},    {3, 1, 2, 2, 96, 2},     {4, 3, 3, 5, 512, 48},
                                   {5, 2, 7, 4, 544, 5},   {7, 2, 8, 8, 1024, 12},  {8, 1, 32, 3, 1056, 48},
                                   {13, 1, 4, 12, 480, 7}, {16, 1, 2, 6, 7168, 48}, {2, 8, 128, 8, 64, 48}};
    for (const Rung& r : ladder) {
        delivers(sized(r.cards, r.per_card, r.batch, r.top_k, r.hidden, r.cores),
                 std::uint64_t{r.cards} * r.batch * r.top_k);
    }
}

TEST_CASE("baseline: unquantized rows, uneven cards, none on a card, several calls", "[kernel]") {
    const Sets four = sized(4, 2, 6, 3, 1056, 12);
    delivers(four + Sets{"/workload/quant=none"}, 4 * 6 * 3);
    delivers(four + Sets{"/workload/routing/tokens_per_card=[6,1,0,4]"}, 11 * 3);
    delivers(four + Sets{"/calls=5"}, 5 * 4 * 6 * 3);
    delivers(four + Sets{"/calls=5", R"(/algorithm/options/flag_reset="clear")", "/workload/quant=none"},
             5 * 4 * 6 * 3);
}

TEST_CASE("baseline: every combination of options delivers", "[kernel]") {
    for (const char* sync : {"status", "token_flag"}) {
        for (const char* cumsum : {"replicated", "matrix"}) {
            for (const int stride : {32, 512}) {
                for (const char* reset : {"epoch", "clear"}) {
                    delivers(sized(4, 2, 4, 3, 544, 6) +
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
    delivers(Sets{kTiny} + sized(6, 2, 5, 4, 1024, 12), 6 * 5 * 4);
    delivers(Sets{kTiny} + sized(12, 1, 3, 2, 96, 5) + Sets{"/calls=2"}, 2 * 12 * 3 * 2);
}

TEST_CASE("baseline: shared experts take a copy of every token", "[kernel]") {
    const Sets shared{"/cards=6",
                      "/workload/shared_experts=1",
                      "/workload/shared_expert_cards=2",
                      "/workload/experts=8",
                      "/workload/batch_size=5",
                      "/workload/top_k=3",
                      "/workload/hidden=544"};
    delivers(shared, 6 * 5 * (3 + 1));
}

TEST_CASE("baseline: dropped selections of a trace", "[kernel]") {
    const podsim::test::TempDir dir;
    std::string rows;
    for (int token = 0; token < 8; ++token) {
        rows += fmt::format("{},{}\n", token % 4, token % 2 == 0 ? -1 : 4 + token % 4);
    }
    const std::string trace = dir.write("routes.csv", rows);
    // 4 cards x 2 tokens; every other token lost one of its two selections.
    delivers(sized(4, 2, 2, 2, 96, 4) + Sets{R"(/workload/routing/kind="file")", "/workload/routing/path=" + trace},
             8 * 2 - 4);
}

TEST_CASE("a token flag without its barrier is wrong on the unordered fabric and right on the ordered one",
          "[kernel]") {
    const Sets incast = sized(8, 1, 64, 2, 7168, 48) +
                        Sets{"/workload/routing/kind=hot", R"(/algorithm/options/sync_mode="token_flag")"};
    const Sets bare{"/algorithm/options/token_barrier=false"};
    const Sets jitter{"/machine/hccs/extra_reorder=3000"};
    const Sets ordered{"/machine/hccs/network_in_order=true", "/machine/hccs/noc_first_packet_order=true"};
    const std::uint64_t rows = 8 * 64 * 2;

    auto wrong = run_with(incast + bare + jitter);
    CHECK(wrong->status() == RunStatus::mismatch);
    CHECK(exit_code_of(wrong->status()) == ExitCode::kernel_wrong);
    REQUIRE(!wrong->job().check().examples().empty());
    const Mismatch first = wrong->job().check().examples().front();
    wrong.reset();  // one simulation at a time
    CHECK(first.expert >= 0);
    CHECK(first.landed_us > first.read_us);  // the block came after it was read

    delivers(incast + jitter, rows);
    delivers(incast + ordered, rows);
    delivers(incast + bare + ordered, rows);
    delivers(incast + bare + jitter + ordered, rows);
}
