// SPDX-License-Identifier: Apache-2.0
#pragma once
/// SystemC must not talk over our output; what it has to say comes as an exception.
#include "models/engine/systemc.hpp"

namespace podsim {

inline void silence_systemc() {
    using namespace sc_core;
    sc_report_handler::set_actions(SC_INFO, SC_DO_NOTHING);
    sc_report_handler::set_actions(SC_WARNING, SC_DO_NOTHING);
    sc_report_handler::set_actions(SC_ERROR, SC_THROW);
    sc_report_handler::set_actions(SC_FATAL, SC_THROW);
}

}  // namespace podsim
