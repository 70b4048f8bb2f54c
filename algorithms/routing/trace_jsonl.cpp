// SPDX-License-Identifier: Apache-2.0
#include "algorithms/routing/trace.hpp"
#include "algorithms/routing/trace_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace podsim {

namespace {

using Json = nlohmann::json;

/// For messages; never the value of an object or array, which may be huge or deep.
std::string shown(const Json& value) {
    if (value.is_string()) {
        return "the string " + excerpt(value.get_ref<const std::string&>());
    }
    return value.is_structured() ? std::string("an ") + value.type_name() : value.dump();
}

class JsonlReader {
public:
    JsonlReader(const std::string& path, std::optional<std::int64_t> layer, const Workload& workload)
        : lines_(path), layers_(path, layer), workload_(workload) {}

    Trace read() {
        std::string line;
        while (lines_.next(line)) {
            if (line.find_first_not_of(" \t") != std::string::npos) {
                read_record(parse(line));
            }
        }
        layers_.finish();
        if (skipped_ > 0) {
            trace_.notes.push_back(fmt::format("{}: {} lines that are neither \"meta\" nor \"route\" were skipped",
                                               lines_.path(), skipped_));
        }
        return std::move(trace_);
    }

private:
    [[noreturn]] void fail(const std::string& pointer, const std::string& expected, const std::string& found,
                           const std::string& hint = "") const {
        bad_trace(lines_.path(), lines_.number(), pointer, expected, found, hint);
    }

    Json parse(const std::string& line) const {
        try {
            Json record = Json::parse(line);
            if (!record.is_object()) {
                fail("", "a JSON object", shown(record));
            }
            return record;
        } catch (const Json::parse_error& e) {
            fail("", "a JSON object", fmt::format("text that is not JSON from column {} on", e.byte),
                 lines_.cut_off() ? "the file may be cut off" : "");
        } catch (const Json::exception&) {
            fail("", "a JSON object", "a number too large for JSON");
        }
    }

    std::int64_t integer(const Json& value, const std::string& pointer) const {
        if (!value.is_number_integer()) {
            fail(pointer, "an integer", shown(value));
        }
        constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
        if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(kMost)) {
            return kMost;
        }
        return value.get<std::int64_t>();
    }

    void read_record(const Json& record) {
        const auto type = record.find("type");
        if (type != record.end() && !type->is_string()) {
            fail("/type", "\"meta\" or \"route\"", shown(*type));
        }
        // Traces without "type" are told apart by what they hold.
        const bool has_ids = record.contains("topk_ids");
        const std::string kind = type != record.end() ? type->get<std::string>() : has_ids ? "route" : "meta";
        if (kind == "route") {
            read_route(record);
        } else if (kind == "meta") {
            read_meta(record, type != record.end());
        } else {
            ++skipped_;
        }
    }

    void read_meta(const Json& record, bool declared) {
        const bool known = record.contains("num_experts") || record.contains("top_k");
        if (!declared && !known) {
            fail("/topk_ids", "the token's experts", "nothing");
        }
        agrees(record, "top_k", workload_.top_k, "/workload/top_k");
        agrees(record, "num_experts", workload_.experts, "/workload/experts");
    }

    void agrees(const Json& record, const std::string& key, std::uint32_t configured, const std::string& config) const {
        const auto value = record.find(key);
        if (value != record.end() && integer(*value, "/" + key) != static_cast<std::int64_t>(configured)) {
            fail("/" + key, fmt::format("{} as in {}", configured, config), shown(*value));
        }
    }

    void read_route(const Json& record) {
        std::optional<std::int64_t> layer;
        if (const auto value = record.find("layer"); value != record.end() && !value->is_null()) {
            layer = integer(*value, "/layer");
            if (*layer < 0) {
                fail("/layer", "a layer from 0", shown(*value));
            }
        }
        if (!layers_.accept(layer)) {
            return;
        }
        const auto ids = record.find("topk_ids");
        if (ids == record.end()) {
            fail("/topk_ids", "the token's experts", "nothing");
        }
        if (!ids->is_array() || ids->size() != workload_.top_k) {
            fail("/topk_ids", fmt::format("an array of {} expert ids (/workload/top_k)", workload_.top_k),
                 ids->is_array() ? std::to_string(ids->size()) : shown(*ids));
        }
        token_.clear();
        for (std::size_t k = 0; k < ids->size(); ++k) {
            token_.push_back(integer((*ids)[k], fmt::format("/topk_ids/{}", k)));
        }
        if (const auto problem = find_token_problem(token_, workload_.experts)) {
            fail(fmt::format("/topk_ids/{}", problem->k), problem->expected, problem->found);
        }
        for (const std::int64_t id : token_) {
            trace_.ids.push_back(static_cast<std::int32_t>(id));
        }
    }

    TextLines lines_;
    LayerFilter layers_;
    const Workload& workload_;
    Trace trace_;
    std::vector<std::int64_t> token_;
    std::uint64_t skipped_ = 0;
};

}  // namespace

Trace read_jsonl_trace(const std::string& path, std::optional<std::int64_t> layer, const Workload& workload) {
    return JsonlReader(path, layer, workload).read();
}

}  // namespace podsim
