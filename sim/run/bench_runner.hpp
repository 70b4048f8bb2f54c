// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Runs microbenchmarks, each on a pod of its own that is idle before.
#include "algorithms/microbench/microbench.hpp"
#include "models/pod/machine.hpp"

namespace podsim {

class BenchRunner final : public BenchRunnerIf {
public:
    explicit BenchRunner(Machine machine);

    const BenchMachine& machine() const override { return facts_; }
    /// Throws KernelError when a kernel breaks a rule of the machine, PodsimError (stuck) when one never ends.
    BenchTimes run(const BenchPlan& plan) override;

private:
    Machine machine_;
    BenchMachine facts_;
};

}  // namespace podsim
