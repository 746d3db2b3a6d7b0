// CUDA C++ to PTX inside a test, through an NVRTC found at run time.
#pragma once

#include <string>

namespace emulator::test {

struct Compiled {
    bool available = false;  // false: there is no NVRTC here (skip the test)
    std::string ptx;         // empty: it did not compile
    std::string log;
};

// `target` is a number such as 80 or "90a".
Compiled compile_cuda(const std::string& source, const std::string& target);

}  // namespace emulator::test
