// SPDX-License-Identifier: Apache-2.0
/// All choices of the Dispatch kernel: presets are sets of them, combinations run right or are refused.
#include "algorithms/dispatch/dispatch_options.hpp"
#include "models/engine/error.hpp"
#include "tests/kernel/kernel_support.hpp"
#include "tests/kernel/option_draws.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <random>

using namespace podsim;

namespace {

const Sizes kOdd[] = {{4, 2, 6, 3, 544, 6},  {4, 2, 4, 3, 1024, 12}, {4, 1, 7, 4, 96, 5},
                      {4, 1, 3, 2, 1056, 1}, {4, 3, 9, 4, 2048, 9},  {4, 2, 8, 3, 480, 2}};

/// Legal combinations number `part` of `parts`, each on sizes of its own: pairs of values meet many times over.
void runs_right(unsigned part, unsigned count) {
    std::mt19937 random(part);
    for (unsigned done = 0; done < count;) {
        const Options options = drawn(random);
        if (!refuse_dispatch_options(options).empty()) {
            continue;
        }
        ++done;
        const Sizes& s = kOdd[random() % std::size(kOdd)];
        Sets sets = sized(s) + sets_of(options) + Sets{"/calls=3"};
        if (random() % 3 == 0) {
            sets.insert(sets.begin(), kTiny);
        }
        if (random() % 2 == 0) {
            sets.emplace_back("/workload/quant=none");
        }
        if (random() % 4 == 0) {
            sets.emplace_back("/machine/hccs/extra_reorder=2000");
        }
        if (random() % 3 == 0) {
            sets.emplace_back("/workload/routing/kind=hot");
        }
        delivers(sets, std::uint64_t{3} * s.cards * s.batch * s.top_k);
    }
}

}  // namespace

TEST_CASE("presets are sets of options, byte for byte", "[kernel]") {
    for (const char* name : {"v2", "optimized", "fullmesh_gen_a"}) {
        CAPTURE(name);
        Sets by_options{"/calls=2"};
        for (const OptionSpec& spec : find_kernel(name)->options) {
            by_options.push_back(kOption + spec.key + "=" + text_of(spec.standard));
        }
        nlohmann::ordered_json preset = result_with({"/calls=2", std::string("/algorithm/name=") + name});
        nlohmann::ordered_json options = result_with(by_options);
        REQUIRE(preset["status"] == "ok");
        CHECK(preset["algorithm"] == name);
        CHECK(options["algorithm"] == "baseline");
        for (nlohmann::ordered_json* result : {&preset, &options}) {
            result->erase("algorithm");
            (*result)["config"]["algorithm"].erase("name");
        }
        CHECK(options.dump() == preset.dump());
    }
}

TEST_CASE("combinations of options deliver every byte at 4 cards, first part", "[kernel]") { runs_right(1, 60); }
TEST_CASE("combinations of options deliver every byte at 4 cards, second part", "[kernel]") { runs_right(2, 60); }

TEST_CASE("rows that travel as they are keep their flags in order while arrived rows are taken in", "[kernel]") {
    // Few cores, many rows each, cards unevenly loaded: MTE2 falls behind with the rows that have come.
    const Sets kModes[] = {{kOption + "sync_mode=token_flag"},
                           {kOption + "sync_mode=block_flag", kOption + "block_layout=striped_504"},
                           {kOption + "sync_mode=block_flag", kOption + "block_layout=packed_480"}};
    const Sets meanwhile{kOption + "early_counts=true", kOption + "cumsum=early", kOption + "soft_sync=true",
                         kOption + "out_of_order=true", kOption + "receive_schedule=dynamic"};
    for (const Sets& mode : kModes) {
        for (const std::uint32_t cores : {1U, 2U, 6U}) {
            for (const char* depth : {"1", "2", "4"}) {
                const Sizes s{4, 4, 24, 4, 1024, cores};
                delivers(sized(s) + mode + meanwhile +
                             Sets{"/workload/quant=none", "/workload/routing/kind=uniform",
                                  kOption + "pipeline_depth=" + depth},
                         std::uint64_t{s.cards} * s.batch * s.top_k);
            }
        }
    }
}

TEST_CASE("combinations that cannot run are refused with their reason", "[kernel]") {
    const struct {
        Sets sets;
        const char* reason;
    } kRefused[] = {
        {{"sync_mode=block_flag"}, "needs a flag in every block"},
        {{"block_layout=packed_480"}, "only sync_mode block_flag looks at"},
        {{"sync_mode=token_flag", "block_layout=striped_504"}, "only sync_mode block_flag looks at"},
        {{"cumsum=early"}, "needs early_counts"},
        {{"out_of_order=true"}, "needs to know of each row"},
        {{"receive_batch=4"}, "need out_of_order"},
        {{"receive_schedule=dynamic"}, "need out_of_order"},
        {{"sync_mode=token_flag", "out_of_order=true", "reorder_granularity=chunk"}, "checked by block flags"},
        {{"sync_mode=token_flag", "out_of_order=true", "receive_schedule=dynamic", "cumsum=matrix"}, "its own only"},
        {{"shared_bitmap=true"}, "what vector_bitmap makes"},
        {{"vector_bitmap=true", "quantize_once=true"}, "sends by expert"},
        {{"status_stride_bytes=64"}, "32 or 512"},
    };
    for (const auto& [sets, reason] : kRefused) {
        Sets full;
        for (const std::string& set : sets) {
            full.push_back(kOption + set);
        }
        CAPTURE(full);
        try {
            load_run_config(kSmoke, full);
            FAIL("not refused");
        } catch (const UserError& error) {
            CHECK(std::string(error.what()).find(reason) != std::string::npos);
        }
    }
}

TEST_CASE("optimized: uneven cards, none on a card, shared experts, many calls, skewed starts", "[kernel]") {
    for (const char* name : {"optimized", "fullmesh_gen_a"}) {
        const Sets kernel{std::string("/algorithm/name=") + name};
        const Sets four = sized({4, 2, 6, 3, 1056, 12}) + kernel;
        delivers(four + Sets{"/workload/routing/tokens_per_card=[6,1,0,4]"}, 11 * 3);
        delivers(four + Sets{"/workload/routing/tokens_per_card=[0,0,0,0]", "/calls=2"}, 0);
        delivers(four + Sets{"/calls=5", "/machine/launch/card_start_skew=20us"}, 5 * 4 * 6 * 3);
        delivers(sized({6, 2, 5, 3, 544, 12}) + kernel +
                     Sets{"/workload/experts=8", "/workload/shared_experts=1", "/workload/shared_expert_cards=2",
                          "/calls=3"},
                 3 * 6 * 5 * (3 + 1));
    }
}

TEST_CASE("optimized: any number of count cores", "[kernel]") {
    for (const int cores : {1, 2, 5, 11}) {
        delivers(sized({4, 4, 6, 3, 544, 12}) +
                     Sets{"/algorithm/name=optimized", fmt::format("/algorithm/count_cores={}", cores), "/calls=2"},
                 2 * 4 * 6 * 3);
    }
}

TEST_CASE("a ladder of card counts for the optimized kernels", "[kernel]") {
    for (const char* name : {"optimized", "fullmesh_gen_a"}) {
        for (const std::uint32_t cards : {1U, 2U, 3U, 7U, 16U, 24U}) {
            delivers(sized({cards, 2, 5, 2, 1024, 48}) + Sets{std::string("/algorithm/name=") + name, "/calls=2"},
                     std::uint64_t{2} * cards * 5 * 2);
        }
    }
}

TEST_CASE("blocks of a 7 KB row by plane: plain 2, with flags 3", "[kernel]") {
    Workload w;
    w.hidden = 7168;
    const RowLayout plain(w, BlockLayout::plain), striped(w, BlockLayout::striped_504),
        packed(w, BlockLayout::packed_480);
    // 7168 B of values are 14 blocks = 2 on each of 7 planes; scale and triple take a part of one more.
    CHECK(w.row_value_bytes() / kBlockBytes == 14);
    CHECK(plain.blocks() == 15);
    CHECK(striped.blocks() == 3 * 7);
    CHECK(packed.blocks() == 16);  // ceil(7232 / 480)
    const DispatchLayout layout(w, 48, 32, BlockLayout::striped_504);
    for (const std::uint32_t slot : {0U, 1U, 31U}) {
        std::vector<unsigned> planes(7, 0);
        for (std::uint32_t b = 0; b < striped.blocks(); ++b) {
            // The published property of the hash: consecutive blocks on consecutive planes.
            const auto at = layout.slot(3, 1, 5, 2, slot).address.offset + b * kBlockBytes;
            ++planes[at / kBlockBytes % 7];
        }
        CHECK(planes == std::vector<unsigned>(7, 3));
    }
    // The stripe's three blocks are 7 and 14 blocks apart: on one plane.
    CHECK(striped.stripes % 7 == 0);
}

TEST_CASE("what a row sends crosses the fabric once, and no byte of it is staged in the sender's memory", "[kernel]") {
    // Every byte that cores store to their own card is accounted for; a staged row would be too many.
    for (const char* layout : {"striped_504", "packed_480"}) {
        for (const char* quant : {"int8_dynamic", "none"}) {
            CAPTURE(layout, quant);
            const auto simulation = run_with(sized({8, 2, 8, 4, 7168, 48}) +
                                             Sets{"/algorithm/name=optimized", kOption + "block_layout=" + layout,
                                                  std::string("/workload/quant=") + quant, "/check/hazards=off"});
            REQUIRE(simulation->status() == RunStatus::ok);
            const RunConfig& config = simulation->config();
            const RowLayout& row = simulation->layout().row();
            const std::uint32_t cores = config.algorithm.aiv_cores, counters = 1;  // 16 experts: one count core
            const std::uint32_t entries = 2 * 8, experts = 16;
            for (std::uint32_t card = 0; card < 8; ++card) {
                std::uint64_t rows = 0, own = 0;
                for (const RowOrigin& origin : simulation->job().reference(0).output(card)) {
                    ++rows;
                    own += origin.source == card ? 1 : 0;
                }
                const std::uint64_t scale = config.workload.quant == Quant::int8_dynamic ? 4 : 0;
                const std::uint64_t window = own * row.slot_bytes                           // to itself, to be received
                                             + rows * row.sent_blocks * kUbGranule;         // flags cleared
                const std::uint64_t output = rows * (row.value_bytes + scale + 12);         // values, scale, triple
                const std::uint64_t counts = 2 * 32                                         // statuses to itself
                                             + entries * 32                                 // statuses cleared
                                             + (std::uint64_t{cores} + 1) * entries * 4     // sums: copies, output
                                             + 2 * 8                                        // expertTokenNums
                                             + experts * simulation->layout().map_bytes();  // bit maps
                const std::uint64_t flags = (counters * (cores - counters) + cores) * std::uint64_t{32};
                std::uint64_t stored = 0;
                const Card& at = simulation->pod().card(CardId{card});
                for (std::uint32_t core = 0; core < at.cores(); ++core) {
                    stored += at.core(CoreId{core}).mte.out.statistics().local_bytes;
                }
                CAPTURE(card, window, output, counts, flags);
                CHECK(stored - (window + output + counts + flags) == 0);
            }
        }
    }
}

TEST_CASE("rows without the barrier before their flags are wrong, or never come", "[kernel]") {
    // One card sends, so nobody else has rows of its own to wait for; blocks are up to 50 us late.
    const Sets far = sized({4, 1, 16, 2, 7168, 48}) +
                     Sets{"/workload/routing/tokens_per_card=[16,0,0,0]", "/machine/hccs/extra_reorder=50000"};
    for (const char* early : {"false", "true"}) {
        for (const char* soft : {"false", "true"}) {
            const Sets mode = far + Sets{kOption + "early_counts=" + early, kOption + "soft_sync=" + soft};
            CHECK(run_with(mode)->status() == RunStatus::ok);
            const auto bare = run_with(mode + Sets{kOption + "rows_barrier=false"});
            CAPTURE(early, soft);
            const ExitCode code = exit_code_of(bare->status());
            CHECK((code == ExitCode::kernel_wrong || code == ExitCode::stuck));
        }
    }
}

TEST_CASE("rows without the barrier before their flags are no right answer where they happen to be in time",
          "[kernel]") {
    // Nothing is late here, and every card sends to every other alike: output bytes are right in most of these runs.
    const Sizes kQuiet[] = {{8, 4, 8, 4, 1024, 48}, {16, 4, 32, 8, 7168, 48}, {4, 2, 6, 3, 544, 6},
                            {2, 1, 1, 1, 96, 4},    {1, 4, 8, 2, 544, 48},    {24, 1, 3, 2, 480, 2}};
    unsigned lucky = 0;
    for (const Sizes& sizes : kQuiet) {
        for (const char* early : {"false", "true"}) {
            for (const char* soft : {"false", "true"}) {
                const Sets mode = sized(sizes) + Sets{kOption + "early_counts=" + early, kOption + "soft_sync=" + soft,
                                                      "/check/hazards=off"};
                CAPTURE(sizes.cards, sizes.batch, sizes.cores, early, soft);
                {
                    const auto right = run_with(mode);
                    CHECK(right->status() == RunStatus::ok);
                    CHECK(right->job().flags().early() == 0);
                }
                const auto bare = run_with(mode + Sets{kOption + "rows_barrier=false"});
                CHECK(bare->job().flags().early() > 0);
                const ExitCode code = exit_code_of(bare->status());
                CHECK((code == ExitCode::kernel_wrong || code == ExitCode::stuck));
                if (bare->failure() == "early_flag") {
                    ++lucky;
                    CHECK(bare->job().check().mismatches() == 0);
                }
            }
        }
    }
    CHECK(lucky > 0);
}

TEST_CASE("an early flag is told with its rows, their place in the window, and both times", "[kernel]") {
    const Sets bare{kOption + "rows_barrier=false"};
    const RunConfig config = load_run_config(kSmoke, bare);
    const Workload& w = config.workload;
    const DispatchLayout layout(w, config.algorithm.aiv_cores, 512);
    EarlyFlags listener(layout, 8, 48, false);
    const auto simulation = run_with(bare, {&listener});
    const auto& lines = simulation->diagnosis();
    REQUIRE(!lines.empty());
    std::uint64_t flags = 0;
    for (std::uint32_t card = 0; card < 8; ++card) {
        for (const EarlyFlag& early : listener.end_call(card, 0)) {
            CHECK(index(early.flag.core.card) == card);
            const std::uint32_t to = index(early.flag.to.card);
            // The row it names is one that this card's table has for that slot, and lies where the flag says.
            const auto& rows = simulation->job().reference(0).output(to);
            const auto row = std::find_if(rows.begin(), rows.end(), [&](const RowOrigin& r) {
                return r.source == card &&
                       layout.slot(to, 0, card, w.local_of_expert(r.expert), r.slot).address == early.store.to;
            });
            REQUIRE(row != rows.end());
            const auto first = layout.slot(to, 0, card, w.local_of_expert(row->expert), 0).address;
            CHECK(early.flag.announced == first.offset);
            CHECK(early.flag.announced_bytes == std::uint64_t{w.batch_size} * layout.row().slot_bytes);
            CHECK(early.flag.to == layout.status(to, 0, w.local_of_expert(row->expert) * 8 + card).address);
            if (flags++ == 0) {
                const std::string& told = lines.front();
                CAPTURE(told);
                for (const std::string& part :
                     {std::string("status_side.cpp:"),
                      fmt::format("call 0 card {} core {}: a flag to card {} left at {:.3f} us; it announces token {} "
                                  "for expert {} (slot {}) stored by core {}, which landed at ",
                                  card, index(early.flag.core.core), to, to_us(early.left), row->token, row->expert,
                                  row->slot, index(early.store.core.core)),
                      fmt::format("acknowledged at {:.3f} us", to_us(early.acknowledged)), std::string("is luck")}) {
                    CHECK(told.find(part) != std::string::npos);
                }
            }
        }
    }
    CHECK(flags > 0);
    CHECK(flags == simulation->job().flags().early());
    CHECK(lines.size() == std::min<std::size_t>(flags, 16));
}

TEST_CASE("early flags of a call that does not end are told with the deadlock or time-out", "[kernel]") {
    const auto simulation = run_with({kOption + "rows_barrier=false", "/limits/timeout_us=5", "/calls=2"});
    CHECK(exit_code_of(simulation->status()) == ExitCode::stuck);
    CHECK(simulation->job().flags().early() > 0);
    CHECK(simulation->diagnosis().back().find("luck") != std::string::npos);
}

TEST_CASE("soft sync takes the place of SyncAll and is counted", "[kernel]") {
    const auto hard = result_with({kOption + "soft_sync=false"});
    const auto soft = result_with({kOption + "soft_sync=true"});
    CHECK(hard["sync"]["sync_all"].get<int>() == 3);
    CHECK(soft["sync"]["sync_all"].get<int>() == 0);
    CHECK(soft["sync"]["soft_waits"].get<int>() > hard["sync"]["soft_waits"].get<int>());
    CHECK(soft["status"] == "ok");
}

TEST_CASE("optimized: ways of running that must not matter", "[kernel]") {
    for (const char* name : {"optimized", "fullmesh_gen_a"}) {
        const Sets base{std::string("/algorithm/name=") + name, "/calls=2", "/workload/hidden=1056"};
        const std::string plain = result_with(base).dump();
        for (const char* set : {"/engine/wake=systemc", "/engine/polling=explicit", "/engine/payload=copying"}) {
            CAPTURE(name, set);
            CHECK(result_with(base + Sets{set}).dump() == plain);
        }
    }
}

TEST_CASE("optimized is faster than baseline, its post-processing hidden", "[kernel]") {
    const Sets size = sized({16, 4, 32, 8, 7168, 48}) + Sets{"/check/hazards=off"};
    const auto before = result_with(size);
    const auto after = result_with(size + Sets{"/algorithm/name=optimized"});
    REQUIRE(after["status"] == "ok");
    CHECK(after["total_us"].get<double>() < before["total_us"].get<double>());
    CHECK(after["overlap"]["tail_us"].get<double>() < before["overlap"]["tail_us"].get<double>() / 2);
    CHECK(after["overlap"]["post_hidden_pct"].get<double>() > 50);
}
