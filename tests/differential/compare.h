// Runs a program on both engines and says how they differ.
#pragma once

#include <string>

#include "emulator/emulator.h"
#include "tests/differential/generator.h"

namespace emulator::differential {

struct Verdict {
    enum class Kind {
        equal,
        different,
        not_loaded,     // the text is no PTX
        not_comparable  // an engine does not know an instruction, or a run reached its limit
    } kind = Kind::equal;
    std::string difference;  // one line per thing that differs
};

struct Bounds {
    std::uint64_t warp_instructions = 100'000;
    std::uint64_t schedule_seed =
        0;  // of the fast engine; other orders than the natural one need race-free programs
};

// What the fast engine says of it; nothing executed when the text is no PTX.
Outcome run_fast(const Program& program, const Bounds& bounds = {});

Verdict compare(const Program& program, const Bounds& bounds = {});

// A program that still differs and has no line that can be taken away.
Program reduce(Program program, const Bounds& bounds = {});

}  // namespace emulator::differential
