#include "harness/cli/doctor_nvrtc.h"

#include <fmt/format.h>

#include "harness/compile/nvrtc_library.h"

namespace kernelwright::cli {

NvrtcFacts nvrtc_facts() {
    NvrtcFacts facts;
    const auto found = find_nvrtc();
    if (!found) {
        facts.json = {{"found", false}, {"problem", found.error().message}, {"hint", found.error().hint}};
        facts.line = found.error().message;
        facts.hint = found.error().hint;
        return facts;
    }
    facts.found = true;
    facts.json = {{"found", true},
                  {"library", found->library.string()},
                  {"version", found->version.str()},
                  {"found_by", found->found_by},
                  {"headers", found->has_headers}};
    facts.line =
        fmt::format("NVRTC {} at {} ({}){}", found->version.str(), found->library.string(), found->found_by,
                    found->has_headers ? "" : "; without the toolkit's headers: only plain kernels compile");
    return facts;
}

}  // namespace kernelwright::cli
