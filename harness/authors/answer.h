// Finds the candidate in an answer. An answer counts when it holds exactly one complete fenced block that is
// a candidate; fences follow CommonMark (three or more backticks or tildes, closed by at least as many of the
// same), so code that itself shows shorter fences is not torn apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/authors/author.h"

namespace kernelwright {

struct FencedBlock {
    std::string language;    // first word of the info string, lower case
    std::string info;        // all of it
    std::string content;     // line ends are newlines
    int line = 0;            // of the opening fence, 1-based
    std::size_t offset = 0;  // of that line in the text
    bool closed = false;
};
// Every fenced block of a Markdown text, in order; only the last can be unclosed.
std::vector<FencedBlock> fenced_blocks(std::string_view text);

struct Answer {
    enum class Kind {
        candidate,
        none,      // no block that could be one
        several,   // more than one: which is meant?
        unclosed,  // its fence is not closed: the code may be torn
        partial,   // the reply itself is not whole (truncated, broken, refused): nothing is taken from it
    } kind = Kind::none;
    std::string source;     // kind candidate: the code
    std::string plan_text;  // what was written before it: the plan
    int line = 0;           // of the block's fence in the answer; kind several: of the second
    std::string message;    // one line for the author: what is wrong and what is wanted; "" for a candidate
};

const char* to_string(Answer::Kind kind);

// A block marked cuda, cu, cpp or c++ is a candidate when it holds a `kernelwright` launch plan; where no
// block holds one, when it holds a __global__ function (the missing plan is then a matter for the check).
// Thoughts between <think> and </think> are not part of the answer.
Answer extract_answer(std::string_view text);
Answer extract_answer(const Reply& reply);

}  // namespace kernelwright
