// Instruction cases: tests/cases/ptx/README.md describes the files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "emulator/emulator.h"
#include "emulator/tensor_map.h"

namespace emulator::test {

struct CaseValue {
    std::uint64_t bits = 0;
    bool any_nan = false, ignored = false;
};
struct CaseRegister {
    std::string name, type;
    std::vector<CaseValue> values;
    std::optional<double> ulps, absolute;
};
struct CaseBuffer {
    std::string name, type;
    std::vector<CaseValue> before, after;
};
struct CaseMap {  // a tensor map, a parameter of the kernel
    std::string name, buffer;
    TensorMapRequest request;  // without the buffer's address
};
struct InstructionCase {
    std::string name, target = "sm_80", body, fault;
    std::vector<std::string> module_lines, registers;
    std::vector<CaseRegister> inputs, outputs;
    std::vector<CaseBuffer> buffers;
    std::vector<CaseMap> maps;
    std::uint32_t blocks = 1;  // of one cluster
    std::size_t values() const;
    std::string ptx() const;
};

// The cases of a file: one of a .case, any number of a .cases. Empty after `error` says what is wrong with
// it.
std::vector<InstructionCase> read_cases(const std::filesystem::path& file, std::string& error);
std::uint32_t element_bytes(const std::string& type);
struct CaseResult {
    std::string wrong;  // empty: everything is as the case says
    std::string
        unsupported;  // not empty: the engine does not know this instruction, and nothing was compared
};
// Loads, runs on an engine and compares.
CaseResult run_case(const InstructionCase& test, Engine engine);
// On the fast engine, where an instruction that is not known is wrong too; empty when all is as the case
// says.
std::string run_case(const InstructionCase& test);

}  // namespace emulator::test
