// SPDX-License-Identifier: Apache-2.0
#include "tests/support/simulation_context.hpp"

#include "models/engine/systemc.hpp"

#include <catch2/catch.hpp>

namespace podsim::test {

SimulationContext::~SimulationContext() {
    sc_core::sc_simcontext* context = sc_core::sc_get_curr_simcontext();
    for (const sc_core::sc_object* left : context->get_child_objects()) {
        // Processes may well be left: the context owns them.
        if (dynamic_cast<const sc_core::sc_module*>(left) != nullptr) {
            FAIL_CHECK("SimulationContext ends while module '" << left->name()
                                                               << "' is alive: declare the context before the modules");
            return;
        }
    }
    // Public, though not in IEEE 1666; it is the one way to simulate twice in a process.
    context->reset();
}

}  // namespace podsim::test
