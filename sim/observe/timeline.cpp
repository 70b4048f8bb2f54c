// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/timeline.hpp"

#include <fmt/format.h>

#include <iterator>
#include <ostream>

namespace podsim {

namespace {

constexpr std::size_t kFlushAt = 1U << 20U;
constexpr std::uint64_t kSliceBytes = 110;

using Buffer = fmt::memory_buffer;

/// Picoseconds as µs without rounding.
void put_us(Buffer& text, Picoseconds ps) {
    fmt::format_to(std::back_inserter(text), "{}.{:06}", ps / 1'000'000, ps % 1'000'000);
}

void flush(std::ostream& out, Buffer& text) {
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    text.clear();
}

}  // namespace

TimelineRecorder::TimelineRecorder(std::uint32_t cards, std::uint32_t cores_per_card, std::size_t most)
    : cores_per_card_(cores_per_card), most_(most), state_(static_cast<std::size_t>(cards) * cores_per_card) {}

void TimelineRecorder::end_slice(std::uint32_t core, Picoseconds at) {
    const State& state = state_[core];
    if (at <= state.since) {
        return;
    }
    if (slices_.size() == most_) {
        ++dropped_;
        return;
    }
    slices_.push_back({core, state.phase, state.call, state.since, at});
}

void TimelineRecorder::phase_entered(CoreRef core, std::string_view phase, bool /*step*/, Picoseconds at) {
    const std::uint32_t place = index(core.card) * cores_per_card_ + index(core.core);
    State& state = state_[place];
    first_ = std::min(first_, at);
    if (state.running) {
        end_slice(place, at);
    }
    state.running = !phase.empty();
    state.since = at;
    if (state.running) {
        state.phase = static_cast<std::uint16_t>(names_.number(phase));
    } else {
        ++state.call;
    }
}

void TimelineRecorder::close(Picoseconds at) {
    for (std::uint32_t core = 0; core < state_.size(); ++core) {
        if (state_[core].running) {
            end_slice(core, at);
            state_[core].running = false;
        }
    }
}

std::uint64_t TimelineRecorder::estimated_bytes() const { return (slices_.size() + 2 * state_.size()) * kSliceBytes; }

void TimelineRecorder::write(std::ostream& out) const {
    Buffer text;
    const auto put = [&text](fmt::string_view format, const auto&... values) {
        fmt::vformat_to(std::back_inserter(text), format, fmt::make_format_args(values...));
    };
    put("{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"schema\":\"podsim.trace/1\",\"slices_dropped\":\"{}\"}},"
        "\"traceEvents\":[",
        dropped_);
    const char* between = "\n";
    for (std::uint32_t core = 0; core < state_.size(); ++core) {
        const std::uint32_t pid = core / cores_per_card_;
        const std::uint32_t tid = core % cores_per_card_;
        if (tid == 0) {
            put("{}{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":\"card {}\"}}}}", between,
                pid, pid);
            put(",\n{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{},\"args\":{{\"sort_index\":{}}}}}", pid,
                pid);
        }
        between = ",\n";
        put(",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"AIV {:02}\"}}}}",
            pid, tid, tid);
        put(",\n{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{},\"tid\":{},\"args\":{{\"sort_index\":{}}}}}",
            pid, tid, tid);
    }
    const auto& names = names_.all();
    for (const Slice& s : slices_) {
        const std::string& name = names[s.phase];
        fmt::format_to(std::back_inserter(text),
                       "{}{{\"ph\":\"X\",\"name\":\"{}\",\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":", between, name,
                       std::string_view(name).substr(0, name.find('.')), s.core / cores_per_card_,
                       s.core % cores_per_card_);
        put_us(text, s.from - first_);
        text.append(std::string_view(",\"dur\":"));
        put_us(text, s.to - s.from);
        fmt::format_to(std::back_inserter(text), ",\"args\":{{\"call\":{}}}}}", s.call);
        if (text.size() >= kFlushAt) {
            flush(out, text);
        }
    }
    put("\n]}}\n");
    flush(out, text);
}

}  // namespace podsim
