// The worker that holds NVRTC. It compiles in a process of its own, because NVRTC reads any file that a
// candidate names in an #include and prints its lines, and because a candidate can make it spin, swell or
// crash.
#pragma once

#include "harness/sandbox/worker.h"

namespace kernelwright {

inline constexpr const char* compile_worker_kind = "compile";

// The table entry of this worker; a program that compiles passes it to run_worker_if_asked.
void add_compile_worker(WorkerTable& table);

// One compilation, as it travels to the worker and back.
struct CompileJob {
    std::string source;
    std::string name;                    // what messages and line information call the source
    std::vector<std::string> arguments;  // all of NVRTC's options but the prelude's
    // The same for PTX alone: what ptxas refuses is compiled once more to map its line numbers.
    std::vector<std::string> ptx_arguments;
    std::vector<std::string> name_expressions;
};

struct CompileAnswer {
    int status = 0;  // nvrtcResult
    std::string status_text;
    std::string log;
    std::map<std::string, std::string> lowered_names;
    std::vector<int> architectures;  // that this NVRTC knows: 80, 86, ...
    std::string ptx;                 // also present when only ptxas failed
    std::string cubin;
    std::string too_large;  // "PTX" or "machine code" when that is more than is carried; else empty
};

Message to_message(const CompileJob& job);
Result<CompileJob> compile_job_from(Message message);
Message to_message(const CompileAnswer& answer);
Result<CompileAnswer> compile_answer_from(Message message);

}  // namespace kernelwright
