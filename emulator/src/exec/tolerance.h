// Options::approximation: how far an approximate result is moved. PTX documents a bound for each .approx
// function; `nominal` results are far inside most of them. The bounds used here, on the exact value y:
//   ex2 f32             2 ulp                   CUDA C++ Programming Guide, __expf: 2 + floor(|1.173 x|),
//   ex2's part lg2 f32             2^-22, absolute for 0.5 < x < 2, else relative               PTX ISA sin,
//   cos f32        2^-20.5 absolute for |x| <= 2 pi, 2^-14.7 for |x| <= 100 pi  PTX ISA; beyond: none,
//   nominal rcp f32             1 ulp; div.approx, div.full 2 ulp                            PTX ISA sqrt f32
//   2^-23 relative; rsqrt f32 2^-22.9 relative                   PTX ISA tanh                f32 2^-11
//   relative, f16 2^-10.987 and bf16 2^-8 absolute     PTX ISA ex2 f16, bf16       2^-9.9, 2^-7 relative PTX
//   ISA
// Zeros, infinities, NaNs and what PTX fixes (2^0, cos 0, |tanh| <= 1) stay as they are.
#pragma once

#include "emulator/src/exec/lanes.h"

namespace emulator::exec {
namespace EMULATOR_ISA {

using Approximation = Options::Approximation;

inline Approximation approximation_of(const Warp& w) { return w.launch->options->approximation; }

inline double ulp32(double y) {
    int exponent = 0;
    (void)std::frexp(y, &exponent);
    return std::ldexp(1.0, (exponent - 1 < -126 ? -126 : exponent - 1) - 23);
}

// One of the values within `error` of the exact one: the lowest, the highest, or one that the seed and the
// argument choose. round(value, mode) gives the bits; modes as in round_magnitude(): 0 nearest, 2 down, 3 up.
template <class Round>
inline u32 within(const Warp& w, double exact, double error, u32 argument, Round&& round) {
    switch (approximation_of(w)) {
        case Approximation::lower:
            return round(exact - error, 3);
        case Approximation::upper:
            return round(exact + error, 2);
        case Approximation::seeded: {
            u64 h = argument * 0x9e3779b97f4a7c15ull + w.launch->options->schedule_seed;
            h = (h ^ (h >> 31)) * 0xbf58476d1ce4e5b9ull;
            h ^= h >> 29;
            const double part = static_cast<double>(h >> 11) * 0x1p-52 - 1.0;
            return round(exact + part * error, part < 0 ? 3 : 2);
        }
        default:
            return round(exact, 0);
    }
}

inline u32 round_to_single(double v, int mode) {
    auto f = static_cast<float>(v);
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (mode == 3 && static_cast<double>(f) < v) f = std::nextafter(f, infinity);
    if (mode == 2 && static_cast<double>(f) > v) f = std::nextafter(f, -infinity);
    return as_bits(f);
}

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec
