// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A small pod on a bench: kernels written as captureless coroutine lambdas run on it, and everything they
/// did is recorded with its exact time.
///
///     DeviceUnderTest dut(machine("tiny_pod"), {.cores = 2});
///     dut.launch({}, 0, [](Aiv& aiv) -> Task<void> { …; aiv.Phase("a"); …; aiv.End(); co_return; });
///     dut.run();
///     CHECK(dut.at("a") == …);
///
/// Phase marks cost nothing and carry the instant of the scalar program.
#include "algorithms/kernel_api/aiv.hpp"
#include "models/pod/pod.hpp"
#include "sim/observe/observer_hub.hpp"
#include "tests/support/simulation_context.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace podsim::test {

/// configs/machines/NAME.json.
Machine machine(const std::string& name);

/// Cycles, in thousandths, as time: to the nearest ps, halves up.
inline Picoseconds cycles_ps(const Machine& m, MilliCycles milli) {
    const std::int64_t mhz = m.core.clock_mhz.peek();
    return (2000 * milli + mhz) / (2 * mhz);
}
/// Time of `bytes` at `bytes_per_us`: to the nearest ps, halves up.
inline Picoseconds rate_ps(std::uint64_t bytes, std::uint64_t bytes_per_us) {
    return static_cast<Picoseconds>((2'000'000 * bytes + bytes_per_us) / (2 * bytes_per_us));
}
/// Request cycles of a single read of `bytes`.
inline Picoseconds piece_ps(const Machine& m, std::uint32_t bytes) {
    return cycles_ps(
        m, std::max(MilliCycles{1000} * bytes / m.core.mte.in_bytes_per_cycle.peek(), m.core.mte.burst_min.peek()));
}
/// A read's way on an L2 hit.
inline Picoseconds hit(const Machine& m) { return 2 * m.memory.noc_latency.peek() + m.memory.l2_read_latency.peek(); }

inline const VectorInstruction& vector_row(const Machine& m, std::string_view name) {
    for (const VectorInstruction& row : m.core.vector.instructions) {
        if (row.name == name) {
            return row;
        }
    }
    throw std::runtime_error("no vector instruction of that name");
}

/// The machine without that instruction: a scalar loop has to do.
inline Machine lacking(Machine m, std::string_view name) {
    std::erase_if(m.core.vector.instructions, [&](const VectorInstruction& row) { return row.name == name; });
    return m;
}

struct DutOptions {
    std::uint32_t cards = 1;
    std::uint32_t cores = 1;  ///< a card; all of them take part in SyncAll
    std::uint64_t gm_bytes = std::uint64_t{1} << 32;
    Wake wake = Wake::calendar;
    PayloadMode payload = PayloadMode::extents;
    Polling polling = Polling::elided;
    Picoseconds time_limit = kNever;
    ObserverIf* listener = nullptr;  ///< hears the same as the recorder
};

class Recorder final : public ObserverIf {
public:
    struct Mark {
        CoreRef core;
        std::string name;
        Picoseconds at = 0;
    };
    struct Instruction {
        CoreRef core;
        Pipe pipe{};
        std::string what;
        std::uint64_t sequence = 0;
        Picoseconds started = 0;
        Picoseconds ended = -1;
    };
    struct Block {
        BlockEvent event;
        Picoseconds at = 0;
    };

    void phase_entered(CoreRef core, std::string_view phase, bool /*step*/, Picoseconds at) override {
        marks.push_back({core, std::string(phase), at});
    }
    void instruction_started(const InstructionEvent& e, Picoseconds at) override {
        instructions.push_back({e.core, e.pipe, e.what, e.sequence, at});
    }
    void instruction_ended(const InstructionEvent& e, Picoseconds at, Enabler) override {
        for (auto& i : instructions | std::views::reverse) {
            if (i.core == e.core && i.sequence == e.sequence) {
                i.ended = at;
                return;
            }
        }
    }
    void block_sent(const BlockEvent& e, Picoseconds at) override { sent.push_back({e, at}); }
    void block_landed(const BlockEvent& e, Picoseconds at) override { landed.push_back({e, at}); }
    void block_read(const BlockEvent& e, Picoseconds at) override { read.push_back({e, at}); }

    std::vector<Mark> marks;
    std::vector<Instruction> instructions;
    std::vector<Block> sent, landed, read;
};

class DeviceUnderTest {
public:
    explicit DeviceUnderTest(Machine machine, const DutOptions& options = {});
    ~DeviceUnderTest();
    DeviceUnderTest(const DeviceUnderTest&) = delete;
    DeviceUnderTest& operator=(const DeviceUnderTest&) = delete;

    /// `kernel(aiv, args…)` runs on `core` from `at`. Before run().
    template <class Kernel, class... Args>
    void launch(CoreRef core, Picoseconds at, Kernel kernel, Args... args) {
        static_assert(std::is_empty_v<Kernel> || std::is_pointer_v<Kernel>, "a coroutine lambda must not capture");
        Aiv& aiv = new_aiv(core);
        launches_.push_back({core, at, kernel(aiv, std::move(args)...)});
    }
    /// On core 0 of card 0, from 0.
    template <class Kernel, class... Args>
    void launch_one(Kernel kernel, Args... args) {
        launch({}, 0, kernel, std::move(args)...);
    }
    void run();

    Pod& pod() { return *pod_; }
    const Machine& machine() const { return machine_; }
    AivCore& core(CoreRef core = {}) { return pod_->card(core.card).core(core.core); }
    CardMemory& memory(CardId card = {}) { return pod_->card(card).memory; }
    Picoseconds end(CoreRef at = {}) { return core(at).ended_at(); }

    /// Puts bytes into GM before the run, into L2 unless told otherwise.
    void preset(GmAddress address, std::span<const std::byte> bytes, bool in_l2 = true);
    template <class T>
    void preset(GmAddress address, const std::vector<T>& values, bool in_l2 = true) {
        preset(address, std::as_bytes(std::span(values)), in_l2);
    }
    /// GM contents now.
    std::vector<std::byte> gm(GmAddress address, std::uint32_t bytes);
    template <class T>
    std::vector<T> gm_values(GmAddress address, std::uint32_t count) {
        std::vector<T> values(count);
        const auto bytes = gm(address, static_cast<std::uint32_t>(count * sizeof(T)));
        std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
        return values;
    }

    Recorder recorder;
    /// Instant of the core's only mark of that name.
    Picoseconds at(std::string_view mark, CoreRef core = {}) const;
    Picoseconds between(std::string_view from, std::string_view to, CoreRef core = {}) const {
        return at(to, core) - at(from, core);
    }
    /// The n-th recorded instruction called `what`.
    const Recorder::Instruction& instruction(std::string_view what, std::size_t n = 0) const;

private:
    class Launcher;
    struct Launch {
        CoreRef core;
        Picoseconds at;
        Task<void> kernel;
    };
    Aiv& new_aiv(CoreRef core);

    SimulationContext context_;
    ObserverHub hub_;
    Machine machine_;
    DutOptions options_;
    std::vector<std::unique_ptr<Aiv>> aivs_;
    std::vector<Launch> launches_;
    std::unique_ptr<Pod> pod_;
    std::unique_ptr<Launcher> launcher_;
};

/// Bytes that look random, the same for the same seed.
std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed);

/// A GM address of card 0 as a tensor.
template <class T>
GlobalTensor<T> gm_tensor(std::uint64_t offset, std::uint32_t card = 0) {
    return {{CardId{card}, offset}};
}

}  // namespace podsim::test
