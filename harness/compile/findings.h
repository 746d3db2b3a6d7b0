// From what NVRTC answered to diagnostics and a Build: pure functions from values to values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/compile/compile_worker.h"
#include "harness/compile/compiler.h"
#include "harness/compile/nvrtc_library.h"
#include "harness/sandbox/worker_session.h"

namespace kernelwright {

// What NVRTC is told the source is called: the file's own name where that is plain, else "candidate.cu". The
// PTX's .file bears it too.
std::string program_name(const std::string& file);

// What is wrong with a request by itself (an option that is not allowed, a define that is no identifier, a
// target that is none); empty: nothing.
std::vector<Diagnostic> check_request(const CompileRequest& request);
// NVRTC's options for the request. `machine_code`: for sm_XX, else for PTX alone.
std::vector<std::string> nvrtc_arguments(const CompileRequest& request, const NvrtcLocation& nvrtc,
                                         bool machine_code);

CompileOutcome interpret(const CompileRequest& request, const NvrtcLocation& nvrtc, CompileAnswer answer);
// A worker that did not answer.
CompileOutcome interpret(const CompileRequest& request, const WorkerFailure& failure);

// A remark that helps with a message of the compiler, for the mistakes that are made often; "" for others.
std::string hint_for(const std::string& message);

}  // namespace kernelwright
