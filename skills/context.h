// What a rule is told: one JSON value, made from a profile, that becomes the Lua table `c`. docs/skills.md
// lists every field.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/core/json.h"
#include "harness/profile/profile.h"

namespace kernelwright {

struct SkillTask {
    std::string name, op;
    Json params = Json::object();
    SymbolValues symbols;
    std::vector<OperandShape> inputs, outputs;
    std::optional<Work> work;  // of the task at this shape
};

// The profile's figures are those of the kernel that takes longest. `history` counts the diagnostics' rules
// that earlier attempts ran into.
Json make_context(const SkillTask& task, const Profile& profile, const DeviceFacts& facts,
                  const std::map<std::string, int>& history = {}, const std::string& phase = "refine");

// Before there is a profile (phase "draft").
Json make_context(const SkillTask& task, const DeviceFacts& facts,
                  const std::map<std::string, int>& history = {});

}  // namespace kernelwright
