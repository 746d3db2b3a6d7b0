// Is an output right? Every element against its own bound, and, where not, one line that helps the author:
// the worst element, by how much, how many are wrong, and what the wrong output looks like (all zeros, an
// input passed through, shifted, transposed, only the tail wrong ...).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/tensor.h"
#include "harness/tasks/task.h"
#include "verifiers/reference/reference.h"

namespace kernelwright {

struct CompareOptions {
    std::string name = "output";
    bool exact = false;                  // equal bits
    std::optional<Tolerance> tolerance;  // of the page, instead of the derived bound
    // Which elements the candidate wrote; null: all. Those it did not write are wrong, or of no interest when
    // only some blocks were run.
    const std::vector<bool>* written = nullptr;
    bool ignore_unwritten = false;
    std::vector<std::pair<std::string, const Tensor*>> inputs;  // to recognise a passed-through input
};

struct Comparison {
    std::int64_t compared = 0;
    std::int64_t wrong = 0;
    std::int64_t unwritten = 0;
    std::int64_t first = -1;                             // the first wrong element, row-major
    std::int64_t worst = -1;                             // the one farthest beyond its bound
    Shape worst_index;                                   // of `worst`, per dimension
    double got = 0, expected = 0, error = 0, bound = 0;  // of `worst`
    double ulps = 0;           // error of `worst` in units of the output's type at `expected`
    double largest_ulps = 0;   // over all elements, right ones included
    double largest_ratio = 0;  // error over bound, over all elements with a bound above 0 that are right
    std::string pattern;       // what the wrong output looks like; may be empty
    std::string rule;          // "wrong-value" or "unwritten-output"; empty when ok
    std::string message;       // one line; empty when ok
    std::string hint;          // may be empty

    bool ok() const { return wrong == 0; }
};

Comparison compare(const Expected& expected, const Tensor& got, const CompareOptions& options = {});

}  // namespace kernelwright
