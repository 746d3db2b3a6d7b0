// The element types of a task and their exact values. Everything here is about one element's bits: what a
// stored pattern means as a double, and which pattern a double rounds to (to nearest, ties to even).
// Formats: IEEE 754 for f64/f32/f16, bfloat16, tf32 (stored as f32), OCP OFP8 e4m3 (no infinity, NaN 0x7f)
// and e5m2, OCP MX e2m1 (no NaN, no infinity), two's complement integers; i4 and e2m1 pack two elements into
// a byte, the low nibble first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelwright {

enum class DType { f64, f32, tf32, f16, bf16, e4m3, e5m2, e2m1, i64, i32, i16, i8, u8, i4, boolean };

const char* to_string(DType dtype);
std::optional<DType> parse_dtype(std::string_view name);
const std::vector<DType>& all_dtypes();

bool is_float(DType dtype);
bool is_integer(DType dtype);  // i4 .. i64 and u8; bool is neither

// Size of one element in bits: 64 .. 4.
int bits(DType dtype);
// Bytes that `count` dense elements occupy (packed types round up).
std::size_t storage_bytes(DType dtype, std::int64_t count);

// Significant bits of a floating type including the hidden one (f32: 24); 0 for integers.
int significand_bits(DType dtype);
// Half the distance from 1 to the next larger number: the largest relative rounding error (f32: 2^-24).
double unit_roundoff(DType dtype);
// The smallest positive subnormal; 1 for integers.
double smallest_positive(DType dtype);
// The smallest positive normal number; 1 for integers.
double smallest_normal(DType dtype);
// The largest finite value.
double largest_finite(DType dtype);
double lowest_finite(DType dtype);

// The value of element `index` of a dense buffer. i64 above 2^53 loses bits: use load_integer.
double load(DType dtype, const std::byte* data, std::int64_t index);
// The integer value of element `index`; floating types are truncated towards zero.
std::int64_t load_integer(DType dtype, const std::byte* data, std::int64_t index);
// Stores `value` rounded to nearest even. Floats overflow as their format says (e4m3: to NaN; e2m1
// saturates); integers round to nearest even and saturate; NaN becomes 0 in integers.
void store(DType dtype, std::byte* data, std::int64_t index, double value);
void store_integer(DType dtype, std::byte* data, std::int64_t index, std::int64_t value);
// `value` after a round trip through the type.
double round_to(DType dtype, double value);
// The stored pattern of element `index`, zero-extended.
std::uint64_t load_bits(DType dtype, const std::byte* data, std::int64_t index);
void store_bits(DType dtype, std::byte* data, std::int64_t index, std::uint64_t pattern);

}  // namespace kernelwright
