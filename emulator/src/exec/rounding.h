// The host's rounding direction while PTX asks for another than to nearest.
#pragma once

#include <xmmintrin.h>

#include "emulator/src/exec/isa.h"

namespace emulator::exec::EMULATOR_ISA {

class RoundScope {
  public:
    explicit RoundScope(int rounding) : saved_(_mm_getcsr()) {  // 0 rn, 1 rz, 2 rm, 3 rp
        static const unsigned control[4] = {0x0000, 0x6000, 0x2000, 0x4000};
        _mm_setcsr((saved_ & ~0x6000u) | control[rounding & 3]);
    }
    ~RoundScope() { _mm_setcsr(saved_); }
    RoundScope(const RoundScope&) = delete;
    RoundScope& operator=(const RoundScope&) = delete;

  private:
    unsigned saved_;
};

}  // namespace emulator::exec::EMULATOR_ISA
