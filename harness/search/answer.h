// An author's answer taken apart: a plan, then exactly one complete fenced CUDA block. Anything else is an
// outcome of its own with a sentence that tells the author what to do differently.
#pragma once

#include <string>
#include <vector>

#include "harness/store/run.h"

namespace kernelwright::search {

struct ParsedAnswer {
    record::AttemptKind kind = record::AttemptKind::none;  // `evaluated` when there is one candidate
    std::string source;
    std::string plan;                 // the text before the block, trimmed
    std::string idea;                 // one line
    std::vector<std::string> skills;  // named on the plan's "skills:" line
    std::string note;                 // why there is no candidate
};
ParsedAnswer parse_answer(const std::string& text);

// A source's identity for "was this tried already": line ends and trailing blanks do not count.
std::string candidate_hash(const std::string& source);

}  // namespace kernelwright::search
