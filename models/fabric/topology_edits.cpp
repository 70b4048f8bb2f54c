// SPDX-License-Identifier: Apache-2.0
#include "models/engine/error.hpp"
#include "models/fabric/topology_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace podsim {

namespace {

constexpr double kMaxRateScale = 1000.0;

[[noreturn]] void refuse(std::size_t number, const char* key, std::string expected, std::string found,
                         std::string hint = "") {
    const std::string member = *key == '\0' ? "" : std::string("/") + key;
    throw UserError({"", fmt::format("/machine/topology/edits/{}{}", number, member), std::move(expected),
                     std::move(found), std::move(hint)});
}

/// Names that the generator gives; an edit cannot bring in a switch of such a name.
bool looks_generated(const std::string& name) {
    return name.starts_with("card") || name.starts_with("l1.") || name.starts_with("l2.");
}

/// One edit while it is looked at.
class EditApplier {
public:
    EditApplier(TopologyGraph& topology, const TopologyEdit& edit, std::size_t number)
        : topology_(topology), graph_(topology.graph), edit_(edit), number_(number) {}

    void apply() {
        check_values();
        if (edit_.from.empty() && edit_.to.empty()) {
            apply_to_plane();
        } else if (edit_.kind == TopologyEdit::Kind::add) {
            add();
        } else {
            apply_to_edges();
        }
    }

private:
    using Edge = BoostGraph::edge_descriptor;

    void check_values() const {
        if (!(edit_.rate_scale > 0.0) || !(edit_.rate_scale <= kMaxRateScale)) {
            refuse(number_, "rate_scale", fmt::format("a number above 0, at most {}", kMaxRateScale),
                   fmt::format("{}", edit_.rate_scale));
        }
        if (edit_.extra_latency < 0) {
            refuse(number_, "extra_latency_ns", "0 or more",
                   fmt::format("{}", static_cast<double>(edit_.extra_latency) / 1e3));
        }
        if (edit_.plane < -1 || edit_.plane >= static_cast<std::int32_t>(topology_.planes)) {
            refuse(number_, "plane", fmt::format("a plane 0 to {}", topology_.planes - 1),
                   fmt::format("{}", edit_.plane));
        }
        if (edit_.from.empty() != edit_.to.empty()) {
            refuse(number_, edit_.from.empty() ? "from" : "to", "both ends of an edge, or neither for a whole plane",
                   "\"\"");
        }
        if (!edit_.from.empty() && edit_.from == edit_.to) {
            refuse(number_, "to", "another vertex than `from`", edit_.to);
        }
    }

    void apply_to_plane() {
        if (edit_.plane < 0) {
            refuse(number_, "plane", fmt::format("a plane 0 to {}, or the two ends of an edge", topology_.planes - 1),
                   "neither");
        }
        if (edit_.kind == TopologyEdit::Kind::add) {
            refuse(number_, "from", "the two ends of the new edge", "a whole plane");
        }
        change([this](const Edge& edge) { return graph_[edge].plane == edit_.plane; });
    }

    void apply_to_edges() {
        const Vertex a = existing(edit_.from, "from");
        const Vertex b = existing(edit_.to, "to");
        const std::int32_t plane = plane_of_edge(a, b);
        const auto is_it = [&](const Edge& edge) {
            return graph_[edge].plane == plane && ((source(edge, graph_) == a && target(edge, graph_) == b) ||
                                                   (source(edge, graph_) == b && target(edge, graph_) == a));
        };
        if (!change(is_it)) {
            std::vector<std::string> others;
            for (const Edge& edge : boost::make_iterator_range(out_edges(a, graph_))) {
                others.push_back(graph_[target(edge, graph_)].name);
            }
            constexpr std::size_t kShown = 8;
            others.resize(std::min(others.size(), kShown));
            refuse(number_, "", "an edge of the topology", fmt::format("no edge {} - {}", edit_.from, edit_.to),
                   fmt::format("{} has edges to {}", edit_.from,
                               others.empty() ? "nothing" : fmt::format("{}", fmt::join(others, ", "))));
        }
    }

    /// Removes or slows every edge that `selects`; false when there is none.
    template <class Predicate>
    bool change(Predicate selects) {
        bool any = false;
        if (edit_.kind == TopologyEdit::Kind::slow) {
            for (const Edge& edge : boost::make_iterator_range(boost::edges(graph_))) {
                if (selects(edge)) {
                    graph_[edge].rate_scale *= edit_.rate_scale;
                    graph_[edge].latency += edit_.extra_latency;
                    any = true;
                }
            }
        } else {
            remove_edge_if(
                [&](const Edge& edge) {
                    const bool hit = selects(edge);
                    any = any || hit;
                    return hit;
                },
                graph_);
        }
        return any;
    }

    void add() {
        const Vertex a = existing_or_new(edit_.from, "from", edit_.to);
        const Vertex b = existing_or_new(edit_.to, "to", edit_.from);
        const std::int32_t plane = plane_of_edge(a, b);
        for (const Vertex card : {a, b}) {
            if (!graph_[card].is_card()) {
                continue;
            }
            for (const Edge& edge : boost::make_iterator_range(out_edges(card, graph_))) {
                if (graph_[edge].plane == plane) {
                    refuse(number_, "",
                           plane < 0 ? "a package whose die-to-die link was removed before"
                                     : "a card without a port on this plane (a card has one port a plane)",
                           fmt::format("{} - {} exists", graph_[card].name, graph_[target(edge, graph_)].name),
                           "remove that edge first");
                }
            }
        }
        const Edge added = topology_.connect(a, b, plane);
        graph_[added].latency += edit_.extra_latency;
        graph_[added].rate_scale = edit_.rate_scale;
    }

    Vertex existing(const std::string& name, const char* key) const {
        const auto found = topology_.by_name.find(name);
        if (found == topology_.by_name.end()) {
            refuse(number_, key, "the name of a card or switch", "\"" + name + "\"",
                   "nearest is \"" + topology_.nearest_name(name) + "\"");
        }
        return found->second;
    }

    Vertex existing_or_new(const std::string& name, const char* key, const std::string& other) {
        if (topology_.by_name.contains(name) || looks_generated(name)) {
            return existing(name, key);
        }
        std::int32_t plane = edit_.plane;
        if (const auto end = topology_.by_name.find(other); plane < 0 && end != topology_.by_name.end()) {
            plane = graph_[end->second].plane;
        }
        if (plane < 0) {
            refuse(number_, "plane", fmt::format("the plane of the new switch \"{}\"", name), "none",
                   "if no new switch is meant: nearest name is \"" + topology_.nearest_name(name) + "\"");
        }
        const Vertex added = topology_.add_switch(name, static_cast<std::uint32_t>(plane));
        graph_[added].added = true;
        return added;
    }

    std::int32_t plane_of_edge(Vertex a, Vertex b) const {
        const VertexProperties& from = graph_[a];
        const VertexProperties& to = graph_[b];
        if (from.is_card() && to.is_card()) {
            if (topology_.dies_per_package != 2 || a / 2 != b / 2) {
                refuse(number_, "", "the two dies of one package, or at least one switch",
                       fmt::format("{} - {}", from.name, to.name), "cards have links to switches only");
            }
            if (edit_.plane >= 0) {
                refuse(number_, "plane", "no plane: this is the die-to-die link", fmt::format("{}", edit_.plane));
            }
            return -1;
        }
        const std::int32_t plane = from.is_card() ? to.plane : from.plane;
        if (!from.is_card() && !to.is_card() && from.plane != to.plane) {
            refuse(number_, "", "two vertices of one plane",
                   fmt::format("{} of plane {} - {} of plane {}", from.name, from.plane, to.name, to.plane));
        }
        if (edit_.plane >= 0 && edit_.plane != plane) {
            refuse(number_, "plane", fmt::format("{}, the plane of the switch", plane), fmt::format("{}", edit_.plane));
        }
        return plane;
    }

    TopologyGraph& topology_;
    BoostGraph& graph_;
    const TopologyEdit& edit_;
    std::size_t number_;
};

}  // namespace

void TopologyGraph::apply(const TopologyEdit& edit, std::size_t number) {
    EditApplier(*this, edit, number).apply();
    edited = true;
}

void TopologyGraph::check_added_switches() const {
    for (const Vertex v : boost::make_iterator_range(boost::vertices(graph))) {
        if (!graph[v].added || out_degree(v, graph) > 1) {
            continue;
        }
        throw UserError({"", "/machine/topology/edits", "every new switch has at least two edges",
                         fmt::format("new switch \"{}\" has {}", graph[v].name, out_degree(v, graph)),
                         "if no new switch is meant: nearest is \"" + nearest_name(graph[v].name) + "\""});
    }
}

}  // namespace podsim
