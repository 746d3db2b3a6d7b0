// The SkillBook made of the Lua rules in skills/rules and the evidence file beside the runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/clock.h"
#include "harness/profile/device_facts.h"
#include "harness/search/interfaces.h"
#include "harness/tasks/task.h"
#include "skills/context.h"
#include "skills/skill.h"

namespace kernelwright::search {

// The task as rules see it, at its first tune shape.
SkillTask skill_task(const Task& task);

class RuleBook final : public SkillBook {
  public:
    // `clock` outlives the book. `evidence_file` need not exist yet.
    RuleBook(SkillLibrary library, std::filesystem::path evidence_file, const Task& task, DeviceFacts facts,
             const Clock& clock);

    std::vector<record::SkillOffer> select(const SkillQuery& query) override;
    Json judge(const record::SkillOffer& offer, const record::Evaluation& parent,
               const record::Evaluation& child) override;
    Status append_evidence(const record::Evidence& evidence) override;

    const std::vector<Error>& broken_rules() const { return library_.errors; }

  private:
    Json context_of(const SkillQuery& query) const;

    SkillLibrary library_;
    std::filesystem::path evidence_file_;
    const Task& task_;
    DeviceFacts facts_;
    const Clock* clock_;
};

}  // namespace kernelwright::search
