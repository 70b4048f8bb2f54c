// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Several SystemC simulations in one process.
///
///     TEST_CASE("…") {
///         SimulationContext simulation;   // first, so that it goes last
///         Engine engine("engine", …);     // modules
///         engine.run();
///     }                                   // modules die, then SystemC forgets them
///
/// Its destructor gives the next test a SystemC that never ran. Modules still alive by then would crash the
/// process later and elsewhere, so that is a failed test with a clear message.
namespace podsim::test {

class SimulationContext {
public:
    SimulationContext() = default;
    SimulationContext(const SimulationContext&) = delete;
    SimulationContext& operator=(const SimulationContext&) = delete;
    ~SimulationContext();
};

}  // namespace podsim::test
