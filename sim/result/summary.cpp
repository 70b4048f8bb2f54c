// SPDX-License-Identifier: Apache-2.0
#include "sim/result/summary.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace podsim {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownHazards = 5;

double number(const Json& j, const char* pointer) { return j.at(Json::json_pointer(pointer)).get<double>(); }

std::string phase_table(const Json& r) {
    std::string out = fmt::format("  {:<22} {:>12} {:>12} {:>8}\n", "phase", "mean [us]", "max [us]", "share");
    const double total = number(r, "/total_us");
    for (const auto& [group, mean] : r.at("phases_us").items()) {
        const auto& max = r.at("phases_max_us");
        out += fmt::format("  {:<22} {:>12.3f} {:>12} {:>7.1f}%\n", group, mean.get<double>(),
                           max.contains(group) ? fmt::format("{:.3f}", max.at(group).get<double>()) : "",
                           100 * mean.get<double>() / total);
        for (const auto& [name, value] : r.at("subphases_us").items()) {
            if (name.starts_with(group + ".")) {
                out += fmt::format("    {:<20} {:>12.3f}\n", name.substr(group.size() + 1), value.get<double>());
            }
        }
    }
    return out;
}

std::string hazard_lines(const Json& r) {
    if (!r.at("hazards_checked").get<bool>()) {
        return "";
    }
    const auto& count = r.at("hazard_count");
    const auto places = count.at("places").get<std::uint64_t>();
    if (places == 0) {
        return fmt::format("  hazards: none in {} UB accesses\n", count.at("accesses").get<std::uint64_t>());
    }
    std::string out =
        fmt::format("  hazards: {} pairs of lines, {} cases (a report: it changes neither status nor exit code)\n",
                    places, count.at("cases").get<std::uint64_t>());
    std::size_t shown = 0;
    for (const auto& h : r.at("hazards")) {
        if (++shown > kShownHazards) {
            out += "    … all in hazards.json (--out) and --json\n";
            break;
        }
        const auto side = [&h](const char* which) {
            const auto& at = h.at(which);
            return fmt::format("{} {} {}:{}", at.at("pipe").get<std::string>(), at.at("what").get<std::string>(),
                               at.at("file").get<std::string>(), at.at("line").get<int>());
        };
        out += fmt::format("    {} {} then {}, UB [{}, {}), {} cases\n", h.at("kind").get<std::string>(), side("first"),
                           side("second"), h.at("ub")[0].get<int>(), h.at("ub")[1].get<int>(),
                           h.at("count").get<std::uint64_t>());
    }
    return out;
}

}  // namespace

std::string summary_of(const Simulation& s, const Json& r) {
    const RunConfig& c = s.config();
    std::string out = fmt::format("{} on {} cards x {} AIV ({}), batch {}, hidden {}, top-{}, {} experts\n",
                                  c.algorithm.name, c.cards, c.algorithm.aiv_cores, c.machine.name,
                                  c.workload.batch_size, c.workload.hidden, c.workload.top_k, c.workload.experts);
    const OutputCheck& check = s.job().check();
    if (s.job().finished()) {
        out += fmt::format(
            "  total {:.3f} us; a card {:.3f} .. {:.3f} us, mean {:.3f}; slowest core: card {} core {}\n",
            number(r, "/total_us"), number(r, "/card_us/min"), number(r, "/card_us/max"), number(r, "/card_us/mean"),
            r.at("slowest_core").at("card").get<int>(), r.at("slowest_core").at("core").get<int>());
        out += phase_table(r);
        out += fmt::format(
            "  after the last block: {:.3f} us; post-processing {:.3f} us a core, {:.1f} % under transfer\n",
            number(r, "/overlap/tail_us"), number(r, "/overlap/post_us"), number(r, "/overlap/post_hidden_pct"));
        out += fmt::format("  bounds [us]: wire {:.3f}, incast {:.3f}, HBM {:.3f}, AIV issue {:.3f}, latency {:.3f}\n",
                           number(r, "/bounds_us/wire"), number(r, "/bounds_us/incast"), number(r, "/bounds_us/hbm"),
                           number(r, "/bounds_us/aiv_issue"), number(r, "/bounds_us/latency"));
        out += fmt::format("  payload {:.1f} GB/s a card, on the wire {:.1f} GB/s; window {:.1f} MB a card\n",
                           number(r, "/algo_gbps"), number(r, "/wire_gbps"), number(r, "/window_mb"));
    }
    if (s.failure() == "broken_rule") {
        out += fmt::format("  the kernel broke a rule of the hardware; {} rows were checked before\n", check.rows());
    } else if (s.failure() == "early_flag") {
        out += fmt::format(
            "  {} rows checked, {} wrong, but by luck: {} flags left before what they announce had arrived\n",
            check.rows(), check.mismatches(), s.job().flags().early());
    } else {
        out += fmt::format("  {} rows checked, {} wrong: {}\n", check.rows(), check.mismatches(), name_of(s.status()));
    }
    for (const std::string& line : s.diagnosis()) {
        out += "  ! " + line + "\n";
    }
    out += hazard_lines(r);
    for (const auto& note : r.at("notes")) {
        out += "  note: " + note.get<std::string>() + "\n";
    }
    const auto& unused = r.at("unused_machine_parameters");
    if (!unused.empty()) {
        out += fmt::format("  {} machine parameters were not used by this run (listed in --json)\n", unused.size());
    }
    return out;
}

}  // namespace podsim
