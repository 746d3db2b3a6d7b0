// An author's reply taken apart: the plan with its labelled lines, then the candidate. A reply without
// exactly one complete candidate is an outcome of its own, with a sentence that tells the author what to
// change.
#pragma once

#include <string>
#include <vector>

#include "harness/authors/author.h"
#include "harness/store/run.h"

namespace kernelwright::search {

struct ParsedAnswer {
    record::AttemptKind kind = record::AttemptKind::none;  // `evaluated` when there is one candidate
    std::string source;
    std::string plan;                 // the text before the candidate
    std::string idea;                 // one line
    std::vector<std::string> skills;  // named on the plan's "Skills:" line
    std::string note;                 // why there is no candidate
};
// `reply` is one that a model gave, wholly or in part.
ParsedAnswer parse_answer(const Reply& reply);

// A source's identity for "was this tried already": line ends and trailing blanks do not count.
std::string candidate_hash(const std::string& source);

}  // namespace kernelwright::search
