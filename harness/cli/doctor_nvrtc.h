// NVRTC as `doctor` sees it.
#pragma once

#include <string>

#include "harness/core/json.h"

namespace kernelwright::cli {

struct NvrtcFacts {
    bool found = false;
    Json json;         // path, version, found_by, headers
    std::string line;  // for people
    std::string hint;  // how to get it; empty when found
};
NvrtcFacts nvrtc_facts();

}  // namespace kernelwright::cli
