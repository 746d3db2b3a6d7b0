#include "harness/sandbox/policy.h"

#include <fmt/format.h>

namespace kernelwright {

const char* to_string(SandboxMode mode) {
    switch (mode) {
        case SandboxMode::off:
            return "off";
        case SandboxMode::best_effort:
            return "best-effort";
        case SandboxMode::require:
            return "require";
    }
    return "off";
}

std::optional<SandboxMode> parse_sandbox_mode(const std::string& name) {
    for (const SandboxMode mode : {SandboxMode::off, SandboxMode::best_effort, SandboxMode::require}) {
        if (name == to_string(mode)) return mode;
    }
    return std::nullopt;
}

const SandboxLayer* find_layer(const SandboxReport& report, const std::string& name) {
    for (const SandboxLayer& layer : report) {
        if (layer.name == name) return &layer;
    }
    return nullptr;
}

Json to_json(const SandboxPolicy& policy) {
    Json out;
    out["mode"] = to_string(policy.mode);
    out["read_only"] = Json::array();
    for (const auto& path : policy.read_only) out["read_only"].push_back(path.string());
    out["read_write"] = Json::array();
    for (const auto& path : policy.read_write) out["read_write"].push_back(path.string());
    out["allow_exec"] = policy.allow_exec;
    out["address_space"] = policy.address_space;
    out["memory"] = policy.memory;
    out["cpu"] = policy.cpu.count();
    out["file_size"] = policy.file_size;
    out["open_files"] = policy.open_files;
    out["processes"] = policy.processes;
    return out;
}

Result<SandboxPolicy> sandbox_policy_from_json(const Json& json) {
    try {
        SandboxPolicy policy;
        const auto mode = parse_sandbox_mode(json.at("mode").get<std::string>());
        if (!mode) return Error{"a sandbox policy has an unknown mode"};
        policy.mode = *mode;
        for (const Json& path : json.at("read_only")) policy.read_only.emplace_back(path.get<std::string>());
        for (const Json& path : json.at("read_write"))
            policy.read_write.emplace_back(path.get<std::string>());
        policy.allow_exec = json.at("allow_exec").get<bool>();
        policy.address_space = json.at("address_space").get<std::uint64_t>();
        policy.memory = json.at("memory").get<std::uint64_t>();
        policy.cpu = std::chrono::seconds(json.at("cpu").get<std::int64_t>());
        policy.file_size = json.at("file_size").get<std::uint64_t>();
        policy.open_files = json.at("open_files").get<std::uint32_t>();
        policy.processes = json.at("processes").get<std::uint32_t>();
        return policy;
    } catch (const Json::exception& e) {
        return Error{fmt::format("a sandbox policy is malformed: {}", e.what())};
    }
}

Json to_json(const SandboxReport& report) {
    Json out = Json::array();
    for (const SandboxLayer& layer : report) {
        out.push_back(Json{{"name", layer.name}, {"active", layer.active}, {"detail", layer.detail}});
    }
    return out;
}

Result<SandboxReport> sandbox_report_from_json(const Json& json) {
    try {
        SandboxReport report;
        for (const Json& layer : json) {
            report.push_back({layer.at("name").get<std::string>(), layer.at("active").get<bool>(),
                              layer.at("detail").get<std::string>()});
        }
        return report;
    } catch (const Json::exception& e) {
        return Error{fmt::format("a sandbox report is malformed: {}", e.what())};
    }
}

}  // namespace kernelwright
