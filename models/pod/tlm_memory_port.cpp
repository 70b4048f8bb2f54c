// SPDX-License-Identifier: Apache-2.0
#include "models/pod/tlm_memory_port.hpp"

#include <algorithm>
#include <limits>

namespace podsim {

namespace {
// Not one of the card's AIV cores.
constexpr CoreId kOutside{std::numeric_limits<std::uint32_t>::max()};
}  // namespace

TlmMemoryPort::TlmMemoryPort(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_b_transport(this, &TlmMemoryPort::b_transport);
    socket.register_transport_dbg(this, &TlmMemoryPort::transport_dbg);
}

void TlmMemoryPort::b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
    if (transaction.get_byte_enable_ptr() != nullptr ||
        transaction.get_streaming_width() < transaction.get_data_length()) {
        transaction.set_response_status(transaction.get_byte_enable_ptr() != nullptr
                                            ? tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE
                                            : tlm::TLM_BURST_ERROR_RESPONSE);
        return;
    }
    if (transaction.is_read() == transaction.is_write()) {
        transaction.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
        return;
    }
    // A loosely timed initiator may run ahead of SystemC's time; memory takes effect at the instant the request is
    // made: a store leaves here, a read arrives at the L2. The way back stays in the delay.
    const Picoseconds way = transaction.is_read() ? memory->noc_latency() : 0;
    sc_core::wait(delay + sc_core::sc_time::from_value(static_cast<sc_core::sc_time::value_type>(way)));
    delay = sc_core::SC_ZERO_TIME;
    const auto now = static_cast<Picoseconds>(sc_core::sc_time_stamp().value());
    const std::span bytes(reinterpret_cast<std::byte*>(transaction.get_data_ptr()), transaction.get_data_length());
    std::uint64_t offset = transaction.get_address();
    std::size_t done = 0;
    Picoseconds until = now;
    while (done < bytes.size()) {
        const auto count = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(bytes.size() - done, kBlockBytes - offset % kBlockBytes));
        const auto part = bytes.subspan(done, count);
        if (transaction.is_write()) {
            until = std::max(until, memory->store(kOutside, offset, Slice{make_bytes(part), 0, count}, now));
        } else {
            Content content;
            until = std::max(until, memory->read(kOutside, offset, count, CacheHint::normal, now, content).ready);
            copy_bytes(content, part);
        }
        offset += count;
        done += count;
    }
    delay += sc_core::sc_time::from_value(static_cast<sc_core::sc_time::value_type>(until - now));
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
}

unsigned TlmMemoryPort::transport_dbg(tlm::tlm_generic_payload& transaction) {
    if (!transaction.is_read()) {
        return 0;
    }
    const std::span bytes(reinterpret_cast<std::byte*>(transaction.get_data_ptr()), transaction.get_data_length());
    Content content;
    memory->peek(transaction.get_address(), static_cast<std::uint32_t>(bytes.size()), content);
    copy_bytes(content, bytes);
    return static_cast<unsigned>(bytes.size());
}

}  // namespace podsim
