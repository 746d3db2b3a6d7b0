// Draws that differ from the page's `normal` draw in a part of their values only. A kernel that remembers an
// earlier result and tells by a few elements, by one operand or by the addresses whether it still holds
// gives a stale answer on one of these when it is launched right after the draw that was changed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/result.h"
#include "harness/core/tensor.h"
#include "harness/tasks/task.h"

namespace kernelwright {

// The draw that every changed one starts from.
inline constexpr const char* unchanged_case = "normal";

bool is_changed_case(const std::string& case_name);

// The changed draws that make sense for the task, most telling first.
std::vector<std::string> changed_cases_for(const Task& task);

// One tensor per input, in the page's order: draw_inputs() that knows the changed draws too. Every value is
// one that the page's own draw gives, of this seed or of another.
Result<std::vector<Tensor>> draw_case(const Task& task, const SymbolValues& symbols,
                                      const std::string& case_name, std::uint64_t seed);

}  // namespace kernelwright
