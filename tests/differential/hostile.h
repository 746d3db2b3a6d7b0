// Text that nobody meant: bytes of any kind as PTX, and generated programs with lines changed, moved, and
// taken from elsewhere. Whatever they are, loading and running them must end soon and touch nothing but the
// emulated memory. The same functions serve libFuzzer (fuzz_*.cc) and the seeded loop of the tests.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/differential/generator.h"

namespace emulator::differential {

// Loads the text and, when it is a module, runs its kernels on both engines within small limits. False: it is
// none.
bool exercise(std::string_view text);

// The same for a generated program after some changes; `lines` are further lines to put in.
void mutate(Program& program, Random& random, const std::vector<std::string>& lines);

// Text with bytes changed, taken away, doubled, or exchanged with those of another text, as libFuzzer does.
std::string mutate_bytes(std::string text, Random& random, const std::vector<std::string>& others);

// A program and its changes from the bytes that a fuzzer gives.
void exercise_bytes(std::span<const std::byte> bytes);

}  // namespace emulator::differential
