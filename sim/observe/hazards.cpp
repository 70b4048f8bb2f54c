// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/hazards.hpp"

#include <algorithm>
#include <tuple>

namespace podsim {

namespace {

std::size_t at(Pipe pipe) { return static_cast<std::size_t>(pipe); }

std::uint32_t key(const OrderEvent& e) {
    return (static_cast<std::uint32_t>(at(e.from) * kPipes + at(e.to)) << 8U) | e.id;
}

/// What a case is reported by: the earliest, whatever order the engine stepped cores in.
auto rank(const Hazard& h) { return std::tuple(h.second.at, h.core, h.first.at, h.from); }

}  // namespace

std::string_view name_of(HazardKind kind) {
    constexpr std::string_view kNames[] = {"RAW", "WAR", "WAW"};
    return kNames[static_cast<std::size_t>(kind)];
}

/// An instruction starts after its issue, so after whatever the scalar unit had waited for by then.
void HazardDetector::learn_issue(Core& core, Pipe pipe, std::uint64_t sequence) {
    if (pipe == Pipe::s) {
        return;
    }
    std::uint32_t& learned = core.learned[at(pipe)];
    const std::uint32_t before = learned;
    while (learned < core.issues.size() && core.issues[learned].sequence <= sequence) {
        ++learned;
    }
    if (learned > before) {
        join(core.known[at(pipe)], core.issues[learned - 1].after);
    }
}

PipeClock HazardDetector::completed(const Core& core, Pipe pipe) {
    PipeClock clock = core.known[at(pipe)];
    clock[at(pipe)] = core.last[at(pipe)];
    return clock;
}

void HazardDetector::ordered(const OrderEvent& event, Picoseconds /*now*/) {
    Core& c = core(event.core);
    switch (event.kind) {
        case OrderEvent::Kind::fired:
            break;
        case OrderEvent::Kind::set:
            learn_issue(c, event.from, event.sequence);
            c.flags.push_back({key(event), completed(c, event.from)});
            break;
        case OrderEvent::Kind::wait: {
            learn_issue(c, event.to, event.sequence);
            const auto set = std::find_if(c.flags.begin(), c.flags.end(),
                                          [wanted = key(event)](const Flag& flag) { return flag.key == wanted; });
            join(c.known[at(event.to)], set->stands_for);
            c.flags.erase(set);
            if (event.to == Pipe::s) {
                c.issues.push_back({event.sequence, c.known[at(Pipe::s)]});
            }
            break;
        }
        case OrderEvent::Kind::barrier_pipe:
            learn_issue(c, event.from, event.sequence);
            c.known[at(event.from)] = completed(c, event.from);
            break;
        case OrderEvent::Kind::poll: {
            PipeClock all = completed(c, Pipe::s);
            join(all, completed(c, Pipe::v));
            join(all, completed(c, Pipe::mte2));
            for (const Pipe pipe : {Pipe::s, Pipe::v, Pipe::mte2}) {
                c.known[at(pipe)] = all;
            }
            c.issues.push_back({event.sequence, all});
            break;
        }
        case OrderEvent::Kind::barrier_all:
            for (PipeClock& known : c.known) {
                known = c.last;
            }
            c.issues.clear();
            std::fill(std::begin(c.learned), std::end(c.learned), 0);
            c.shadow.clear();
            c.done_before += static_cast<std::uint32_t>(c.done.size());
            c.done.clear();
            break;
    }
}

void HazardDetector::instruction_started(const InstructionEvent& event, Picoseconds now) {
    Core& c = core(event.core);
    learn_issue(c, event.pipe, event.sequence);
    c.done.push_back({event.sequence, now, event.what, event.where});
    const std::uint32_t number = c.done_before + static_cast<std::uint32_t>(c.done.size());
    c.last[at(event.pipe)] = number;
    const UbAccess access{event.pipe, number, c.known[at(event.pipe)]};
    conflicts_.clear();
    const auto touch = [&](const UbRange& range, bool write) {
        if (range.length == 0) {
            return;
        }
        ++accesses_;
        const std::uint32_t stride = !write && event.read_stride > 0 ? event.read_stride : event.burst_stride;
        if (event.bursts == 1 || stride == event.burst_bytes) {
            c.shadow.access(access, range, write, conflicts_);
            return;
        }
        for (std::uint32_t b = 0; b < event.bursts; ++b) {
            c.shadow.access(access, {range.offset + b * stride, event.burst_bytes}, write, conflicts_);
        }
    };
    for (const UbRange& range : event.reads) {
        touch(range, false);
    }
    for (const UbRange& range : event.writes) {
        touch(range, true);
    }
    for (const UbConflict& conflict : conflicts_) {
        record(event.core, conflict, access);
    }
}

void HazardDetector::record(CoreRef ref, const UbConflict& conflict, const UbAccess& access) {
    const Core& c = core(ref);
    const Done& mine = c.done[access.number - c.done_before - 1];
    const Done& other = c.done[conflict.number - c.done_before - 1];
    // Pipes work ahead of each other: what is reported later may come earlier in the program.
    const bool in_order = other.sequence < mine.sequence;
    const bool first_wrote = in_order ? conflict.other_wrote : conflict.wrote;
    const bool second_wrote = in_order ? conflict.wrote : conflict.other_wrote;
    const auto told = [](Pipe p, const Done& d) {
        return HazardSide{p, d.what, d.where.file_name(), d.where.line(), d.at};
    };
    Hazard hazard;
    hazard.core = ref;
    hazard.kind = first_wrote ? second_wrote ? HazardKind::waw : HazardKind::raw : HazardKind::war;
    hazard.first = in_order ? told(conflict.pipe, other) : told(access.pipe, mine);
    hazard.second = in_order ? told(access.pipe, mine) : told(conflict.pipe, other);
    hazard.from = conflict.from;
    hazard.to = conflict.to;
    const Place place{hazard.first.file, hazard.second.file, hazard.first.line, hazard.second.line, hazard.kind};
    const auto [entry, is_new] = found_.try_emplace(place, hazard);
    const std::uint64_t count = entry->second.count + 1;
    if (!is_new && rank(hazard) < rank(entry->second)) {
        entry->second = hazard;
    }
    entry->second.count = count;
}

std::vector<Hazard> HazardDetector::hazards() const {
    std::vector<Hazard> all;
    all.reserve(found_.size());
    for (const auto& [place, hazard] : found_) {
        all.push_back(hazard);
    }
    // Stable on the order of places: equal times are told in the order of source lines.
    std::stable_sort(all.begin(), all.end(), [](const Hazard& a, const Hazard& b) { return rank(a) < rank(b); });
    return all;
}

}  // namespace podsim
