// Support for `skills check`: are the rules of a folder sound, and do they hold and refuse where their cases
// say? A case file is YAML, one for each rule: `skill`, a `base` context in which the rule holds, `says`
// (texts that the advice must contain), and for each condition under `refused` the changes to the base that
// make it fail first.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/result.h"
#include "skills/skill.h"

namespace kernelwright {

struct SkillCheck {
    std::vector<Error> errors;  // empty: all is well
    int rules = 0, cases = 0;
    bool good() const { return errors.empty(); }
};

// `known_metrics`: names that an expectation may use; empty: not checked.
SkillCheck check_skills(const std::filesystem::path& rules, const std::filesystem::path& cases,
                        const std::vector<std::string>& known_metrics);

// Every metric that a profile carries.
std::vector<std::string> known_metrics();

}  // namespace kernelwright
