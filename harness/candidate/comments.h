// Where the launch plans stand in a CUDA source, and what of it is code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelwright {

// A block comment whose first word is `kernelwright`: what follows that word, shaped so that lines and
// columns are those of the file.
struct PlanComment {
    std::string yaml;
    int line = 0;        // of the comment's first line, which is the first line of `yaml`
    bool closed = true;  // false: the file ends inside it
};

// Comments in strings, raw strings, character literals and `//` comments are none. Stops after
// `limit` of them.
std::vector<PlanComment> find_plan_comments(std::string_view source, std::size_t limit = 100);

// The source with its comments, string and character literals blanked; every line stays where it is. A
// literal's quotes stay.
std::string code_only(std::string_view source);

// The parameters of a `__global__` function as written, on one line each: "const float* x". `code` is what
// code_only gives, `name` a plan's kernel name. Empty: not found, or it has none.
std::vector<std::string> kernel_parameters(std::string_view code, const std::string& name);

}  // namespace kernelwright
