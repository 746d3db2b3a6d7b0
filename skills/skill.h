// A skill: a Lua rule that says when an optimisation is worth trying, what to do, and which counters should
// then move. See docs/skills.md for the form.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/core/json.h"
#include "harness/core/result.h"
#include "skills/sandbox.h"

namespace kernelwright {

struct Expectation {
    std::string metric;       // Nsight Compute's name
    bool up = false;          // else down
    double min_relative = 0;  // smallest relative change that counts
    bool operator==(const Expectation&) const = default;
};

struct Precondition {
    std::string name;
    int line = 0;
    bool operator==(const Precondition&) const = default;
};

struct Skill {
    std::string id;  // "coalesce.global-loads"
    int version = 0;
    std::string phase;  // "draft" (before a kernel is right), "refine", or "any"
    std::string intent;
    Json origin;  // {kind: "hand", ...}
    std::vector<Precondition> pre;
    std::vector<Expectation> expect;
    std::vector<std::string> avoids;
    std::vector<std::string> causes;  // findings of a profile that it mends: their gain is its first guess
    bool advice_is_text = false;
    std::string advice_text;
    std::string file;
    std::string hash;  // of the rule's text: evidence belongs to it
    std::shared_ptr<const Sandbox> sandbox;
};

// The rule in `source`; `file` is what errors name.
Result<Skill> parse_skill(const std::string& source, const std::string& file);

struct SkillLibrary {
    std::vector<Skill> skills;  // by id
    std::vector<Error> errors;  // a broken rule is left out and reported; the others are there
    const Skill* find(const std::string& id) const;
};

// Every DIRECTORY/*.lua.
SkillLibrary load_skills(const std::filesystem::path& directory);

// What one skill says to one situation.
struct SkillVerdict {
    enum class State { holds, refused, broken } state = State::refused;
    const Skill* skill = nullptr;
    std::string failed_pre;  // refused: the name of the first condition that does not hold ("phase" for the
                             // wrong one)
    std::string advice;      // holds
    Error error;             // broken: what the rule did wrong, and where
    bool holds() const { return state == State::holds; }
};

// `context` as make_context builds it.
SkillVerdict evaluate(const Skill& skill, const Json& context);
std::vector<SkillVerdict> evaluate(const SkillLibrary& library, const Json& context);

Json to_json(const Skill& skill);

}  // namespace kernelwright
