// SPDX-License-Identifier: Apache-2.0
#include "algorithms/dispatch/token_payload.hpp"

#include <cstring>
#include <memory>

namespace podsim {

namespace {

class TokenPayload final : public Payload {
public:
    TokenPayload(const TokenKey& key, std::uint32_t hidden) : Payload(2 * hidden), key_(key), hidden_(hidden) {}

    void copy_to(std::uint32_t offset, std::span<std::byte> out) const override {
        const std::uint32_t first = offset / 2;
        const std::uint32_t last = (offset + static_cast<std::uint32_t>(out.size()) + 1) / 2;
        const auto values = std::make_unique_for_overwrite<std::uint16_t[]>(last - first);
        token_values(key_, hidden_, first, {values.get(), last - first});
        std::memcpy(out.data(), reinterpret_cast<const std::byte*>(values.get()) + offset % 2, out.size());
    }
    bool memoizable() const override { return true; }

private:
    TokenKey key_;
    std::uint32_t hidden_;
};

}  // namespace

PayloadRef make_token_payload(const TokenKey& key, std::uint32_t hidden) {
    return PayloadRef(new TokenPayload(key, hidden));
}

}  // namespace podsim
