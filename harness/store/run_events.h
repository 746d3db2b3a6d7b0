// Events to values. docs/runs.md lists the events and their fields.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/store/run.h"

namespace kernelwright::record {

// Fetches an artifact's text.
using ArtifactReader = std::function<Result<std::string>(const std::string& hash)>;

// Folds the events of one run, in order. Unknown kinds are skipped, so that an older program reads a newer
// log; a known kind that lacks a field it must have is an error with the line of `file` (event n is line n).
Result<Run> fold_events(const std::vector<Json>& events, const ArtifactReader& artifacts,
                        const std::string& file);

}  // namespace kernelwright::record
