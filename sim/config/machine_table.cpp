// SPDX-License-Identifier: Apache-2.0
#include "sim/config/machine_table.hpp"

#include <array>

namespace podsim {

namespace {

// A captureless lambda per member: a pointer to member cannot reach through nested structs.
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member access cannot be parenthesised
#define PODSIM_MEMBER(path) +[](Machine& m) -> decltype((m.path)) { return m.path; }

using D = Dimension;

// Bounds keep sums of times below 2^63 ps and memory use sane; they are no statement about hardware.
constexpr double kMostTime = 1e12;   // 1 s
constexpr double kMostMiss = 1e9;    // 1 ms, which code of many lines multiplies
constexpr double kMostCycles = 1e9;  // 10^6 cycles
constexpr double kMostRate = 1e9;    // 1000 TB/s
constexpr double kMostBytes = 1e12;
constexpr double kZero = 0;
constexpr double kOne = 1;

constexpr std::array kParameters{
    ParamRow{"/topology/nodes", D::count, kOne, 1024, PODSIM_MEMBER(fabric.topology.nodes)},
    ParamRow{"/topology/packages_per_node", D::count, kOne, 256, PODSIM_MEMBER(fabric.topology.packages_per_node)},
    ParamRow{"/topology/dies_per_package", D::count, kOne, 2, PODSIM_MEMBER(fabric.topology.dies_per_package)},
    ParamRow{"/topology/planes", D::count, kOne, 64, PODSIM_MEMBER(fabric.topology.planes)},
    ParamRow{"/topology/l2_switches_per_plane", D::count, kZero, 256,
             PODSIM_MEMBER(fabric.topology.l2_switches_per_plane)},

    ParamRow{"/hccs/link_rate", D::rate, kOne, kMostRate, PODSIM_MEMBER(fabric.link_rate)},
    ParamRow{"/hccs/header_bytes", D::bytes, kOne, 4096, PODSIM_MEMBER(fabric.header_bytes)},
    ParamRow{"/hccs/flit_bytes", D::bytes, kOne, 4096, PODSIM_MEMBER(fabric.flit_bytes)},
    ParamRow{"/hccs/port_write_rate", D::rate, kOne, kMostRate, PODSIM_MEMBER(fabric.port_write_rate)},
    ParamRow{"/hccs/port_read_rate", D::rate, kOne, kMostRate, PODSIM_MEMBER(fabric.port_read_rate)},
    ParamRow{"/hccs/port_latency", D::time, kOne, kMostTime, PODSIM_MEMBER(fabric.port_latency)},
    ParamRow{"/hccs/switch_latency", D::time, kZero, kMostTime, PODSIM_MEMBER(fabric.switch_latency)},
    ParamRow{"/hccs/span_latency", D::time, kZero, kMostTime, PODSIM_MEMBER(fabric.span_latency)},
    ParamRow{"/hccs/sio_rate", D::rate, kOne, kMostRate, PODSIM_MEMBER(fabric.sio_rate)},
    ParamRow{"/hccs/sio_latency", D::time, kOne, kMostTime, PODSIM_MEMBER(fabric.sio_latency)},
    ParamRow{"/hccs/plane_hash_bytes", D::bytes, kBlockBytes, 1 << 20, PODSIM_MEMBER(fabric.plane_hash_bytes)},
    ParamRow{"/hccs/path_choice", D::choice, kZero, kZero, PODSIM_MEMBER(fabric.path_choice)},
    ParamRow{"/hccs/network_in_order", D::flag, kZero, kZero, PODSIM_MEMBER(fabric.network_in_order)},
    ParamRow{"/hccs/noc_first_packet_order", D::flag, kZero, kZero, PODSIM_MEMBER(fabric.noc_first_packet_order)},
    ParamRow{"/hccs/extra_reorder", D::time, kZero, kMostTime, PODSIM_MEMBER(fabric.extra_reorder)},

    ParamRow{"/core/clock", D::frequency, kOne, 100'000, PODSIM_MEMBER(core.clock_mhz)},
    ParamRow{"/core/aiv_per_card", D::count, kOne, 1024, PODSIM_MEMBER(core.aiv_per_card)},
    ParamRow{"/core/ub_bytes", D::bytes, 1024, 1 << 30, PODSIM_MEMBER(core.ub_bytes)},
    ParamRow{"/core/flag_hop", D::cycles, kZero, kMostCycles, PODSIM_MEMBER(core.flag_hop)},
    ParamRow{"/core/barrier_all", D::cycles, kZero, kMostCycles, PODSIM_MEMBER(core.barrier_all)},
    ParamRow{"/core/counter", D::frequency, kOne, 100'000, PODSIM_MEMBER(core.counter_mhz)},
    ParamRow{"/core/event_ids", D::count, kOne, 64, PODSIM_MEMBER(core.event_ids)},

    ParamRow{"/scalar/alu", D::cycles, kOne, kMostCycles, PODSIM_MEMBER(core.scalar.alu)},
    ParamRow{"/scalar/vector_issue", D::cycles, kOne, kMostCycles, PODSIM_MEMBER(core.scalar.vector_issue)},
    ParamRow{"/scalar/copy_issue", D::cycles, kOne, kMostCycles, PODSIM_MEMBER(core.scalar.copy_issue)},
    ParamRow{"/scalar/flag_issue", D::cycles, kOne, kMostCycles, PODSIM_MEMBER(core.scalar.flag_issue)},
    ParamRow{"/scalar/ub_load", D::cycles, kOne, kMostCycles, PODSIM_MEMBER(core.scalar.ub_load)},
    ParamRow{"/scalar/ub_store", D::cycles, kOne, kMostCycles, PODSIM_MEMBER(core.scalar.ub_store)},
    ParamRow{"/scalar/gm_load_hit", D::cycles, kOne, kMostCycles, PODSIM_MEMBER(core.scalar.gm_load_hit)},
    ParamRow{"/scalar/gm_load_miss", D::time, kOne, kMostTime, PODSIM_MEMBER(core.scalar.gm_load_miss)},
    ParamRow{"/scalar/gm_store", D::cycles, kOne, kMostCycles, PODSIM_MEMBER(core.scalar.gm_store)},
    ParamRow{"/scalar/dcci", D::time, kOne, kMostTime, PODSIM_MEMBER(core.scalar.dcci)},
    ParamRow{"/scalar/cache_bytes", D::bytes, kOne, 1 << 30, PODSIM_MEMBER(core.scalar.cache_bytes)},
    ParamRow{"/scalar/cache_line", D::bytes, 8, kBlockBytes, PODSIM_MEMBER(core.scalar.cache_line)},

    ParamRow{"/vector/repeat_bytes", D::bytes, kUbGranule, 65'536, PODSIM_MEMBER(core.vector.repeat_bytes)},
    ParamRow{"/vector/count_mode_floor", D::cycles, kZero, kMostCycles, PODSIM_MEMBER(core.vector.count_mode_floor)},
    ParamRow{"/vector/barrier", D::cycles, kZero, kMostCycles, PODSIM_MEMBER(core.vector.barrier)},
    ParamRow{"/vector/bank_conflict", D::cycles, kZero, kMostCycles, PODSIM_MEMBER(core.vector.bank_conflict)},
    ParamRow{"/vector/bank_groups", D::count, kOne, 4096, PODSIM_MEMBER(core.vector.bank_groups)},
    ParamRow{"/vector/scalar_path", D::cycles, 0, kMostCycles, PODSIM_MEMBER(core.vector.scalar_path)},

    ParamRow{"/mte/queue_depth", D::count, kOne, 65'536, PODSIM_MEMBER(core.mte.queue_depth)},
    ParamRow{"/mte/mte2_issue", D::cycles, kOne, kMostCycles, PODSIM_MEMBER(core.mte.mte2_issue)},
    ParamRow{"/mte/mte3_issue", D::cycles, kOne, kMostCycles, PODSIM_MEMBER(core.mte.mte3_issue)},
    ParamRow{"/mte/burst_min", D::cycles, kZero, kMostCycles, PODSIM_MEMBER(core.mte.burst_min)},
    ParamRow{"/mte/in_bytes_per_cycle", D::bytes_per_cycle, kOne, 65'536, PODSIM_MEMBER(core.mte.in_bytes_per_cycle)},
    ParamRow{"/mte/out_bytes_per_cycle", D::bytes_per_cycle, kOne, 65'536, PODSIM_MEMBER(core.mte.out_bytes_per_cycle)},
    ParamRow{"/mte/local_in_flight", D::count, kOne, 65'536, PODSIM_MEMBER(core.mte.local_in_flight)},
    ParamRow{"/mte/remote_in_flight", D::count, kOne, 65'536, PODSIM_MEMBER(core.mte.remote_in_flight)},
    ParamRow{"/mte/mte3_event", D::choice, kZero, kZero, PODSIM_MEMBER(core.mte.mte3_event)},

    ParamRow{"/memory/noc_latency", D::time, kOne, kMostTime, PODSIM_MEMBER(memory.noc_latency)},
    ParamRow{"/memory/l2_read_latency", D::time, kOne, kMostTime, PODSIM_MEMBER(memory.l2_read_latency)},
    ParamRow{"/memory/l2_write_latency", D::time, kOne, kMostTime, PODSIM_MEMBER(memory.l2_write_latency)},
    ParamRow{"/memory/hbm_extra_latency", D::time, kZero, kMostTime, PODSIM_MEMBER(memory.hbm_extra_latency)},
    ParamRow{"/memory/l2_bandwidth", D::rate, kOne, kMostRate, PODSIM_MEMBER(memory.l2_bandwidth)},
    ParamRow{"/memory/hbm_bandwidth", D::rate, kOne, kMostRate, PODSIM_MEMBER(memory.hbm_bandwidth)},
    ParamRow{"/memory/l2_bytes", D::bytes, kBlockBytes, kMostBytes, PODSIM_MEMBER(memory.l2_bytes)},
    ParamRow{"/memory/conflict_service", D::time, kZero, kMostTime, PODSIM_MEMBER(memory.conflict_service)},
    ParamRow{"/memory/inputs_in_l2", D::flag, kZero, kZero, PODSIM_MEMBER(memory.inputs_in_l2)},

    ParamRow{"/hypotheses/partial_store_extra", D::time, kZero, kMostTime, PODSIM_MEMBER(memory.partial_store_extra)},
    ParamRow{"/hypotheses/bypass_dirty_extra", D::time, kZero, kMostTime, PODSIM_MEMBER(memory.bypass_dirty_extra)},
    ParamRow{"/hypotheses/bypass_dirty_stall", D::flag, kZero, kZero, PODSIM_MEMBER(memory.bypass_dirty_stall)},
    ParamRow{"/hypotheses/translation_walk", D::time, kZero, kMostTime, PODSIM_MEMBER(core.translation.walk)},
    ParamRow{"/hypotheses/translation_entries", D::count, kOne, 65'536, PODSIM_MEMBER(core.translation.entries)},
    ParamRow{"/hypotheses/translation_page", D::bytes, 4096, kMostBytes, PODSIM_MEMBER(core.translation.page_bytes)},
    ParamRow{"/hypotheses/instruction_miss", D::time, kZero, kMostMiss, PODSIM_MEMBER(core.instructions.miss)},
    ParamRow{"/hypotheses/instruction_bytes", D::bytes, kOne, 64, PODSIM_MEMBER(core.instructions.instruction_bytes)},
    ParamRow{"/hypotheses/instruction_cache", D::bytes, 64, 1 << 30, PODSIM_MEMBER(core.instructions.cache_bytes)},
    ParamRow{"/hypotheses/instruction_line", D::bytes, 4, 4096, PODSIM_MEMBER(core.instructions.line)},

    ParamRow{"/sync/sync_all_base", D::time, kOne, kMostTime, PODSIM_MEMBER(sync.sync_all_base)},
    ParamRow{"/sync/sync_all_per_core", D::time, kZero, kMostTime, PODSIM_MEMBER(sync.sync_all_per_core)},

    ParamRow{"/launch/core_start_skew", D::time, kZero, kMostTime, PODSIM_MEMBER(launch.core_start_skew)},
    ParamRow{"/launch/card_start_skew", D::time, kZero, kMostTime, PODSIM_MEMBER(launch.card_start_skew)},
    ParamRow{"/launch/call_gap", D::time, kZero, kMostTime, PODSIM_MEMBER(launch.call_gap)},
};

#undef PODSIM_MEMBER

}  // namespace

std::span<const ParamRow> machine_parameters() { return kParameters; }

}  // namespace podsim
