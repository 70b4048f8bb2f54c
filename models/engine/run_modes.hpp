// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Ways to run the same models that must not change any result (each proves another right).
#include <cstdint>

namespace podsim {

/// Who orders time: the engine's calendar queue, or SystemC through one sc_event per unit.
enum class Wake : std::uint8_t { calendar, systemc };
/// Poll loops: skipped while nothing changes, or stepped one by one.
enum class Polling : std::uint8_t { elided, explicit_steps };
/// Memory contents: shared by reference, or copied at every step.
enum class PayloadMode : std::uint8_t { extents, copying };

}  // namespace podsim
