// The search loop: situation -> author -> attempt -> next situation, until a target, a budget, or the
// author's end. Every step is recorded before the next one starts, and what comes next is decided from the
// record alone; so a run that was killed anywhere goes on where it stood.
#pragma once

#include <stop_token>
#include <string>

#include "harness/authors/author.h"
#include "harness/authors/budget.h"
#include "harness/core/clock.h"
#include "harness/search/interfaces.h"
#include "harness/search/prompt.h"
#include "harness/search/situation.h"
#include "harness/store/index.h"
#include "harness/store/store.h"
#include "harness/tasks/task.h"

namespace kernelwright::search {

struct SearchConfig {
    Budgets budget;
    std::optional<Price> price;
    Policy policy;
    PromptLimits prompt;
    std::int64_t max_output_tokens = 16384;  // asked of the author at most; budgets may leave less
    int asks_of_one_turn = 3;                // when streams break
    // Recorded with the run: author, model, device, target ... and the versions of the tools.
    Json facts = Json::object();
    Json versions = Json::object();
};

struct SearchParts {
    const Task* task = nullptr;
    DeviceSummary device;
    Author* author = nullptr;
    Evaluator* evaluator = nullptr;
    SkillBook* skills = nullptr;  // null: none
    record::RunWriter* run = nullptr;
    record::Index* index = nullptr;  // null: none; a failure of it is a warning
    Progress* progress = nullptr;    // null: silent
    const Clock* clock = nullptr;
    std::stop_token stop;
};

struct SearchOutcome {
    record::Run run;
    std::string why;     // "target", "budget", "stalled", "no candidate", "author exhausted", "interrupted",
                         // "author failed", "missing", "record"
    std::string reason;  // one line for people
    std::string exhausted;  // for "budget": RequestPermit::exhausted
    Error error;            // set for "author failed", "missing", "record"
    // 0: a passing candidate; 1: none; 2: the call or the record is wrong; 3: something needed is missing;
    // 130: interrupted
    int exit_code = 1;
};

// Starts the run when its log is empty, else goes on with it. A resumed run keeps the task and the policy it
// was started with; a task page that changed meanwhile is an error. `config.budget` replaces the recorded
// limits where it sets any.
SearchOutcome run_search(const SearchParts& parts, const SearchConfig& config);

}  // namespace kernelwright::search
