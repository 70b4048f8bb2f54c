// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The Ascend C-like face of an AIV core: what a kernel is written against, and the only door to models.
///
/// Calls return at once and become timed instructions; a kernel waits (co_await) only for values: GetValue,
/// LoadGm, PollUntil, GetSystemCycle. Scalar work costs what is counted: Alu(n), GetValue, SetValue, LoadGm,
/// StoreGm, DataCacheCleanAndInvalid, and the scalar side of each call. Every call records its source line.
/// A call that breaks a rule of the hardware throws KernelError (exit 4) naming that line.
#include "algorithms/kernel_api/tensor.hpp"
#include "models/aicore/aiv_core.hpp"
#include "models/aicore/task.hpp"

#include <bit>
#include <coroutine>
#include <cstring>
#include <source_location>
#include <string>

namespace podsim {

/// Pipe pairs of SetFlag/WaitFlag, as Ascend C's HardEvent.
enum class HardEvent : std::uint8_t {
    MTE2_V,
    MTE2_S,
    MTE2_MTE3,
    V_MTE2,
    V_MTE3,
    V_S,
    MTE3_MTE2,
    MTE3_V,
    MTE3_S,
    S_V,
    S_MTE2,
    S_MTE3,
};

using Where = std::source_location;

class Aiv {
public:
    /// `gm_bytes`: size of every card's global memory; an access beyond it is an MTE address error.
    Aiv(AivCore& core, std::uint32_t cards, std::uint64_t gm_bytes) : core_(core), cards_(cards), gm_bytes_(gm_bytes) {}

    CoreRef self() const { return core_.self(); }
    const CoreParams& machine() const { return core_.params(); }

    // --- Unified Buffer -------------------------------------------------------------------------
    /// `count` elements, 32 B aligned. Over budget is the kernel's error.
    template <class T>
    LocalTensor<T> Alloc(std::uint32_t count, Where where = Where::current()) {
        return {reserve(static_cast<std::uint64_t>(count) * sizeof(T), where), count};
    }
    std::uint32_t UbLeft() const { return core_.params().ub_bytes - ub_top_; }
    /// What is allocated now; FreeTo(mark) frees what has been since.
    std::uint32_t UbMark() const { return ub_top_; }
    void FreeTo(std::uint32_t mark) { ub_top_ = mark; }
    void FreeAll() { ub_top_ = ub_floor_; }

    // --- Copies ---------------------------------------------------------------------------------
    template <class T>
    void DataCopy(LocalTensor<T> dst, GlobalTensor<T> src, std::uint32_t count, CacheHint hint = CacheHint::normal,
                  Where where = Where::current()) {
        whole_granules(dst.offset, count * sizeof(T), "DataCopy", where);
        copy(Pipe::mte2, dst.offset, src.address, {1, static_cast<std::uint32_t>(count * sizeof(T)), 0, 0}, hint,
             "DataCopy", where);
    }
    template <class T>
    void DataCopy(GlobalTensor<T> dst, LocalTensor<T> src, std::uint32_t count, Where where = Where::current()) {
        whole_granules(src.offset, count * sizeof(T), "DataCopy", where);
        copy(Pipe::mte3, src.offset, dst.address, {1, static_cast<std::uint32_t>(count * sizeof(T)), 0, 0},
             CacheHint::normal, "DataCopy", where);
    }
    template <class T>
    void DataCopyPad(LocalTensor<T> dst, GlobalTensor<T> src, DataCopyExtParams p, CacheHint hint = CacheHint::normal,
                     Where where = Where::current()) {
        copy(Pipe::mte2, dst.offset, src.address, p, hint, "DataCopyPad", where);
    }
    template <class T>
    void DataCopyPad(GlobalTensor<T> dst, LocalTensor<T> src, DataCopyExtParams p, Where where = Where::current()) {
        copy(Pipe::mte3, src.offset, dst.address, p, CacheHint::normal, "DataCopyPad", where);
    }
    /// The same for a store that is a flag. Saying what it announces takes no time; it lets podsim tell a flag that
    /// comes too early from one that is in order by luck. All that cores of this card store to the announced bytes
    /// in this call is acknowledged when the flag leaves, or the fabric keeps the two in order: else exit 4.
    template <class T>
    void DataCopyPad(GlobalTensor<T> dst, LocalTensor<T> src, DataCopyExtParams p, Announces what,
                     Where where = Where::current()) {
        copy(Pipe::mte3, src.offset, dst.address, p, CacheHint::normal, "DataCopyPad", where, what);
    }

    // --- Order between pipes --------------------------------------------------------------------
    template <HardEvent event>
    void SetFlag(std::uint8_t id, Where where = Where::current()) {
        flag(Op::set_flag, event, id, "SetFlag", where);
    }
    template <HardEvent event>
    void WaitFlag(std::uint8_t id, Where where = Where::current()) {
        flag(Op::wait_flag, event, id, "WaitFlag", where);
    }
    /// Set and wait at once: the waiting pipe goes on when the setting one has done all it has so far.
    template <HardEvent event>
    void Sync(std::uint8_t id = 0, Where where = Where::current()) {
        SetFlag<event>(id, where);
        WaitFlag<event>(id, where);
    }
    template <Pipe pipe>
    void PipeBarrier(Where where = Where::current()) {
        barrier(pipe, where);
    }
    void PipeBarrierAll(Where where = Where::current());
    /// Hardware barrier of all the card's cores in the kernel; drains this core's pipes first.
    void SyncAll(Where where = Where::current());

    // --- Vector ---------------------------------------------------------------------------------
    template <class T>
    void Duplicate(LocalTensor<T> dst, T value, std::uint32_t count, Where where = Where::current()) {
        vector(call<T, T>(VectorOp::duplicate, dst.offset, 0, 0, count, bits(value)), where);
    }
    template <class T>
    void Copy(LocalTensor<T> dst, LocalTensor<T> src, std::uint32_t count, Where where = Where::current()) {
        vector(call<T, T>(VectorOp::copy, dst.offset, src.offset, 0, count, 0), where);
    }
    /// In several places at once, by mask and stride: see VectorPieces.
    template <class T>
    void Duplicate(LocalTensor<T> dst, T value, VectorPieces pieces, Where where = Where::current()) {
        vector(in_pieces(call<T, T>(VectorOp::duplicate, dst.offset, 0, 0, pieces.count, bits(value)), pieces), where);
    }
    template <class T>
    void Copy(LocalTensor<T> dst, LocalTensor<T> src, VectorPieces pieces, Where where = Where::current()) {
        vector(in_pieces(call<T, T>(VectorOp::copy, dst.offset, src.offset, 0, pieces.count, 0), pieces), where);
    }
    template <class T>
    void Add(LocalTensor<T> dst, LocalTensor<T> a, LocalTensor<T> b, std::uint32_t count,
             Where where = Where::current()) {
        binary(VectorOp::add, dst, a, b, count, where);
    }
    template <class T>
    void Sub(LocalTensor<T> dst, LocalTensor<T> a, LocalTensor<T> b, std::uint32_t count,
             Where where = Where::current()) {
        binary(VectorOp::sub, dst, a, b, count, where);
    }
    template <class T>
    void Mul(LocalTensor<T> dst, LocalTensor<T> a, LocalTensor<T> b, std::uint32_t count,
             Where where = Where::current()) {
        binary(VectorOp::mul, dst, a, b, count, where);
    }
    template <class T>
    void Max(LocalTensor<T> dst, LocalTensor<T> a, LocalTensor<T> b, std::uint32_t count,
             Where where = Where::current()) {
        binary(VectorOp::max, dst, a, b, count, where);
    }
    template <class T>
    void Min(LocalTensor<T> dst, LocalTensor<T> a, LocalTensor<T> b, std::uint32_t count,
             Where where = Where::current()) {
        binary(VectorOp::min, dst, a, b, count, where);
    }
    template <class T>
    void Adds(LocalTensor<T> dst, LocalTensor<T> src, T value, std::uint32_t count, Where where = Where::current()) {
        vector(call<T, T>(VectorOp::adds, dst.offset, src.offset, 0, count, bits(value)), where);
    }
    template <class T>
    void Muls(LocalTensor<T> dst, LocalTensor<T> src, T value, std::uint32_t count, Where where = Where::current()) {
        vector(call<T, T>(VectorOp::muls, dst.offset, src.offset, 0, count, bits(value)), where);
    }
    template <class T>
    void Maxs(LocalTensor<T> dst, LocalTensor<T> src, T value, std::uint32_t count, Where where = Where::current()) {
        vector(call<T, T>(VectorOp::maxs, dst.offset, src.offset, 0, count, bits(value)), where);
    }
    template <class T>
    void Mins(LocalTensor<T> dst, LocalTensor<T> src, T value, std::uint32_t count, Where where = Where::current()) {
        vector(call<T, T>(VectorOp::mins, dst.offset, src.offset, 0, count, bits(value)), where);
    }
    template <class T>
    void Abs(LocalTensor<T> dst, LocalTensor<T> src, std::uint32_t count, Where where = Where::current()) {
        vector(call<T, T>(VectorOp::abs, dst.offset, src.offset, 0, count, 0), where);
    }
    template <class To, class From>
    void Cast(LocalTensor<To> dst, LocalTensor<From> src, Round round, std::uint32_t count,
              Where where = Where::current()) {
        VectorCall c = call<To, From>(VectorOp::cast, dst.offset, src.offset, 0, count, 0);
        c.round = round;
        vector(c, where);
    }
    /// dst[0] = sum of src[first + i * every], i < ceil((count - first) / every).
    template <class T>
    void ReduceSum(LocalTensor<T> dst, LocalTensor<T> src, std::uint32_t count, std::uint32_t first = 0,
                   std::uint32_t every = 1, Where where = Where::current()) {
        vector(reduction<T>(VectorOp::reduce_sum, dst, src, count, first, every), where);
    }
    template <class T>
    void ReduceMax(LocalTensor<T> dst, LocalTensor<T> src, std::uint32_t count, Where where = Where::current()) {
        vector(reduction<T>(VectorOp::reduce_max, dst, src, count, 0, 1), where);
    }
    /// dst[i] = src[0] + ... + src[i].
    template <class T>
    void CumSum(LocalTensor<T> dst, LocalTensor<T> src, std::uint32_t count, Where where = Where::current()) {
        vector(call<T, T>(VectorOp::cum_sum, dst.offset, src.offset, 0, count, 0), where);
    }
    /// dst[i] = src[first + i * every]: GatherMask with a pattern tensor.
    template <class T>
    void GatherMask(LocalTensor<T> dst, LocalTensor<T> src, std::uint32_t count, std::uint32_t first,
                    std::uint32_t every, Where where = Where::current()) {
        vector(reduction<T>(VectorOp::gather_mask, dst, src, count, first, every), where);
    }
    /// Bit i of dst = src[i] `how` value.
    template <class T>
    void CompareScalar(LocalTensor<std::uint8_t> dst, LocalTensor<T> src, T value, Compare how, std::uint32_t count,
                       Where where = Where::current()) {
        VectorCall c = call<std::uint8_t, T>(VectorOp::compare_scalar, dst.offset, src.offset, 0, count, bits(value));
        c.compare = how;
        vector(c, where);
    }

    // --- Scalar ---------------------------------------------------------------------------------
    /// `n` counted scalar operations.
    void Alu(std::uint32_t n, Where where = Where::current());
    template <class T>
    void SetValue(LocalTensor<T> tensor, std::uint32_t i, T value, Where where = Where::current()) {
        word(Op::ub_store, tensor.offset + i * sizeof(T), sizeof(T), bits(value), core_.params().scalar.ub_store,
             "SetValue", where);
    }
    template <class T>
    void StoreGm(GlobalTensor<T> gm, T value, Where where = Where::current()) {
        own_card(gm.address, sizeof(T), "StoreGm", where);
        word(Op::gm_store, gm.address.offset, sizeof(T), bits(value), 0, "StoreGm", where);
    }
    /// Writes the cache line of `gm` back if the core changed it, and forgets it.
    template <class T>
    void DataCacheCleanAndInvalid(GlobalTensor<T> gm, Where where = Where::current()) {
        own_card(gm.address, sizeof(T), "DataCacheCleanAndInvalid", where);
        word(Op::cache_clean, gm.address.offset, sizeof(T), 0, 0, "DataCacheCleanAndInvalid", where);
    }

    template <class T>
    class ValueOf {
    public:
        explicit ValueOf(ScalarUnit& scalar) : scalar_(&scalar) {}
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> kernel) { scalar_->suspend(kernel); }
        T await_resume() const {
            const std::uint64_t raw = scalar_->value();
            T value;
            std::memcpy(static_cast<void*>(&value), &raw, sizeof(T));
            return value;
        }

    private:
        ScalarUnit* scalar_;
    };
    template <class T>
    ValueOf<T> GetValue(LocalTensor<T> tensor, std::uint32_t i, Where where = Where::current()) {
        word(Op::ub_load, tensor.offset + i * sizeof(T), sizeof(T), 0, core_.params().scalar.ub_load, "GetValue",
             where);
        return ValueOf<T>(core_.scalar());
    }
    /// A scalar load through the data cache: may be stale until DataCacheCleanAndInvalid.
    template <class T>
    ValueOf<T> LoadGm(GlobalTensor<T> gm, Where where = Where::current()) {
        own_card(gm.address, sizeof(T), "LoadGm", where);
        word(Op::gm_load, gm.address.offset, sizeof(T), 0, 0, "LoadGm", where);
        return ValueOf<T>(core_.scalar());
    }
    class CaughtUp {
    public:
        explicit CaughtUp(ScalarUnit& scalar) : scalar_(&scalar) {}
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> kernel) { scalar_->suspend(kernel); }
        void await_resume() const noexcept {}

    private:
        ScalarUnit* scalar_;
    };
    /// Lets the simulated scalar unit reach this point before the kernel emits more. Costs no simulated time;
    /// for loops that wait for no value, whose whole program would otherwise be held at once.
    CaughtUp CatchUp() { return CaughtUp(core_.scalar()); }
    /// 50 MHz system counter.
    ValueOf<std::int64_t> GetSystemCycle(Where where = Where::current());
    /// Loops copy, reduction, comparison until it holds (models/aicore/poll.hpp). `spec` outlives the wait.
    ValueOf<std::uint64_t> PollUntil(const PollSpec& spec, Where where = Where::current());

    /// From here the scalar program is in `name` ("flags.poll"); `name` is a literal. See docs/kernels.md. Begins a
    /// step of the kernel: a place for a stamp.
    void Phase(const char* name, Where where = Where::current());
    /// The same inside a loop over rows. Never stamped: tables of stamps have a fixed number of time points a core.
    void RowPhase(const char* name, Where where = Where::current()) { mark(name, false, where); }
    /// Last instruction of a core: everything drained.
    void End(Where where = Where::current());

    /// From now on every Phase() and End() stamps the kernel clock as instrumented kernels do: PipeBarrier<ALL>,
    /// GetSystemCycle, SetValue into a UB buffer of `most` stamps, which End() copies to `to`. Frees all of UB
    /// but that buffer. A marker stands where its stamp is taken; what End() then needs is phase "stamps.write".
    void StampPhases(GlobalTensor<std::int64_t> to, std::uint32_t most, Where where = Where::current());
    /// Stamps that End() has sent to GM.
    std::uint32_t stamps_sent() const { return stamps_sent_; }
    /// Stamps for which the buffer had no room.
    std::uint32_t stamps_lost() const { return stamps_lost_; }

    // --- Poll building blocks -------------------------------------------------------------------
    template <class T>
    CopyCall PollCopy(LocalTensor<T> dst, GlobalTensor<T> src, DataCopyExtParams p, Where where = Where::current()) {
        return checked_copy(Pipe::mte2, dst.offset, src.address, p, "PollUntil", where);
    }
    template <class T>
    VectorCall PollReduceSum(LocalTensor<T> dst, LocalTensor<T> src, std::uint32_t count, std::uint32_t first,
                             std::uint32_t every, Where where = Where::current()) {
        return checked_vector(reduction<T>(VectorOp::reduce_sum, dst, src, count, first, every), where);
    }
    template <class T>
    VectorCall PollReduceMax(LocalTensor<T> dst, LocalTensor<T> src, std::uint32_t count, std::uint32_t first,
                             std::uint32_t every, Where where = Where::current()) {
        return checked_vector(reduction<T>(VectorOp::reduce_max, dst, src, count, first, every), where);
    }
    template <class T>
    VectorCall PollGatherMask(LocalTensor<T> dst, LocalTensor<T> src, std::uint32_t count, std::uint32_t first,
                              std::uint32_t every, Where where = Where::current()) {
        return checked_vector(reduction<T>(VectorOp::gather_mask, dst, src, count, first, every), where);
    }
    template <class T>
    static void PollCompare(PollSpec& spec, LocalTensor<T> word, Compare how, T value) {
        spec.word = {word.offset, sizeof(T)};
        spec.type = kDataType<T>;
        spec.compare = how;
        spec.value = bits(value);
    }

private:
    template <class T>
    static std::uint64_t bits(T value) {
        std::uint64_t raw = 0;
        std::memcpy(&raw, &value, sizeof(T));
        return raw;
    }
    template <class To, class From>
    static VectorCall call(VectorOp op, std::uint32_t dst, std::uint32_t a, std::uint32_t b, std::uint32_t count,
                           std::uint64_t scalar) {
        VectorCall c;
        c.op = op;
        c.src_type = kDataType<From>;
        c.dst_type = kDataType<To>;
        c.count = count;
        c.scalar = scalar;
        c.dst = {dst, 0};
        c.src0 = {a, op == VectorOp::duplicate ? 0 : static_cast<std::uint32_t>(count * sizeof(From))};
        c.src1 = {b, 0};
        return c;
    }
    static VectorCall in_pieces(VectorCall c, const VectorPieces& pieces) {
        c.pieces = pieces.pieces;
        c.src_pitch = pieces.src_pitch;
        c.dst_pitch = pieces.dst_pitch;
        if (c.src0.length > 0) {
            c.src0.length += (pieces.pieces - 1) * pieces.src_pitch;
        }
        return c;
    }
    template <class T>
    static VectorCall reduction(VectorOp op, LocalTensor<T> dst, LocalTensor<T> src, std::uint32_t count,
                                std::uint32_t first, std::uint32_t every) {
        VectorCall c = call<T, T>(op, dst.offset, src.offset, 0, count, 0);
        c.first = first;
        c.every = every;
        return c;
    }
    template <class T>
    void binary(VectorOp op, LocalTensor<T> dst, LocalTensor<T> a, LocalTensor<T> b, std::uint32_t count, Where where) {
        VectorCall c = call<T, T>(op, dst.offset, a.offset, b.offset, count, 0);
        c.src1.length = static_cast<std::uint32_t>(count * sizeof(T));
        vector(c, where);
    }

    std::uint32_t reserve(std::uint64_t bytes, Where where);
    void whole_granules(std::uint32_t ub, std::uint64_t bytes, const char* what, Where where) const;
    CopyCall checked_copy(Pipe pipe, std::uint32_t ub, GmAddress gm, const DataCopyExtParams& p, const char* what,
                          Where where) const;
    VectorCall checked_vector(VectorCall call, Where where) const;
    void check_pieces(const VectorCall& call, Where where) const;
    /// False: the machine lacks it and runs a scalar loop; refuses where it declares no cost for that.
    bool has_instruction(const VectorCall& call, const char* what, Where where) const;
    void copy(Pipe pipe, std::uint32_t ub, GmAddress gm, const DataCopyExtParams& p, CacheHint hint, const char* what,
              Where where, Announces announces = {});
    void vector(const VectorCall& call, Where where);
    void flag(Op op, HardEvent event, std::uint8_t id, const char* what, Where where);
    void barrier(Pipe pipe, Where where);
    void word(Op op, std::uint64_t address, std::uint32_t bytes, std::uint64_t value, MilliCycles cycles,
              const char* what, Where where);
    void own_card(GmAddress address, std::uint32_t bytes, const char* what, Where where) const;
    Instruction instruction(Op op, const char* what, Where where) const;
    void mark(const char* phase, bool step, Where where);
    void stamp(const char* phase, Where where);
    [[noreturn]] void refuse(const char* what, Where where, const std::string& text) const;

    AivCore& core_;
    std::uint32_t cards_;
    std::uint64_t gm_bytes_;
    std::uint32_t ub_top_ = 0;
    std::uint32_t ub_floor_ = 0;  ///< below it: the stamp buffer
    LocalTensor<std::int64_t> stamp_buffer_;
    GlobalTensor<std::int64_t> stamps_to_;
    std::uint32_t stamps_ = 0, stamps_sent_ = 0, stamps_lost_ = 0;
};

}  // namespace podsim
