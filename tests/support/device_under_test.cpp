// SPDX-License-Identifier: Apache-2.0
#include "tests/support/device_under_test.hpp"

#include "models/engine/random.hpp"
#include "sim/config/machine_loader.hpp"

#include <stdexcept>

namespace podsim::test {

Machine machine(const std::string& name) {
    Machine m = load_machine_file(std::string(PODSIM_SOURCE_DIR "/configs/machines/") + name + ".json");
    // Closed formulas are for warm addresses and code, as micro-benchmarks are; tests of the misses switch them on.
    m.core.translation.walk.set(0);
    m.core.instructions.miss.set(0);
    return m;
}

/// Kernels are launched when the engine stands and before the first event.
class DeviceUnderTest::Launcher final : public sc_core::sc_module {
public:
    Launcher(const sc_core::sc_module_name& name, DeviceUnderTest& dut) : sc_module(name), dut_(dut) {}

private:
    void start_of_simulation() override {
        for (Launch& launch : dut_.launches_) {
            dut_.core(launch.core).launch(std::move(launch.kernel), launch.at);
        }
    }
    DeviceUnderTest& dut_;
};

DeviceUnderTest::DeviceUnderTest(Machine machine, const DutOptions& options)
    : machine_(std::move(machine)), options_(options) {
    PodParams params;
    params.cards = options.cards;
    params.cores_per_card = options.cores;
    params.seed = 1;
    params.engine.wake = options.wake;
    params.engine.time_limit = options.time_limit;
    params.payload = options.payload;
    params.polling = options.polling;
    hub_.add(recorder);
    if (options.listener != nullptr) {
        hub_.add(*options.listener);
    }
    params.observer = &hub_;
    pod_ = std::make_unique<Pod>("pod", machine_, params);
    launcher_ = std::make_unique<Launcher>("launcher", *this);
}

DeviceUnderTest::~DeviceUnderTest() {
    launcher_.reset();
    pod_.reset();
}

Aiv& DeviceUnderTest::new_aiv(CoreRef core) {
    aivs_.push_back(std::make_unique<Aiv>(this->core(core), options_.cards, options_.gm_bytes));
    return *aivs_.back();
}

void DeviceUnderTest::run() {
    for (std::uint32_t c = 0; c < options_.cards; ++c) {
        pod_->card(CardId{c}).sync.port->set_participants(options_.cores);
    }
    pod_->engine().run();
}

void DeviceUnderTest::preset(GmAddress address, std::span<const std::byte> bytes, bool in_l2) {
    memory(address.card)
        .preset(address.offset, {make_bytes(bytes), 0, static_cast<std::uint32_t>(bytes.size())}, in_l2);
}

std::vector<std::byte> DeviceUnderTest::gm(GmAddress address, std::uint32_t bytes) {
    Content content;
    memory(address.card).store_contents().read(address.offset, bytes, content);
    std::vector<std::byte> out(bytes);
    copy_bytes(content, out);
    return out;
}

Picoseconds DeviceUnderTest::at(std::string_view mark, CoreRef core) const {
    for (const Recorder::Mark& m : recorder.marks) {
        if (m.core == core && m.name == mark) {
            return m.at;
        }
    }
    throw std::runtime_error("the core never came to mark " + std::string(mark));
}

const Recorder::Instruction& DeviceUnderTest::instruction(std::string_view what, std::size_t n) const {
    for (const Recorder::Instruction& i : recorder.instructions) {
        if (i.what == what && n-- == 0) {
            return i;
        }
    }
    throw std::runtime_error("no such instruction was recorded: " + std::string(what));
}

std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) {
        bytes[i] = static_cast<std::byte>(random_u64(seed, RandomStream::sampling, 0, i / 8) >> (i % 8 * 8));
    }
    return bytes;
}

}  // namespace podsim::test
