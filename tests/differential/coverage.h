// What the comparison of the engines reaches: which forms of instructions (opcode and modifiers) the cases of
// tests/cases/ptx have, which of them the specification executes, and which the generator emits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace emulator::differential {

struct Coverage {
    struct Form {
        bool in_cases = false;      // some case has it
        bool known = false;         // the specification executed a case with it, or a generated program
        bool unknown = false;       // the specification refused it
        std::uint64_t emitted = 0;  // times in the generated programs
    };
    std::map<std::string, std::map<std::string, Form>> forms;  // opcode, form
    std::uint64_t cases = 0, cases_known = 0, programs = 0;
    std::string table() const;  // a row per opcode
    std::string gaps() const;   // forms of the cases that the specification does not know or nobody emits
};

// Runs every case on the specification, and generates programs from `seed` on.
Coverage measure_coverage(const std::filesystem::path& cases, std::uint64_t seed, std::uint64_t programs);

}  // namespace emulator::differential
