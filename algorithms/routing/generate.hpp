// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The generated routing kinds; internal to algorithms/routing. Definitions: routing.hpp.
#include "algorithms/routing/routing_table.hpp"
#include "algorithms/routing/workload.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace podsim {

void fill_balanced(RoutingTable& table, const Workload& workload, std::uint32_t call);
void fill_uniform(RoutingTable& table, const Workload& workload, std::uint32_t call);
void fill_zipf(RoutingTable& table, const Workload& workload, std::uint32_t call, double exponent);
/// A share that distinct experts do not allow is cut to the nearest possible one, with a note.
void fill_hot(RoutingTable& table, const Workload& workload, std::uint32_t call, std::uint32_t hot_experts,
              double hot_share, std::vector<std::string>& notes);

/// Popularity of ranks 1 … count: max(1, round(2^32 / rank^exponent)), exponent in [0, 16]. Only correctly rounded
/// operations (+ * / sqrt; the exponent's fraction in steps of 2^-24), so the same on every machine.
std::vector<std::uint64_t> zipf_weights(std::uint32_t count, double exponent);

}  // namespace podsim
