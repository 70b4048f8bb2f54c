// SPDX-License-Identifier: Apache-2.0
// Results on values of the run's input are lazy and shared, and are the bytes they would be if computed at once.
#include "models/aicore/vector_result.hpp"
#include "tests/support/device_under_test.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace podsim;
using namespace podsim::test;

namespace {

/// Input that is made when asked for, and counts how often.
class Input final : public Payload {
public:
    Input(std::uint32_t size, std::uint64_t seed, int& asked) : Payload(size), seed_(seed), asked_(asked) {}
    void copy_to(std::uint32_t offset, std::span<std::byte> out) const override {
        ++asked_;
        const auto all = random_bytes(size(), seed_);
        std::copy_n(all.begin() + offset, out.size(), out.begin());
    }
    bool memoizable() const override { return true; }

private:
    std::uint64_t seed_;
    int& asked_;
};

VectorCall call_of(VectorOp op, DataType src, DataType dst, std::uint32_t count) {
    VectorCall c;
    c.op = op;
    c.src_type = src;
    c.dst_type = dst;
    c.count = count;
    c.src0.length = count * size_of(src);
    c.dst.length = result_bytes(c);
    return c;
}

std::vector<std::byte> at_once(const VectorCall& c, const Slice& a, const Slice& b) {
    VectorResults plain(false);
    return bytes_of(plain.apply(c, a, b));
}

}  // namespace

TEST_CASE("vector result: shared by operation and inputs, computed when read", "[vector]") {
    int asked = 0;
    const PayloadRef input(new Input(4096, 3, asked));
    VectorResults results(true);
    const Slice row{input, 0, 2048};
    const VectorCall cast = call_of(VectorOp::cast, DataType::s16, DataType::s32, 1024);
    const Slice first = results.apply(cast, row, {});
    VectorCall elsewhere = cast;  // the same instruction with other UB addresses
    elsewhere.src0.offset = 8192;
    elsewhere.dst.offset = 65'536;
    const Slice second = results.apply(elsewhere, row, {});
    CHECK(first == second);
    CHECK(results.remembered() == 1);
    CHECK(asked == 0);
    CHECK(bytes_of(first) == at_once(cast, row, {}));
    CHECK(asked > 0);
}

TEST_CASE("vector result: everything that decides a result tells results apart", "[vector]") {
    int asked = 0;
    const PayloadRef input(new Input(4096, 3, asked));
    const PayloadRef other(new Input(4096, 4, asked));
    VectorResults results(true);
    const Slice row{input, 0, 1024};
    std::vector<std::pair<VectorCall, Slice>> calls;
    const VectorCall base = call_of(VectorOp::cast, DataType::f16, DataType::s32, 256);
    for (const Round round : {Round::rint, Round::floor, Round::ceil, Round::trunc}) {
        calls.emplace_back(base, row);
        calls.back().first.round = round;
    }
    calls.emplace_back(call_of(VectorOp::cast, DataType::f16, DataType::s8, 256), row);
    calls.emplace_back(call_of(VectorOp::cast, DataType::bf16, DataType::s32, 256), row);
    calls.emplace_back(base, Slice{input, 64, 1024});
    calls.emplace_back(base, Slice{other, 0, 1024});
    VectorCall gather = call_of(VectorOp::gather_mask, DataType::s16, DataType::s16, 256);
    for (const std::uint32_t every : {1U, 2U, 8U}) {
        for (const std::uint32_t first : {0U, 1U}) {
            gather.first = first;
            gather.every = every;
            gather.dst.length = result_bytes(gather);
            calls.emplace_back(gather, row);
        }
    }
    VectorCall compare = call_of(VectorOp::compare_scalar, DataType::s16, DataType::u8, 256);
    for (const Compare how : {Compare::lt, Compare::ge}) {
        for (const std::uint64_t scalar : {0U, 100U}) {
            compare.compare = how;
            compare.scalar = scalar;
            calls.emplace_back(compare, row);
        }
    }
    std::vector<Slice> lazy;
    lazy.reserve(calls.size());
    for (const auto& [call, source] : calls) {
        lazy.push_back(results.apply(call, source, {}));
    }
    CHECK(results.remembered() == calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
        CAPTURE(i);
        CHECK(bytes_of(lazy[i]) == at_once(calls[i].first, calls[i].second, {}));
        // A part of it is a part of it.
        if (lazy[i].length > 20) {
            const auto all = bytes_of(lazy[i]);
            CHECK(bytes_of(lazy[i].sub(7, 11)) == std::vector<std::byte>(all.begin() + 7, all.begin() + 18));
        }
    }
}

TEST_CASE("vector result: chains stay lazy, small ones are kept, plain inputs are computed at once", "[vector]") {
    int asked = 0;
    const PayloadRef input(new Input(4096, 5, asked));
    VectorResults results(true);
    const VectorCall widen = call_of(VectorOp::cast, DataType::s16, DataType::f32, 512);
    const VectorCall most = call_of(VectorOp::reduce_max, DataType::f32, DataType::f32, 512);
    const Slice wide = results.apply(widen, {input, 0, 1024}, {});
    const Slice top = results.apply(most, wide, {});
    CHECK(asked == 0);
    const auto expected = at_once(most, wide, {});
    const int before = asked;
    CHECK(bytes_of(top) == expected);
    CHECK(asked == before + 1);
    CHECK(bytes_of(top) == expected);
    CHECK(asked == before + 1);  // kept

    const auto plain = random_bytes(1024, 9);
    const Slice held{make_bytes(plain), 0, 1024};
    const std::size_t remembered = results.remembered();
    const Slice computed = results.apply(widen, held, {});
    CHECK(results.remembered() == remembered);
    CHECK(bytes_of(computed) == at_once(widen, held, {}));
    // Zeros nobody wrote are an operand, too.
    CHECK(bytes_of(results.apply(widen, {nullptr, 0, 1024}, {})) == std::vector<std::byte>(2048));
}

TEST_CASE("vector result: an empty result is written nowhere", "[vector]") {
    DeviceUnderTest dut(machine("tiny_pod"));
    dut.launch_one([](Aiv& aiv) -> Task<void> {
        const LocalTensor<float> x{0, 64};
        aiv.Duplicate(x, 3.0F, 64);
        aiv.PipeBarrier<Pipe::v>();
        aiv.GatherMask(x, x, 8, 8, 8);
        aiv.Sync<HardEvent::V_MTE3>();
        aiv.DataCopy(gm_tensor<float>(0), x, 64);
        aiv.End();
        co_return;
    });
    dut.run();
    CHECK(dut.gm_values<float>({}, 64) == std::vector<float>(64, 3.0F));
}

TEST_CASE("vector result: words read one by one share one evaluation, among many rows, too", "[vector]") {
    int asked = 0;
    VectorResults results(true);
    const VectorCall cast = call_of(VectorOp::cast, DataType::s16, DataType::s32, 64);
    {
        const PayloadRef input(new Input(128, 1, asked));
        const Slice row = results.apply(cast, {input, 0, 128}, {});
        const auto expected = at_once(cast, {input, 0, 128}, {});
        asked = 0;
        for (std::uint32_t at = 0; at < 256; at += 8) {
            const auto word = bytes_of(row.sub(at, 8));
            REQUIRE(std::equal(word.begin(), word.end(), expected.begin() + at));
        }
        CHECK(asked == 1);
    }
    // More rows than are held at a time, a word of each in turn.
    std::vector<Slice> rows;
    std::vector<std::vector<std::byte>> expected;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        const Slice input{PayloadRef(new Input(128, seed, asked)), 0, 128};
        rows.push_back(results.apply(cast, input, {}));
        expected.push_back(at_once(cast, input, {}));
    }
    for (std::uint32_t at = 0; at < 256; at += 64) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto word = bytes_of(rows[i].sub(at, 8));
            REQUIRE(std::equal(word.begin(), word.end(), expected[i].begin() + at));
        }
    }
}
