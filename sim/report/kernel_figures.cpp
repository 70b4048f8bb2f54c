// SPDX-License-Identifier: Apache-2.0
#include "sim/report/kernel_figures.hpp"

#include "sim/config/builtin.hpp"
#include "sim/config/json_text.hpp"
#include "sim/config/nearest.hpp"
#include "sim/config/origins.hpp"
#include "sim/config/schema.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <set>

namespace podsim {

namespace {

using nlohmann::json;

/// What the schema cannot say.
class FileReader {
public:
    FileReader(const json& root, const Origins& origins) : root_(root), origins_(origins) {}

    KernelFigures read() {
        out_.machine = root_["machine"].get<std::string>();
        read_points();
        for (std::size_t i = 0; i < root_["figures"].size(); ++i) {
            out_.figures.push_back(figure(root_["figures"][i], fmt::format("/figures/{}", i)));
        }
        for (std::size_t i = 0; root_.contains("variants") && i < root_["variants"].size(); ++i) {
            const json& from = root_["variants"][i];
            once(from, fmt::format("/variants/{}", i));
            out_.variants.push_back({from["name"].get<std::string>(), from.value("note", ""), from["set"]});
        }
        return std::move(out_);
    }

private:
    [[noreturn]] void refuse(const std::string& pointer, std::string expected, std::string found,
                             std::string hint = "") const {
        throw UserError(origins_.at(pointer, std::move(expected), std::move(found), std::move(hint)));
    }

    /// Points, figures and variants have names of their own.
    void once(const json& from, const std::string& here) {
        if (!names_.insert(from["name"].get<std::string>()).second) {
            refuse(here + "/name", "a name that nothing else in the file has", in_words(from["name"]));
        }
    }

    void read_points() {
        for (std::size_t i = 0; i < root_["points"].size(); ++i) {
            const json& from = root_["points"][i];
            const std::string here = fmt::format("/points/{}", i);
            once(from, here);
            for (const char* key : {"machine", "seed"}) {
                if (from["config"].contains(key)) {
                    refuse(here + "/config/" + key, "a config without it", in_words(from["config"][key]),
                           "--machine and seeds give it");
                }
            }
            out_.points.push_back(
                {from["name"].get<std::string>(), from["config"], from["seeds"].get<std::vector<std::uint64_t>>()});
        }
    }

    std::size_t point(const json& from, const char* key, const std::string& here) const {
        const auto name = from[key].get<std::string>();
        std::vector<std::string> names;
        for (std::size_t i = 0; i < out_.points.size(); ++i) {
            if (out_.points[i].name == name) {
                return i;
            }
            names.push_back(out_.points[i].name);
        }
        refuse(join_pointer(here, key), "the name of a point", in_words(from[key]), name_hint(name, names));
    }

    KernelFigure figure(const json& from, const std::string& here) {
        once(from, here);
        KernelFigure out;
        out.name = from["name"].get<std::string>();
        out.value = from["value"].get<std::string>();
        out.role = from["role"].get<std::string>();
        out.basis = from["basis"].get<std::string>();
        out.note = from.value("note", "");
        out.slowest_card = from["of"] == "slowest card";
        if (out.slowest_card && out.value != "total") {
            refuse(here + "/of", "\"mean card\" for a phase", in_words(from["of"]), "phases are means over cores");
        }
        out.point = point(from, "point", here);
        if (from.contains("minus")) {
            out.minus = point(from, "minus", here);
            if (out_.points[*out.minus].seeds != out_.points[out.point].seeds) {
                refuse(here + "/minus", "a point with the same seeds", in_words(from["minus"]));
            }
        }
        out.per = from.value("per", 1.0);
        out.published_us = from["published_us"].get<double>();
        if (from.contains("tolerance_pct") && from.contains("tolerance_us")) {
            refuse(here + "/tolerance_us", "tolerance_pct or tolerance_us", "both");
        }
        if (from.contains("tolerance_pct")) {
            const double most = from["tolerance_pct"].get<double>() / 100 * out.published_us;
            out.tolerance_us = {out.published_us - most, out.published_us + most};
        } else if (from.contains("tolerance_us")) {
            out.tolerance_us = {from["tolerance_us"][0].get<double>(), from["tolerance_us"][1].get<double>()};
            if (out.tolerance_us->first > out.tolerance_us->second) {
                refuse(here + "/tolerance_us", "[least, most]", from["tolerance_us"].dump());
            }
        }
        return out;
    }

    const json& root_;
    const Origins& origins_;
    KernelFigures out_;
    std::set<std::string> names_;
};

}  // namespace

KernelFigures load_kernel_figures(const std::optional<std::filesystem::path>& path) {
    const std::string name = path ? path->string() : std::string(name_of(Builtin::kernels));
    const json root = path ? read_json_file(*path) : parse_json(builtin_text(Builtin::kernels), name);
    Origins origins;
    origins.record("", name, "");
    validate_against(SchemaName::kernels, root, "", origins);
    return FileReader(root, origins).read();
}

KernelTimes KernelTimes::of(const json& result) {
    const json& phases = result["phases_us"];
    const auto phase = [&phases](const char* name) { return phases.value(name, 0.0); };
    return {result["card_us"]["mean"].get<double>(),
            result["total_us"].get<double>(),
            phase("transfer"),
            phase("flags"),
            phase("address"),
            phase("reorder")};
}

double figure_of(const KernelFigure& figure, const KernelTimes& point, const KernelTimes& minus) {
    const auto value = [&figure](const KernelTimes& t) {
        const double total = figure.slowest_card ? t.slowest_card : t.mean_card;
        return figure.value == "transfer"  ? t.transfer
               : figure.value == "flags"   ? t.flags
               : figure.value == "address" ? t.address
               : figure.value == "reorder" ? t.reorder
               : figure.value == "rest"    ? total - t.transfer - t.flags - t.address - t.reorder
                                           : total;
    };
    return (value(point) - (figure.minus ? value(minus) : 0)) / figure.per;
}

}  // namespace podsim
