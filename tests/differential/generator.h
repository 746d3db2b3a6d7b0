// Seeded PTX programs for comparing the two engines: all scalar instructions with random types, modifiers and
// special operands, memory traffic in every space, collectives, and the shapes of control flow that part and
// join lanes. Every loop has a counter of its own, so every program ends. Some programs are wrong on purpose
// (out of bounds, misaligned, uninitialised, racy, a barrier that not all reach ...), so that diagnostics are
// compared too. The text has one instruction, label or brace per line, for a reducer to take lines away.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/emulator.h"

namespace emulator::differential {

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    std::uint64_t below(std::uint64_t n) { return next() % n; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    template <class T>
    const T& pick(const std::vector<T>& from) {
        return from[below(from.size())];
    }

  private:
    std::uint64_t state_;
};

struct Program {
    std::uint64_t seed = 0;
    std::vector<std::string> lines;
    Dim3 grid, block;
    std::uint32_t dynamic_shared = 0;
    std::string text() const;
};

// Buffers that the kernel `k` takes, in this order, then a u32 and a u64 value.
constexpr std::uint64_t kInputBytes = 4096, kSharedCounters = 64, kPerThread = 256, kScratchBytes = 1024;
struct Buffers {  // sizes in bytes
    std::uint64_t input = kInputBytes, output = 0, inout = 0, scratch = kScratchBytes;
};
Buffers buffers_of(const Program& program);
// Values that find trouble: NaN payloads, infinities, subnormals, ends of integer ranges, and ordinary ones.
std::vector<std::byte> special_values(std::uint64_t seed, std::uint64_t bytes);

Program generate(std::uint64_t seed);

}  // namespace emulator::differential
