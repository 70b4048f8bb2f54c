// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A token's hidden values as a payload: never held, made from the generator whenever they are looked at.
#include "algorithms/routing/input.hpp"
#include "models/engine/payload.hpp"

namespace podsim {

/// `hidden` bf16 values of the token.
PayloadRef make_token_payload(const TokenKey& key, std::uint32_t hidden);

}  // namespace podsim
