// SPDX-License-Identifier: Apache-2.0
// Vector instructions: dependent, independent, long.
#include "algorithms/microbench/places.hpp"

namespace podsim {

namespace {

constexpr std::uint32_t kTimes = 256;
constexpr std::uint32_t kEmitted = 16;

struct Operands {
    LocalTensor<float> a, b, c;
};

using Emit = void (*)(Aiv& aiv, const Operands& operands, std::uint32_t count);

void emit_add(Aiv& aiv, const Operands& o, std::uint32_t n) { aiv.Add(o.c, o.a, o.b, n); }
void emit_mul(Aiv& aiv, const Operands& o, std::uint32_t n) { aiv.Mul(o.c, o.a, o.b, n); }
void emit_adds(Aiv& aiv, const Operands& o, std::uint32_t n) { aiv.Adds(o.c, o.a, 1.0F, n); }
void emit_duplicate(Aiv& aiv, const Operands& o, std::uint32_t n) { aiv.Duplicate(o.c, 1.0F, n); }
void emit_compare(Aiv& aiv, const Operands& o, std::uint32_t n) {
    aiv.CompareScalar(o.c.ReinterpretCast<std::uint8_t>(), o.a, 1.0F, Compare::eq, n);
}
void emit_narrow(Aiv& aiv, const Operands& o, std::uint32_t n) {
    aiv.Cast(o.c.ReinterpretCast<half>(), o.a, Round::rint, n);
}
void emit_gather_mask(Aiv& aiv, const Operands& o, std::uint32_t n) { aiv.GatherMask(o.c, o.a, n, 0, 1); }

/// bytes (of an operand), times: one instruction after the other, each waiting for the one before if `dependent`. The
/// operands lie one behind the other, or so that no two are in one bank group if `apart`.
template <Emit emit, bool dependent, bool apart>
Task<void> instructions(Aiv& aiv, const BenchWork& work) {
    const std::uint32_t count = work.bytes / sizeof(float);
    const std::uint32_t half_the_banks = aiv.machine().vector.bank_groups.peek() / 2 * kUbGranule;
    Operands o;
    o.a = aiv.Alloc<float>(count);
    if (apart) {  // operand b begins half the bank groups from a's begin
        const std::uint32_t all = 2 * half_the_banks;
        aiv.Alloc<std::uint8_t>((all + half_the_banks - work.bytes % all) % all);
    }
    o.b = aiv.Alloc<float>(count);
    o.c = aiv.Alloc<float>(count);
    aiv.Duplicate(o.a, 1.0F, 2 * count);
    aiv.PipeBarrierAll();
    for (std::uint32_t i = 0; i <= work.times; ++i) {
        if (i == 1) {  // the first one warms up
            aiv.PipeBarrierAll();
        }
        begin_at(aiv, i, 1);
        emit(aiv, o, count);
        if (dependent) {
            aiv.PipeBarrier<Pipe::v>();
        }
        if (i % kEmitted == kEmitted - 1) {
            co_await aiv.CatchUp();
        }
    }
    aiv.PipeBarrierAll();
    aiv.Phase(kBenchEnd);
    aiv.End();
}

/// Cycles of one instruction in a long run of them.
template <Emit emit, bool dependent, bool apart = false>
std::optional<double> cycles_each(BenchRunnerIf& runner, const BenchArguments& arguments) {
    if (4 * arguments.bytes > runner.machine().ub_bytes) {
        return std::nullopt;
    }
    BenchWork work;
    work.body = instructions<emit, dependent, apart>;
    work.bytes = arguments.bytes;
    work.times = kTimes;
    return to_cycles(alone(runner, work), runner.machine()) / kTimes;
}

/// What a 256 B repeat adds to a long instruction.
template <Emit emit, bool apart>
std::optional<double> cycles_per_repeat(BenchRunnerIf& runner, const BenchArguments& arguments) {
    constexpr std::uint32_t kRepeat = 256;
    const auto once = cycles_each<emit, true, apart>(runner, arguments);
    const auto twice = cycles_each<emit, true, apart>(runner, {2 * arguments.bytes, 0, {}});
    return once && twice ? std::optional((*twice - *once) * kRepeat / arguments.bytes) : std::nullopt;
}

/// Elements of 4 B a cycle in a run of instructions long enough that issue is hidden.
template <Emit emit>
std::optional<double> elements_per_cycle(BenchRunnerIf& runner, const BenchArguments& arguments) {
    const auto cycles = cycles_each<emit, false, true>(runner, arguments);
    return cycles ? std::optional(arguments.bytes / (sizeof(float) * *cycles)) : std::nullopt;
}

/// What PipeBarrier<V> adds between two instructions.
std::optional<double> barrier_v(BenchRunnerIf& runner, const BenchArguments& arguments) {
    const auto with = cycles_each<emit_add, true>(runner, arguments);
    const auto without = cycles_each<emit_add, false>(runner, arguments);
    return with && without ? std::optional(*with - *without) : std::nullopt;
}

}  // namespace

std::vector<Microbench> vector_benches() {
    return {{"add_dependent", "cycles", true, false, false, cycles_each<emit_add, true>},
            {"add_independent", "cycles", true, false, false, cycles_each<emit_add, false>},
            {"mul_dependent", "cycles", true, false, false, cycles_each<emit_mul, true>},
            {"add_repeat_conflict", "cycles", true, false, false, cycles_per_repeat<emit_add, false>},
            {"add_repeat", "cycles", true, false, false, cycles_per_repeat<emit_add, true>},
            {"pipe_barrier_v", "cycles", true, false, false, barrier_v},
            {"add_peak", "elements/cycle", true, false, false, elements_per_cycle<emit_add>},
            {"adds_peak", "elements/cycle", true, false, false, elements_per_cycle<emit_adds>},
            {"duplicate_peak", "elements/cycle", true, false, false, elements_per_cycle<emit_duplicate>},
            {"compare_peak", "elements/cycle", true, false, false, elements_per_cycle<emit_compare>},
            {"cast_peak", "elements/cycle", true, false, false, elements_per_cycle<emit_narrow>},
            {"gather_mask_peak", "elements/cycle", true, false, false, elements_per_cycle<emit_gather_mask>}};
}

}  // namespace podsim
