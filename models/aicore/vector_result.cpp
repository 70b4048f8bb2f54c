// SPDX-License-Identifier: Apache-2.0
#include "models/aicore/vector_result.hpp"

#include <boost/container_hash/hash.hpp>

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

class VectorResult final : public Payload {
public:
    VectorResult(const VectorCall& call, Slice src0, Slice src1)
        : Payload(result_bytes(call)), call_(call), src0_(std::move(src0)), src1_(std::move(src1)) {}

    void copy_to(std::uint32_t offset, std::span<std::byte> out) const override {
        if (const std::byte* kept = data()) {
            std::copy_n(kept + offset, out.size(), out.begin());
            return;
        }
        if (out.size() == size()) {
            compute(out);
        } else {
            Bytes whole(size());
            compute(whole);
            std::copy_n(whole.begin() + offset, out.size(), out.begin());
        }
        if (size() <= kKeepBytes && out.size() == size()) {
            kept_.assign(out.begin(), out.end());
        }
    }
    const std::byte* data() const override { return kept_.empty() ? nullptr : kept_.data(); }
    bool memoizable() const override { return true; }

private:
    void compute(std::span<std::byte> out) const {
        const Operand a(src0_), b(src1_);
        evaluate(call_, a.bytes(), b.bytes(), out);
    }

    VectorCall call_;
    Slice src0_, src1_;
    mutable std::vector<std::byte> kept_;
};

bool from_input(const Slice& slice) { return slice.payload && slice.payload->memoizable(); }

}  // namespace

std::size_t VectorResults::Hash::operator()(const Key& key) const {
    std::size_t seed = static_cast<std::size_t>(key.call.op);
    boost::hash_combine(seed, key.call.count);
    boost::hash_combine(seed, key.call.scalar);
    boost::hash_combine(seed, key.call.first);
    boost::hash_combine(seed, static_cast<int>(key.call.dst_type));
    boost::hash_combine(seed, key.src0.payload.get());
    boost::hash_combine(seed, key.src0.offset);
    boost::hash_combine(seed, key.src1.payload.get());
    boost::hash_combine(seed, key.src1.offset);
    return seed;
}

Slice VectorResults::apply(const VectorCall& call, const Slice& src0, const Slice& src1) {
    const std::uint32_t size = result_bytes(call);
    if (call.op == VectorOp::copy && remember_) {
        return src0.sub(0, size);
    }
    if (remember_ && from_input(src0) && (src1.length == 0 || from_input(src1))) {
        Key key{call, src0, src1};
        key.call.dst = {0, call.dst.length};
        key.call.src0 = {0, call.src0.length};
        key.call.src1 = {0, call.src1.length};
        PayloadRef& result = known_[std::move(key)];
        if (!result) {
            result = PayloadRef(new VectorResult(call, src0, src1));
        }
        return {result, 0, size};
    }
    std::span<std::byte> room;
    PayloadRef result = make_room(size, room);
    const Operand a(src0), b(src1);
    evaluate(call, a.bytes(), b.bytes(), room);
    return {std::move(result), 0, size};
}

}  // namespace podsim
