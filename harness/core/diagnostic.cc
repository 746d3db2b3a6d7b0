#include "harness/core/diagnostic.h"

#include <fmt/format.h>

#include <utility>

namespace kernelwright {
namespace {

constexpr std::array<std::pair<Stage, const char*>, 8> stage_names{{{Stage::plan, "plan"},
                                                                    {Stage::policy, "policy"},
                                                                    {Stage::compile, "compile"},
                                                                    {Stage::launch, "launch"},
                                                                    {Stage::sanitize, "sanitize"},
                                                                    {Stage::numerics, "numerics"},
                                                                    {Stage::integrity, "integrity"},
                                                                    {Stage::limits, "limits"}}};
constexpr std::array<std::pair<Severity, const char*>, 3> severity_names{
    {{Severity::error, "error"}, {Severity::warning, "warning"}, {Severity::note, "note"}}};

std::optional<std::array<std::uint32_t, 3>> triple(const Json& json, const char* key) {
    const auto it = json.find(key);
    if (it == json.end() || !it->is_array() || it->size() != 3) return std::nullopt;
    return it->get<std::array<std::uint32_t, 3>>();
}

}  // namespace

const char* to_string(Stage stage) { return stage_names.at(static_cast<std::size_t>(stage)).second; }
const char* to_string(Severity severity) {
    return severity_names.at(static_cast<std::size_t>(severity)).second;
}

std::optional<Stage> parse_stage(const std::string& name) {
    for (const auto& [stage, text] : stage_names) {
        if (name == text) return stage;
    }
    return std::nullopt;
}

std::optional<Severity> parse_severity(const std::string& name) {
    for (const auto& [severity, text] : severity_names) {
        if (name == text) return severity;
    }
    return std::nullopt;
}

Json to_json(const Diagnostic& d) {
    Json out;
    out["rule"] = d.rule;
    out["stage"] = to_string(d.stage);
    out["severity"] = to_string(d.severity);
    if (!d.kernel.empty()) out["kernel"] = d.kernel;
    if (!d.file.empty()) out["file"] = d.file;
    if (d.line > 0) out["line"] = d.line;
    if (d.column > 0) out["column"] = d.column;
    if (!d.related.empty()) {
        Json list = Json::array();
        for (const Related& r : d.related) {
            Json entry;
            if (!r.file.empty()) entry["file"] = r.file;
            entry["line"] = r.line;
            entry["note"] = r.note;
            list.push_back(std::move(entry));
        }
        out["related"] = std::move(list);
    }
    out["message"] = d.message;
    if (!d.hint.empty()) out["hint"] = d.hint;
    if (!d.shape.empty()) out["shape"] = d.shape;
    if (!d.case_name.empty()) out["case"] = d.case_name;
    if (d.seed) out["seed"] = *d.seed;
    if (d.block) out["block"] = *d.block;
    if (d.thread) out["thread"] = *d.thread;
    return out;
}

Result<Diagnostic> diagnostic_from_json(const Json& json) {
    try {
        Diagnostic d;
        d.rule = json.at("rule").get<std::string>();
        const auto stage = parse_stage(json.at("stage").get<std::string>());
        const auto severity = parse_severity(json.value("severity", std::string("error")));
        if (!stage || !severity) return Error{"a diagnostic has an unknown stage or severity"};
        d.stage = *stage;
        d.severity = *severity;
        d.kernel = json.value("kernel", std::string());
        d.file = json.value("file", std::string());
        d.line = json.value("line", 0);
        d.column = json.value("column", 0);
        if (const auto it = json.find("related"); it != json.end()) {
            for (const Json& r : *it) {
                d.related.push_back(
                    {r.value("file", std::string()), r.value("line", 0), r.value("note", std::string())});
            }
        }
        d.message = json.value("message", std::string());
        d.hint = json.value("hint", std::string());
        if (const auto it = json.find("shape"); it != json.end()) {
            d.shape = it->get<std::map<std::string, std::int64_t>>();
        }
        d.case_name = json.value("case", std::string());
        if (const auto it = json.find("seed"); it != json.end()) d.seed = it->get<std::uint64_t>();
        d.block = triple(json, "block");
        d.thread = triple(json, "thread");
        return d;
    } catch (const Json::exception& e) {
        return Error{fmt::format("a diagnostic is not in the form of kernelwright.check/1: {}", e.what())};
    }
}

std::string to_line(const Diagnostic& d) {
    std::string out;
    if (!d.file.empty()) {
        out += d.file;
        if (d.line > 0) out += fmt::format(":{}", d.line);
        if (d.line > 0 && d.column > 0) out += fmt::format(":{}", d.column);
        out += ": ";
    }
    out += fmt::format("{}: {} [{}/{}]", to_string(d.severity), d.message, to_string(d.stage), d.rule);
    for (const Related& r : d.related)
        out += fmt::format("; {}{}: {}", r.file.empty() ? "line " : r.file + ":", r.line, r.note);
    if (!d.hint.empty()) out += fmt::format(" ({})", d.hint);
    return out;
}

}  // namespace kernelwright
