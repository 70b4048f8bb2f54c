// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/vector_result.hpp"

#include "models/aicore/unified_buffer.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace podsim {

namespace {

/// Results this small are kept once computed: row maxima are asked for by every copy of a token.
constexpr std::uint32_t kKeepBytes = 64;

/// An operand's bytes: where they are held, or made for the occasion.
class Operand {
public:
    explicit Operand(const Slice& slice) {
        const std::byte* held = slice.payload ? slice.payload->data() : nullptr;
        if (held != nullptr) {
            bytes_ = {held + slice.offset, slice.length};
        } else if (slice.length > 0) {
            made_.emplace(slice.length);
            copy_bytes(slice, *made_);
            bytes_ = *made_;
        }
    }
    std::span<const std::byte> bytes() const { return bytes_; }

private:
    std::optional<Bytes> made_;
    std::span<const std::byte> bytes_;
};

}  // namespace

class VectorResult final : public Payload {
public:
    VectorResult(const VectorCall& call, Slice src0, Slice src1, const VectorResult* before, VectorResults& owner)
        : Payload(result_bytes(call), Kind::kept),
          call_(call),
          src0_(std::move(src0)),
          src1_(std::move(src1)),
          before_(before),
          owner_(owner) {}

    bool is(const VectorCall& call, const Slice& src0, const Slice& src1) const {
        return call_ == call && src0_ == src0 && src1_ == src1;
    }
    const Payload* operand() const { return src0_.payload.get(); }
    /// What was computed of the same first operand before; they are few.
    const VectorResult* before() const { return before_; }

    void copy_to(std::uint32_t offset, std::span<std::byte> out) const override {
        if (const std::byte* held = whole_ ? whole_->data() : data()) {
            std::copy_n(held + offset, out.size(), out.begin());
            return;
        }
        if (out.size() == size()) {
            compute(out);
        } else {
            // Who reads a word of a row on the scalar side reads more of it soon.
            whole_.emplace(size());
            compute(*whole_);
            owner_.holds(*this);
            std::copy_n(whole_->begin() + offset, out.size(), out.begin());
        }
        if (size() <= kKeepBytes && out.size() == size()) {
            kept_.assign(out.begin(), out.end());
        }
    }
    const std::byte* data() const override { return kept_.empty() ? nullptr : kept_.data(); }
    bool memoizable() const override { return true; }
    void let_go() const { whole_.reset(); }

private:
    void compute(std::span<std::byte> out) const {
        const Operand a(src0_), b(src1_);
        evaluate(call_, a.bytes(), b.bytes(), out);
    }

    VectorCall call_;
    Slice src0_, src1_;
    const VectorResult* before_;
    VectorResults& owner_;
    mutable std::vector<std::byte> kept_;
    mutable std::optional<Bytes> whole_;
};

namespace {

bool from_input(const Slice& slice) { return slice.payload && slice.payload->memoizable(); }

}  // namespace

VectorResults::VectorResults(bool remember) : remember_(remember) {}

VectorResults::~VectorResults() {
    // Operands may live on: they must not lead to what goes now.
    for (const auto& result : known_) {
        result->operand()->set_derived(nullptr);
    }
}

void VectorResults::holds(const VectorResult& result) {
    held_.push_back(&result);
    if (held_.size() > kHeld) {
        held_.front()->let_go();
        held_.pop_front();
    }
}

Slice VectorResults::apply(const VectorCall& call, const Slice& src0, const Slice& src1) {
    const std::uint32_t size = result_bytes(call);
    if (call.op == VectorOp::copy && remember_) {
        return src0.sub(0, size);
    }
    if (call.op == VectorOp::duplicate && remember_) {
        if (const auto word = repeated_word(call.scalar, size_of(call.dst_type))) {
            return {nullptr, *word, size};
        }
    }
    if (remember_ && from_input(src0) && (src1.length == 0 || from_input(src1))) {
        VectorCall what = call;  // where in UB makes no difference
        what.dst = {0, call.dst.length};
        what.src0 = {0, call.src0.length};
        what.src1 = {0, call.src1.length};
        const Payload* latest = src0.payload->derived();
        for (const auto* known = static_cast<const VectorResult*>(latest); known != nullptr; known = known->before()) {
            if (known->is(what, src0, src1)) {
                return {PayloadRef(known), 0, size};
            }
        }
        known_.push_back(
            std::make_unique<VectorResult>(what, src0, src1, static_cast<const VectorResult*>(latest), *this));
        src0.payload->set_derived(known_.back().get());
        return {PayloadRef(known_.back().get()), 0, size};
    }
    std::span<std::byte> room;
    PayloadRef result = make_room(size, room);
    const Operand a(src0), b(src1);
    evaluate(call, a.bytes(), b.bytes(), room);
    return {std::move(result), 0, size};
}

void VectorResults::apply(const VectorCall& call, UbIf& ub, Picoseconds from, Picoseconds to) {
    if (call.dst_pitch == 0) {
        ub.write(call.dst.offset, apply(call, ub.operand(call.src0, from), ub.operand(call.src1, from)), to);
        return;
    }
    Slice result;
    for (std::uint32_t p = 0; p < call.pieces; ++p) {
        const VectorCall one = piece_of(call, p);
        if (p == 0 || one.src0.length > 0) {  // without a source all pieces are the same
            result = apply(one, ub.operand(one.src0, from), {});
        }
        ub.write(one.dst.offset, result, to);
    }
}

}  // namespace podsim
