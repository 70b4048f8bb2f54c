// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A TLM-2.0 door into one card's global memory, so that SystemC models from outside can share it.
///
/// b_transport reads or writes any number of bytes with the memory's own timing: the transaction's delay
/// grows until the last line is back or acknowledged. DMI and debug transport: debug only.
#include "models/engine/tlm.hpp"
#include "models/memory/card_memory.hpp"

namespace podsim {

class TlmMemoryPort final : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<TlmMemoryPort> socket{"socket"};
    sc_core::sc_port<MemoryIf> memory{"memory"};

    explicit TlmMemoryPort(const sc_core::sc_module_name& name);

private:
    void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
    unsigned transport_dbg(tlm::tlm_generic_payload& transaction);
};

}  // namespace podsim
