// The inputs of a check: the page's own draw, and adversarial ones on top of it. A draw depends on the page,
// the shape, the name of the case and the seed, and on nothing else; docs/tolerances.md lists the cases.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/result.h"
#include "harness/core/tensor.h"
#include "harness/tasks/task.h"
#include "verifiers/reference/reference.h"

namespace kernelwright {

// The cases that make sense for the task, most telling first; the first is "normal", the page's own draw.
std::vector<std::string> cases_for(const Task& task);
// The one draw that a tune shape gets: where the op adds many terms, one whose sums are exact, because there
// the worst case of rounding outgrows what is to be seen.
std::string tune_case(const Task& task);
// Every case there is, with a line on what it is for.
const std::vector<std::pair<std::string, std::string>>& all_cases();

// One tensor per input, in the page's order. An unknown case or a shape that the page cannot have is an
// error.
Result<std::vector<Tensor>> draw_inputs(const Task& task, const SymbolValues& symbols,
                                        const std::string& case_name, std::uint64_t seed);

// What the task's op expects for these inputs (the page's outputs in order, with the page's shapes).
Result<std::vector<Expected>> expected_outputs(const Task& task, const SymbolValues& symbols,
                                               const std::vector<Tensor>& inputs);

// The operations and bytes of one evaluation at a shape; zero flops where the task has no op.
Result<Work> task_work(const Task& task, const SymbolValues& symbols);

}  // namespace kernelwright
