// libFuzzer: a seed and changes to the program that is generated from it.
#include <cstdint>

#include "tests/differential/hostile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    emulator::differential::exercise_bytes(std::as_bytes(std::span(data, size)));
    return 0;
}
