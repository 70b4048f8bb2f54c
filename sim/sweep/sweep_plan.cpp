// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/sweep_plan.hpp"

#include "sim/config/json_text.hpp"
#include "sim/config/schema.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <set>

namespace podsim {

namespace {

using nlohmann::json;

class Reader {
public:
    Reader(const json& root, const Origins& origins) : root_(root), origins_(origins) {}

    std::vector<SweepAxis> axes() const {
        std::vector<SweepAxis> out;
        for (std::size_t i = 0; i < root_["axes"].size(); ++i) {
            out.push_back(axis(root_["axes"][i], fmt::format("/axes/{}", i)));
        }
        if (root_.contains("seeds")) {
            out.push_back(values_axis("seed", "/seed", root_["seeds"], "/seeds"));
        }
        return out;
    }

    [[noreturn]] void refuse(const std::string& pointer, std::string expected, std::string found,
                             std::string hint = "") const {
        throw UserError(origins_.at(pointer, std::move(expected), std::move(found), std::move(hint)));
    }

private:
    SweepAxis axis(const json& from, const std::string& here) const {
        const bool zip = from.contains("zip");
        const bool variants = from.contains("variants");
        const bool plain = from.contains("values") || from.contains("pointer");
        if (zip + variants + plain != 1) {
            refuse(here, "one of: pointer with values; zip; variants",
                   zip + variants + plain == 0 ? "none of them" : "more than one of them");
        }
        if (zip) {
            if (from.contains("name")) {
                refuse(here + "/name", "no name beside zip", in_words(from["name"]), "its axes have names");
            }
            return zipped(from["zip"], here + "/zip");
        }
        require(from, here, "name", "a name, the column of the table");
        if (variants) {
            return of_variants(from, here);
        }
        require(from, here, "pointer", "a JSON pointer into the run config");
        require(from, here, "values", "an array of values");
        return values_axis(from["name"], from["pointer"], from["values"], here + "/values", here + "/pointer");
    }

    void require(const json& axis, const std::string& here, const char* key, const char* what) const {
        if (!axis.contains(key)) {
            refuse(join_pointer(here, key), what, "nothing: the key is missing");
        }
    }

    SweepAxis values_axis(const std::string& name, const std::string& pointer, const json& values,
                          const std::string& at, const std::string& pointer_at = "") const {
        check_pointer(pointer, pointer_at);
        SweepAxis axis{{name}, {}};
        for (std::size_t i = 0; i < values.size(); ++i) {
            axis.steps.push_back({{values[i]}, {{pointer, values[i], fmt::format("{}/{}", at, i)}}});
        }
        return axis;
    }

    SweepAxis zipped(const json& from, const std::string& here) const {
        SweepAxis out;
        for (std::size_t i = 0; i < from.size(); ++i) {
            const std::string at = fmt::format("{}/{}", here, i);
            const SweepAxis part =
                values_axis(from[i]["name"], from[i]["pointer"], from[i]["values"], at + "/values", at + "/pointer");
            if (i > 0 && part.steps.size() != out.steps.size()) {
                refuse(at + "/values", fmt::format("{} values, as many as its neighbours", out.steps.size()),
                       std::to_string(part.steps.size()), "axes of a zip step together");
            }
            out.columns.push_back(part.columns.front());
            out.steps.resize(part.steps.size());
            for (std::size_t s = 0; s < part.steps.size(); ++s) {
                out.steps[s].cells.push_back(part.steps[s].cells.front());
                out.steps[s].sets.push_back(part.steps[s].sets.front());
            }
        }
        return out;
    }

    SweepAxis of_variants(const json& from, const std::string& here) const {
        SweepAxis out{{from["name"].get<std::string>()}, {}};
        std::set<std::string> names;
        for (std::size_t i = 0; i < from["variants"].size(); ++i) {
            const json& variant = from["variants"][i];
            const std::string at = fmt::format("{}/variants/{}", here, i);
            if (!names.insert(variant["name"].get<std::string>()).second) {
                refuse(at + "/name", "a name that no other variant has", in_words(variant["name"]));
            }
            SweepStep step{{variant["name"]}, {}};
            for (const auto& [pointer, value] : variant["set"].items()) {
                const std::string place = join_pointer(at + "/set", pointer);
                check_pointer(pointer, place);
                step.sets.push_back({pointer, value, place});
            }
            out.steps.push_back(std::move(step));
        }
        return out;
    }

    void check_pointer(const std::string& pointer, const std::string& at) const {
        if (!pointer.starts_with('/')) {
            refuse(at, "a JSON pointer into the run config, starting with /", in_words(pointer));
        }
    }

    const json& root_;
    const Origins& origins_;
};

void check_columns(const SweepPlan& plan, const std::vector<std::string>& reserved, const Reader& reader) {
    std::set<std::string> seen;
    for (const std::string& column : plan.columns()) {
        if (std::find(reserved.begin(), reserved.end(), column) != reserved.end() || column.starts_with("host_")) {
            reader.refuse("/axes", "names that are no columns of the result table", in_words(column));
        }
        if (!seen.insert(column).second) {
            reader.refuse("/axes", "axes with different names", fmt::format("{} twice", in_words(column)),
                          column == "seed" ? "seeds make an axis of that name" : "");
        }
    }
}

/// A value that two axes set is the later one's at every point: the earlier column would tell untruths.
void check_pointers(const SweepPlan& plan, const Reader& reader) {
    std::map<std::string, std::size_t> axis_of;
    for (std::size_t axis = 0; axis < plan.axes.size(); ++axis) {
        for (const SweepStep& step : plan.axes[axis].steps) {
            for (const SweepSet& set : step.sets) {
                for (const auto& [pointer, other] : axis_of) {
                    const bool same = set.pointer == pointer || set.pointer.starts_with(pointer + "/") ||
                                      pointer.starts_with(set.pointer + "/");
                    if (same && other != axis) {
                        reader.refuse(set.place, "a value that no other axis sets", in_words(set.pointer),
                                      pointer == set.pointer ? "" : fmt::format("another axis sets {}", pointer));
                    }
                }
                axis_of.emplace(set.pointer, axis);
            }
        }
    }
}

}  // namespace

std::size_t SweepPlan::points() const {
    std::size_t count = 1;
    for (const SweepAxis& axis : axes) {
        count *= axis.steps.size();
        if (count > kMostPoints) {
            return count;  // before it could overflow
        }
    }
    return count;
}

std::vector<std::string> SweepPlan::columns() const {
    std::vector<std::string> out;
    for (const SweepAxis& axis : axes) {
        out.insert(out.end(), axis.columns.begin(), axis.columns.end());
    }
    return out;
}

std::vector<const SweepStep*> SweepPlan::at(std::size_t point) const {
    std::vector<const SweepStep*> steps(axes.size());
    for (std::size_t i = axes.size(); i-- > 0;) {
        steps[i] = &axes[i].steps[point % axes[i].steps.size()];
        point /= axes[i].steps.size();
    }
    return steps;
}

void SweepPlan::apply(const SweepSet& set, RunDocument& document) const {
    apply_value(document, set.pointer, set.value, {file.string(), set.place, file.parent_path()});
}

RunDocument SweepPlan::document(std::size_t point) const {
    RunDocument out = base;
    for (const SweepStep* step : at(point)) {
        for (const SweepSet& set : step->sets) {
            apply(set, out);
        }
    }
    return out;
}

std::vector<std::string> SweepPlan::files() const {
    std::vector<std::string> out = base.files;
    const auto base_files = static_cast<std::ptrdiff_t>(base.files.size());
    out.push_back(file.string());
    for (const SweepAxis& axis : axes) {
        for (const SweepStep& step : axis.steps) {
            for (const SweepSet& set : step.sets) {
                if (!may_name_file(set.pointer)) {
                    continue;
                }
                RunDocument document = base;
                try {
                    apply(set, document);
                } catch (const PodsimError&) {  // told at the points that have it
                }
                out.insert(out.end(), document.files.begin() + base_files, document.files.end());
            }
        }
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

SweepPlan load_sweep_plan(const std::filesystem::path& path, const std::vector<std::string>& reserved) {
    SweepPlan plan;
    plan.file = path;
    plan.text = read_text_file(path);
    const json root = parse_json(plan.text, path.string());
    Origins origins;
    origins.record("", path.string(), "");
    if (!root.is_object()) {
        throw UserError(origins.at("", "an object (podsim.sweep/1)", in_words(root)));
    }
    validate_against(SchemaName::sweep, root, "", origins);
    const Reader reader(root, origins);
    plan.axes = reader.axes();
    check_columns(plan, reserved, reader);
    check_pointers(plan, reader);
    if (plan.points() > kMostPoints) {
        reader.refuse("/axes", fmt::format("at most {} points", kMostPoints), "more");
    }
    const std::filesystem::path base = root["base"].get<std::string>();
    plan.base_file = (base.is_absolute() ? base : path.parent_path() / base).lexically_normal();
    try {
        plan.base = read_run_document(plan.base_file, {});
    } catch (const IoError& error) {
        throw IoError(fmt::format("{}: /base: {}", path.string(), error.what()));
    }
    return plan;
}

}  // namespace podsim
