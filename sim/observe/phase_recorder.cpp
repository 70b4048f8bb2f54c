// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/phase_recorder.hpp"

namespace podsim {

PhaseRecorder::PhaseRecorder(std::uint32_t cards, std::uint32_t cores_per_card, std::uint32_t calls)
    : cores_(cores_per_card),
      state_(static_cast<std::size_t>(cards) * cores_per_card),
      calls_(calls, std::vector<CoreCall>(state_.size())) {}

bool PhaseRecorder::is_post(std::uint32_t phase) {
    if (phase >= post_.size()) {
        post_.resize(phase + 1, -1);
    }
    if (post_[phase] < 0) {
        const std::string& name = names_.all()[phase];
        post_[phase] = name == "address.cumsum" || name == "address.publish" || name.starts_with("reorder.") ? 1 : 0;
    }
    return post_[phase] == 1;
}

void PhaseRecorder::phase_entered(CoreRef core, std::string_view phase, bool /*step*/, Picoseconds at) {
    State& state = state_[place(core)];
    CoreCall& record = calls_[state.call][place(core)];
    if (state.running) {
        if (record.phases.size() <= state.phase) {
            record.phases.resize(state.phase + 1, 0);
            record.ends.resize(state.phase + 1, kNever);
        }
        record.phases[state.phase] += at - state.since;
        record.ends[state.phase] = at;
        if (is_post(state.phase) && at > state.since) {
            record.post.push_back({state.since, at});
        }
    } else {
        record.started = at;
    }
    state.since = at;
    state.running = !phase.empty();
    if (state.running) {
        state.phase = names_.number(phase);
    } else {
        record.ended = at;
        ++state.call;
    }
}

}  // namespace podsim
