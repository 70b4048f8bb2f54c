// SPDX-License-Identifier: Apache-2.0
#include "sim/result/observe_json.hpp"

#include "sim/result/write_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace podsim {

namespace {

using Json = nlohmann::ordered_json;

Json side_json(const HazardSide& side) {
    return {{"pipe", name_of(side.pipe)},
            {"what", side.what},
            {"file", side.file},
            {"line", side.line},
            {"at_us", std::round(to_us(side.at) * 1e6) / 1e6}};
}

Json hazard_json(const Hazard& h) {
    return {{"card", index(h.core.card)},
            {"core", index(h.core.core)},
            {"kind", name_of(h.kind)},
            {"first", side_json(h.first)},
            {"second", side_json(h.second)},
            {"ub", {h.from, h.to}},
            {"count", h.count}};
}

}  // namespace

void put_hazards(Json& result, const Simulation& simulation) {
    const HazardDetector* detector = simulation.hazards();
    result["hazards_checked"] = detector != nullptr;
    Json& list = result["hazards"] = Json::array();
    if (detector == nullptr) {
        return;
    }
    const std::vector<Hazard> all = detector->hazards();
    std::uint64_t cases = 0;
    for (const Hazard& hazard : all) {
        cases += hazard.count;
        if (list.size() < kMostHazards) {
            list.push_back(hazard_json(hazard));
        }
    }
    result["hazard_count"] = {{"places", all.size()}, {"cases", cases}, {"accesses", detector->accesses()}};
}

std::vector<std::string> observe_notes(const Simulation& s) {
    std::vector<std::string> notes;
    if (s.timeline() != nullptr && s.timeline()->dropped() > 0) {
        notes.push_back(fmt::format("trace.json holds the first {} slices; {} later ones were dropped",
                                    s.timeline()->slices(), s.timeline()->dropped()));
    }
    if (s.config().observe.stamps == Stamps::cost) {
        std::uint64_t lost = 0;
        for (std::uint32_t card = 0; card < s.config().cards; ++card) {
            for (std::uint32_t core = 0; core < s.config().algorithm.aiv_cores; ++core) {
                lost += s.job().stamps_lost({CardId{card}, CoreId{core}});
            }
        }
        notes.emplace_back(
            "/observe/stamps is cost: every phase boundary drains the core's pipes, and the run is slower");
        if (lost > 0) {
            notes.push_back(fmt::format(
                "the stamp buffers hold {} stamps a core; {} phase boundaries beyond that were not stamped and cost "
                "nothing",
                DispatchLayout::kStamps, lost));
        }
    }
    return notes;
}

void write_observe_files(const Simulation& s, const Json& result, const std::filesystem::path& dir) {
    if (s.timeline() != nullptr) {
        write_file(dir / "trace.json", [&s](std::ostream& out) { s.timeline()->write(out); });
    }
    if (s.hazards() != nullptr) {
        const Json document = {{"schema", "podsim.hazards/1"},
                               {"status", result.at("status")},
                               {"hazard_count", result.at("hazard_count")},
                               {"hazards", result.at("hazards")}};
        write_text(dir / "hazards.json", document.dump(2) + "\n");
    }
    if (s.config().observe.stamps != Stamps::off) {
        write_text(dir / "stamps.txt", stamps_text(s.stamps()));
    }
}

}  // namespace podsim
