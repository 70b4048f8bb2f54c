// SPDX-License-Identifier: Apache-2.0
#include "sim/result/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace podsim {

namespace {

/// Nearest-rank percentile of sorted values.
double percentile(const std::vector<double>& sorted, double p) {
    const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(sorted.size())));
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

std::string group_of(const std::string& phase) { return phase.substr(0, phase.find('.')); }

struct CardSpan {
    Picoseconds from = kNever;
    Picoseconds to = 0;
};

CardSpan span_of(const Simulation& s, CallRange range, std::uint32_t card) {
    return {s.job().card_call(range.first, card).started, s.job().card_call(range.last, card).ended};
}

/// Returns the total.
Picoseconds fill_cards(const Simulation& s, CallRange range, Metrics& m) {
    Picoseconds first = kNever, last_start = 0, end = 0;
    std::vector<double> durations;
    for (std::uint32_t card = 0; card < s.config().cards; ++card) {
        const CardSpan span = span_of(s, range, card);
        first = std::min(first, span.from);
        last_start = std::max(last_start, span.from);
        end = std::max(end, span.to);
        durations.push_back(to_us(span.to - span.from));
    }
    m.total_us = to_us(end - first);
    m.skew_us = to_us(last_start - first);
    m.service_us = to_us(end - last_start);
    std::sort(durations.begin(), durations.end());
    const double sum = std::accumulate(durations.begin(), durations.end(), 0.0);
    m.card_us = {durations.front(), sum / static_cast<double>(durations.size()), percentile(durations, 0.5),
                 percentile(durations, 0.99), durations.back()};
    return end - first;
}

void fill_phases(const Simulation& s, CallRange range, Picoseconds total, Metrics& m) {
    const auto& names = s.phases().names().all();
    const std::uint32_t cores = s.config().algorithm.aiv_cores;
    std::vector<Picoseconds> sums(names.size(), 0);
    Picoseconds slowest = -1;
    for (const char* group : kPhaseGroups) {
        m.phases_max_us[group] = 0;
        m.phases_us[group] = 0;
    }
    for (std::uint32_t card = 0; card < s.config().cards; ++card) {
        for (std::uint32_t core = 0; core < cores; ++core) {
            const CoreRef ref{CardId{card}, CoreId{core}};
            std::map<std::string, Picoseconds> groups;
            for (std::uint32_t call = range.first; call <= range.last; ++call) {
                const CoreCall& record = s.phases().core_call(call, ref);
                for (std::size_t p = 0; p < record.phases.size(); ++p) {
                    sums[p] += record.phases[p];
                    groups[group_of(names[p])] += record.phases[p];
                }
            }
            for (const auto& [group, time] : groups) {
                m.phases_max_us[group] = std::max(m.phases_max_us[group], to_us(time));
            }
            const Picoseconds ended = s.phases().core_call(range.last, ref).ended;
            if (ended > slowest) {
                slowest = ended;
                m.slowest = ref;
            }
        }
    }
    const double all_cores = static_cast<double>(s.config().cards) * cores;
    // In whole picoseconds: what is left of a total that is all used must be nothing, not a little less.
    Picoseconds idle = total * s.config().cards * cores;
    // Nor may a group depend on the order in which its phases first came.
    std::map<std::string, Picoseconds> groups;
    for (std::size_t p = 0; p < names.size(); ++p) {
        m.subphases_us[names[p]] = to_us(sums[p]) / all_cores;
        groups[group_of(names[p])] += sums[p];
        idle -= sums[p];
    }
    for (const auto& [group, sum] : groups) {
        m.phases_us[group] = to_us(sum) / all_cores;
    }
    m.phases_us["idle"] = to_us(idle) / all_cores;
}

void fill_ends(const Simulation& s, CallRange range, Metrics& m) {
    const auto& names = s.phases().names().all();
    Picoseconds start = kNever;
    for (std::uint32_t card = 0; card < s.config().cards; ++card) {
        start = std::min(start, span_of(s, range, card).from);
    }
    struct Sum {
        Picoseconds first = kNever, last = 0, all = 0;
        std::int64_t cores = 0;
        void add(Picoseconds at) {
            first = std::min(first, at);
            last = std::max(last, at);
            all += at;
            ++cores;
        }
    };
    std::map<std::string, Sum> sums;
    for (std::uint32_t card = 0; card < s.config().cards; ++card) {
        for (std::uint32_t core = 0; core < s.config().algorithm.aiv_cores; ++core) {
            const CoreCall& record = s.phases().core_call(range.last, {CardId{card}, CoreId{core}});
            std::map<std::string, Picoseconds> groups;
            for (std::size_t p = 0; p < record.ends.size(); ++p) {
                if (record.ends[p] != kNever) {
                    sums[names[p]].add(record.ends[p] - start);
                    Picoseconds& group = groups[group_of(names[p])];
                    group = std::max(group, record.ends[p] - start);
                }
            }
            for (const auto& [group, at] : groups) {
                sums[group].add(at);
            }
        }
    }
    for (const auto& [name, sum] : sums) {
        m.phase_ends_us[name] = {to_us(sum.first), to_us(sum.all) / static_cast<double>(sum.cores), to_us(sum.last)};
    }
}

void fill_overlap(const Simulation& s, CallRange range, Metrics& m) {
    const std::uint32_t cores = s.config().algorithm.aiv_cores;
    Picoseconds tail = 0, work = 0, hidden = 0;
    for (std::uint32_t card = 0; card < s.config().cards; ++card) {
        for (std::uint32_t call = range.first; call <= range.last; ++call) {
            const LandingRecorder::Landed& landed = s.landings().landed(card, call);
            if (landed.output > 0) {
                tail = std::max(tail, landed.output - landed.data);
            }
            for (std::uint32_t core = 0; core < cores; ++core) {
                for (const Interval& i : s.phases().core_call(call, {CardId{card}, CoreId{core}}).post) {
                    work += i.to - i.from;
                    hidden += std::clamp<Picoseconds>(landed.data - i.from, 0, i.to - i.from);
                }
            }
        }
    }
    m.tail_us = to_us(tail);
    m.post_us = to_us(work) / (static_cast<double>(s.config().cards) * cores);
    m.post_hidden_pct = work > 0 ? 100.0 * static_cast<double>(hidden) / static_cast<double>(work) : 0;
}

}  // namespace

std::uint32_t complete_calls(const Simulation& s) {
    std::uint32_t calls = 0;
    const auto ended = [&s](std::uint32_t call) {
        for (std::uint32_t card = 0; card < s.config().cards; ++card) {
            if (s.job().card_call(call, card).ended == kNever) {
                return false;
            }
        }
        return true;
    };
    while (calls < s.config().calls && ended(calls)) {
        ++calls;
    }
    return calls;
}

Metrics metrics_of(const Simulation& simulation, CallRange range) {
    Metrics m;
    const Picoseconds total = fill_cards(simulation, range, m);
    fill_phases(simulation, range, total, m);
    fill_ends(simulation, range, m);
    fill_overlap(simulation, range, m);
    return m;
}

Bounds bounds_of(const Simulation& s) {
    const RunConfig& config = s.config();
    const Workload& w = config.workload;
    const std::uint32_t per_package = config.machine.fabric.topology.dies_per_package.peek();
    std::vector<std::uint64_t> out(w.cards, 0), in(w.cards, 0);
    for (std::uint32_t call = 0; call < config.calls; ++call) {
        for (std::uint32_t card = 0; card < w.cards; ++card) {
            for (const RowOrigin& row : s.job().reference(call).output(card)) {
                // Rows to the own card or its package neighbour do not use the planes.
                if (row.source / per_package != card / per_package) {
                    ++out[row.source];
                    ++in[card];
                }
            }
        }
    }
    // No card gives or takes more than its ports' write rate on all planes, nor more than the wire carries.
    const FabricParams& fabric = config.machine.fabric;
    const double planes = fabric.topology.planes.peek();
    const double row = s.layout().row().row_bytes;
    const double rate = planes * static_cast<double>(std::min(fabric.port_write_rate.peek(), fabric.link_rate.peek()));
    Bounds b;
    b.wire = static_cast<double>(*std::max_element(out.begin(), out.end())) * row / rate;
    b.incast = static_cast<double>(*std::max_element(in.begin(), in.end())) * row / rate;
    MilliCycles issue = 0;
    std::uint64_t hbm = 0;
    for (std::uint32_t card = 0; card < w.cards; ++card) {
        const Card& at = s.pod().card(CardId{card});
        hbm = std::max(hbm, at.memory.statistics().hbm_bytes);
        for (std::uint32_t core = 0; core < at.cores(); ++core) {
            const Mte& mte = at.core(CoreId{core}).mte;
            issue = std::max({issue, mte.in.statistics().issue_cycles, mte.out.statistics().issue_cycles});
        }
    }
    b.hbm = static_cast<double>(hbm) / static_cast<double>(config.machine.memory.hbm_bandwidth.peek());
    b.aiv_issue = static_cast<double>(issue) / 1000 / config.machine.core.clock_mhz.peek();
    if (*std::max_element(out.begin(), out.end()) > 0) {
        // Something crosses the fabric: at least once the shortest way there.
        Picoseconds shortest = kNever;
        for (std::uint32_t to = 1; to < w.cards; ++to) {
            if (to / per_package != 0) {
                shortest = std::min(shortest, s.pod().fabric().one_way_latency(CardId{0}, CardId{to}));
            }
        }
        b.latency = shortest == kNever ? 0 : to_us(shortest);
    }
    return b;
}

}  // namespace podsim
