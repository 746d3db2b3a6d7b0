// What a candidate's source may contain. Errors are only for what is always wrong; what is merely suspicious
// is a warning and never fails a check.
#pragma once

#include <vector>

#include "harness/candidate/candidate.h"
#include "harness/core/diagnostic.h"

namespace kernelwright {

std::vector<Diagnostic> check_policy(const Candidate& candidate, const Task& task);

}  // namespace kernelwright
