// Binary floating point by exact integer arithmetic: a finite number is an integer times a power of two, an
// operation gives the exact result (or enough of it, with a sticky bit for the rest), and one function rounds
// it to a format. Slow and free of the host's floating-point unit, so that it can judge code that uses it.
#pragma once

#include <cstdint>

namespace emulator::specification {

struct Format {
    int precision;        // bits of the significand, the leading one included
    int lowest, highest;  // exponents of the smallest and largest normal number
    int width;            // bits of the encoding
};
constexpr Format kHalf{11, -14, 15, 16}, kBfloat{8, -126, 127, 16}, kSingle{24, -126, 127, 32},
    kDouble{53, -1022, 1023, 64};

enum class Rounding : std::uint8_t { nearest_even, zero, down, up, nearest_away };

struct Number {
    enum class Kind : std::uint8_t { zero, finite, infinite, nan } kind = Kind::zero;
    bool negative = false;
    unsigned __int128 significand = 0;  // finite: not zero
    int exponent = 0;                   // of the significand's lowest bit
    bool sticky = false;                // the magnitude is larger than that by less than one lowest bit
};

Number decode(std::uint64_t bits, const Format& format);
Number from_integer(std::uint64_t magnitude, bool negative);
// A NaN gives all ones below the sign, which is what PTX calls the canonical NaN.
std::uint64_t encode(const Number& number, const Format& format, Rounding rounding);
std::uint64_t canonical_nan(const Format& format);
bool is_nan(std::uint64_t bits, const Format& format);
bool is_subnormal(std::uint64_t bits, const Format& format);
std::uint64_t sign_bit(const Format& format);

// Exact, save what the sticky bit stands for. The rounding decides the sign of a sum that is exactly zero.
Number add(const Number& a, const Number& b, Rounding rounding);
Number multiply(const Number& a, const Number& b);
Number divide(const Number& a, const Number& b);
Number square_root(const Number& a);
Number negate(Number a);

// -1, 0, 1; 2 when unordered.
int compare(const Number& a, const Number& b);
// To an integral value in the given direction.
Number round_to_integral(const Number& a, Rounding rounding);
// The value of an integral finite number, clamped to [lowest, highest].
std::uint64_t clamp_to_integer(const Number& a, std::int64_t lowest, std::uint64_t highest);

}  // namespace emulator::specification
