// NVRTC's log read into findings and facts. The front end writes
//     name.cu(4): error: identifier "foo" is undefined
//         int q = foo(n);
//                 ^
// and ptxas writes "ptxas application ptx input, line 36; error   : ..." and the -v lines.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/compile/compiler.h"
#include "harness/core/diagnostic.h"

namespace kernelwright {

// One message of the log, before it is said whose file it is about.
struct LogEntry {
    std::string file;  // as in the log; empty: ptxas without a place
    int line = 0, column = 0;
    Severity severity = Severity::error;
    bool catastrophic = false;
    int number = 0;  // of a warning: 177; 0: none
    std::string message;
    std::vector<Related> related;  // notes and instantiation contexts
    int ptx_line = 0;              // ptxas: line of the PTX; 0: none
    bool from_ptxas = false;
};

std::vector<LogEntry> parse_nvrtc_log(std::string_view log);

// Facts per kernel from the -v lines. Text that a candidate makes the front end print comes before ptxas
// speaks, so where a kernel is described twice the last description holds.
std::map<std::string, KernelResources> parse_ptxas_facts(std::string_view log);

}  // namespace kernelwright
