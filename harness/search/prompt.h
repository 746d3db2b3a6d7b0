// What is sent to an author. Two parts: one that never changes within a run (what this is, the form of a
// candidate, the device, the task), first and byte-identical, and one that says where the search stands.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/authors/author.h"
#include "harness/search/situation.h"
#include "harness/store/run.h"
#include "harness/tasks/task.h"

namespace kernelwright::search {

// The device as the author is told about it.
struct DeviceSummary {
    std::string name;                                        // "NVIDIA A100 (emulated)"
    std::string target;                                      // "sm_80"
    std::vector<std::pair<std::string, std::string>> facts;  // "SMs" -> "108", in the order to print
};

// The system text and the first message: the same bytes in every request of a run.
struct FixedPrompt {
    std::string system, prefix;
};
FixedPrompt fixed_prompt(const Task& task, const DeviceSummary& device);

struct PromptLimits {
    std::size_t source_bytes = 48 << 10;  // of one candidate
    int diagnostics = 6;                  // shown in full
    int related = 5;                      // places beside a diagnostic's own
    int excerpt_lines = 3;                // of the source around a diagnostic, each side
    int counters = 12;
    int history = 16;  // lines of what was tried; the oldest are summed up
    int skills = 3;
    std::size_t line_bytes = 400;  // one message, hint or piece of advice
};

struct PromptInputs {
    const record::Run* run = nullptr;
    Situation situation;
    std::string best_source, base_source, last_source;  // empty: none
    std::vector<record::SkillOffer> skills;
};
std::string situation_prompt(const PromptInputs& inputs, const PromptLimits& limits = {});

// One request. The fixed first message is followed by a fixed word of the assistant, because many chat
// templates refuse two messages of the user in a row.
Prompt make_prompt(const FixedPrompt& fixed, std::string situation);

// `source`'s lines around `line`, numbered, the line itself marked.
std::string numbered_excerpt(const std::string& source, const std::vector<int>& lines, int around);

}  // namespace kernelwright::search
