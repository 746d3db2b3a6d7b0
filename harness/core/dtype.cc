#include "harness/core/dtype.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace kernelwright {
namespace {

enum class Kind { ieee, float_packed, signed_integer, unsigned_integer, boolean };

// What happens above the largest finite value.
enum class Overflow { infinity, nan, saturate };

struct Format {
    DType dtype;
    const char* name;
    Kind kind;
    int bits;
    int exponent_bits;  // 0 for integers
    int mantissa_bits;  // stored bits, without the hidden one
    Overflow overflow;
};

constexpr std::array<Format, 15> formats{{
    {DType::f64, "f64", Kind::ieee, 64, 11, 52, Overflow::infinity},
    {DType::f32, "f32", Kind::ieee, 32, 8, 23, Overflow::infinity},
    {DType::tf32, "tf32", Kind::ieee, 32, 8, 10, Overflow::infinity},
    {DType::f16, "f16", Kind::ieee, 16, 5, 10, Overflow::infinity},
    {DType::bf16, "bf16", Kind::ieee, 16, 8, 7, Overflow::infinity},
    {DType::e4m3, "e4m3", Kind::ieee, 8, 4, 3, Overflow::nan},
    {DType::e5m2, "e5m2", Kind::ieee, 8, 5, 2, Overflow::infinity},
    {DType::e2m1, "e2m1", Kind::float_packed, 4, 2, 1, Overflow::saturate},
    {DType::i64, "i64", Kind::signed_integer, 64, 0, 0, Overflow::saturate},
    {DType::i32, "i32", Kind::signed_integer, 32, 0, 0, Overflow::saturate},
    {DType::i16, "i16", Kind::signed_integer, 16, 0, 0, Overflow::saturate},
    {DType::i8, "i8", Kind::signed_integer, 8, 0, 0, Overflow::saturate},
    {DType::u8, "u8", Kind::unsigned_integer, 8, 0, 0, Overflow::saturate},
    {DType::i4, "i4", Kind::signed_integer, 4, 0, 0, Overflow::saturate},
    {DType::boolean, "bool", Kind::boolean, 8, 0, 0, Overflow::saturate},
}};

const Format& format_of(DType dtype) { return formats.at(static_cast<std::size_t>(dtype)); }

bool floating(const Format& f) { return f.kind == Kind::ieee || f.kind == Kind::float_packed; }

int bias(const Format& f) { return (1 << (f.exponent_bits - 1)) - 1; }

// Exponent of the largest finite binade: formats with infinities lose the top one.
int top_exponent(const Format& f) {
    const int all_ones = (1 << f.exponent_bits) - 1;
    return (f.overflow == Overflow::infinity ? all_ones - 1 : all_ones) - bias(f);
}

double largest(const Format& f) {
    // e4m3 gives its last mantissa pattern of the top binade to NaN.
    const double top = f.overflow == Overflow::nan ? 2.0 - 2.0 * std::ldexp(1.0, -f.mantissa_bits)
                                                   : 2.0 - std::ldexp(1.0, -f.mantissa_bits);
    return std::ldexp(top, top_exponent(f));
}

// tf32 lives in an f32 container: its mantissa is the upper part of 23 bits.
int stored_mantissa(const Format& f) { return f.dtype == DType::tf32 ? 23 : f.mantissa_bits; }

double decode(const Format& f, std::uint64_t pattern) {
    if (f.dtype == DType::f64) return std::bit_cast<double>(pattern);
    const int mantissa_bits = stored_mantissa(f);
    const std::uint64_t mantissa = pattern & ((std::uint64_t{1} << mantissa_bits) - 1);
    const auto exponent =
        static_cast<int>((pattern >> mantissa_bits) & ((std::uint64_t{1} << f.exponent_bits) - 1));
    const std::uint64_t sign = ((pattern >> (mantissa_bits + f.exponent_bits)) & 1) << 63;
    const int all_ones = (1 << f.exponent_bits) - 1;
    if (exponent == all_ones && f.overflow == Overflow::infinity) {
        const double special = mantissa == 0 ? std::numeric_limits<double>::infinity()
                                             : std::numeric_limits<double>::quiet_NaN();
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(special) | sign);
    }
    if (exponent == all_ones && f.overflow == Overflow::nan &&
        mantissa == (std::uint64_t{1} << mantissa_bits) - 1) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (exponent == 0) {
        const auto unit = static_cast<std::uint64_t>(1 - bias(f) - mantissa_bits + 1023) << 52;
        const double magnitude = static_cast<double>(mantissa) * std::bit_cast<double>(unit);
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) | sign);
    }
    return std::bit_cast<double>(sign | (static_cast<std::uint64_t>(exponent - bias(f) + 1023) << 52) |
                                 (mantissa << (52 - mantissa_bits)));
}

// Round to nearest even on the double's own bits: the significand is shifted to the format's width (further
// for a subnormal), and a carry out of it runs into the exponent by itself.
std::uint64_t encode(const Format& f, double value) {
    const auto whole = std::bit_cast<std::uint64_t>(value);
    if (f.dtype == DType::f64) return whole;
    const int container = stored_mantissa(f);
    const std::uint64_t sign = (whole >> 63) << (container + f.exponent_bits);
    const std::uint64_t exponent_ones = (std::uint64_t{1} << f.exponent_bits) - 1;
    const std::uint64_t infinity = exponent_ones << container;
    const std::uint64_t nan = f.overflow == Overflow::nan ? infinity | ((std::uint64_t{1} << container) - 1)
                                                          : infinity | (std::uint64_t{1} << (container - 1));
    if (std::isnan(value)) return f.overflow == Overflow::saturate ? 0 : nan;

    std::uint64_t pattern = 0;
    const int exponent = static_cast<int>((whole >> 52) & 0x7ff) - 1023;
    // What is subnormal as a double is far below half of any smaller format's least number.
    if (exponent > -1023 && exponent <= 1023) {
        const std::uint64_t significand = (whole & ((std::uint64_t{1} << 52) - 1)) | (std::uint64_t{1} << 52);
        const int least = 1 - bias(f);
        const int shift = 52 - f.mantissa_bits + std::max(0, least - exponent);
        if (shift <= 53) {
            std::uint64_t kept = significand >> shift;
            const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
            const std::uint64_t half = std::uint64_t{1} << (shift - 1);
            if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
            pattern = exponent < least ? kept
                                       : (static_cast<std::uint64_t>(exponent + bias(f)) << f.mantissa_bits) +
                                             (kept - (std::uint64_t{1} << f.mantissa_bits));
        }
    }
    const std::uint64_t largest_pattern =
        f.overflow == Overflow::infinity ? (exponent_ones << f.mantissa_bits) - 1
        : f.overflow == Overflow::nan
            ? (exponent_ones << f.mantissa_bits) + (std::uint64_t{1} << f.mantissa_bits) - 2
            : (exponent_ones << f.mantissa_bits) + (std::uint64_t{1} << f.mantissa_bits) - 1;
    if (std::isinf(value) || pattern > largest_pattern) {
        if (f.overflow == Overflow::infinity) return sign | infinity;
        if (f.overflow == Overflow::nan) return sign | nan;
        pattern = largest_pattern;
    }
    return sign | (pattern << (container - f.mantissa_bits));
}

std::int64_t integer_min(const Format& f) {
    if (f.kind != Kind::signed_integer) return 0;
    return f.bits == 64 ? std::numeric_limits<std::int64_t>::min() : -(std::int64_t{1} << (f.bits - 1));
}

std::int64_t integer_max(const Format& f) {
    if (f.kind == Kind::boolean) return 1;
    const int magnitude_bits = f.kind == Kind::signed_integer ? f.bits - 1 : f.bits;
    return magnitude_bits == 63 ? std::numeric_limits<std::int64_t>::max()
                                : (std::int64_t{1} << magnitude_bits) - 1;
}

std::int64_t decode_integer(const Format& f, std::uint64_t pattern) {
    if (f.kind == Kind::boolean) return pattern != 0 ? 1 : 0;
    if (f.kind == Kind::unsigned_integer || f.bits == 64) return static_cast<std::int64_t>(pattern);
    const std::uint64_t sign = std::uint64_t{1} << (f.bits - 1);
    return static_cast<std::int64_t>((pattern ^ sign) - sign);
}

}  // namespace

const char* to_string(DType dtype) { return format_of(dtype).name; }

std::optional<DType> parse_dtype(std::string_view name) {
    for (const Format& f : formats) {
        if (name == f.name) return f.dtype;
    }
    return std::nullopt;
}

const std::vector<DType>& all_dtypes() {
    static const std::vector<DType> list = [] {
        std::vector<DType> out;
        for (const Format& f : formats) out.push_back(f.dtype);
        return out;
    }();
    return list;
}

bool is_float(DType dtype) { return floating(format_of(dtype)); }

bool is_integer(DType dtype) {
    const Kind kind = format_of(dtype).kind;
    return kind == Kind::signed_integer || kind == Kind::unsigned_integer;
}

int bits(DType dtype) { return format_of(dtype).bits; }

std::size_t storage_bytes(DType dtype, std::int64_t count) {
    const auto n = static_cast<std::size_t>(count);
    return bits(dtype) == 4 ? (n + 1) / 2 : n * static_cast<std::size_t>(bits(dtype) / 8);
}

int significand_bits(DType dtype) { return is_float(dtype) ? format_of(dtype).mantissa_bits + 1 : 0; }

double unit_roundoff(DType dtype) {
    return is_float(dtype) ? std::ldexp(1.0, -significand_bits(dtype)) : 0.0;
}

double smallest_positive(DType dtype) {
    const Format& f = format_of(dtype);
    return floating(f) ? std::ldexp(1.0, 1 - bias(f) - f.mantissa_bits) : 1.0;
}

double smallest_normal(DType dtype) {
    const Format& f = format_of(dtype);
    return floating(f) ? std::ldexp(1.0, 1 - bias(f)) : 1.0;
}

double largest_finite(DType dtype) {
    const Format& f = format_of(dtype);
    return floating(f) ? largest(f) : static_cast<double>(integer_max(f));
}

double lowest_finite(DType dtype) {
    const Format& f = format_of(dtype);
    return floating(f) ? -largest(f) : static_cast<double>(integer_min(f));
}

std::uint64_t load_bits(DType dtype, const std::byte* data, std::int64_t index) {
    const int width = bits(dtype);
    if (width == 4) {
        const auto byte = static_cast<std::uint64_t>(data[index / 2]);
        return index % 2 == 0 ? byte & 15 : byte >> 4;
    }
    std::uint64_t pattern = 0;
    std::memcpy(&pattern, data + index * (width / 8), static_cast<std::size_t>(width / 8));
    return pattern;
}

void store_bits(DType dtype, std::byte* data, std::int64_t index, std::uint64_t pattern) {
    const int width = bits(dtype);
    if (width == 4) {
        auto byte = static_cast<std::uint64_t>(data[index / 2]);
        byte = index % 2 == 0 ? (byte & 0xf0) | (pattern & 15) : (byte & 0x0f) | ((pattern & 15) << 4);
        data[index / 2] = static_cast<std::byte>(byte);
        return;
    }
    std::memcpy(data + index * (width / 8), &pattern, static_cast<std::size_t>(width / 8));
}

double load(DType dtype, const std::byte* data, std::int64_t index) {
    if (dtype == DType::f32) {  // the common case, without the general decoder
        float value = 0;
        std::memcpy(&value, data + index * 4, 4);
        return value;
    }
    const Format& f = format_of(dtype);
    const std::uint64_t pattern = load_bits(dtype, data, index);
    return floating(f) ? decode(f, pattern) : static_cast<double>(decode_integer(f, pattern));
}

std::int64_t load_integer(DType dtype, const std::byte* data, std::int64_t index) {
    const Format& f = format_of(dtype);
    const std::uint64_t pattern = load_bits(dtype, data, index);
    if (!floating(f)) return decode_integer(f, pattern);
    const double value = decode(f, pattern);
    return std::isfinite(value) && std::fabs(value) < 9.2e18 ? static_cast<std::int64_t>(value) : 0;
}

void store(DType dtype, std::byte* data, std::int64_t index, double value) {
    const Format& f = format_of(dtype);
    if (dtype == DType::f32) {
        const auto narrow = static_cast<float>(value);
        std::memcpy(data + index * 4, &narrow, 4);
        return;
    }
    if (floating(f)) {
        store_bits(dtype, data, index, encode(f, value));
        return;
    }
    std::int64_t whole = 0;
    if (f.kind == Kind::boolean) {
        whole = value != 0 ? 1 : 0;
    } else if (std::isnan(value)) {
        whole = 0;
    } else {
        const double rounded = std::nearbyint(value);
        if (rounded >= static_cast<double>(integer_max(f))) {
            whole = integer_max(f);
        } else if (rounded <= static_cast<double>(integer_min(f))) {
            whole = integer_min(f);
        } else {
            whole = static_cast<std::int64_t>(rounded);
        }
    }
    store_bits(dtype, data, index, static_cast<std::uint64_t>(whole));
}

void store_integer(DType dtype, std::byte* data, std::int64_t index, std::int64_t value) {
    const Format& f = format_of(dtype);
    if (floating(f)) {
        store(dtype, data, index, static_cast<double>(value));
        return;
    }
    if (f.kind == Kind::boolean) value = value != 0 ? 1 : 0;
    value = std::min(std::max(value, integer_min(f)), integer_max(f));
    store_bits(dtype, data, index, static_cast<std::uint64_t>(value));
}

double round_to(DType dtype, double value) {
    std::array<std::byte, 8> buffer{};
    store(dtype, buffer.data(), 0, value);
    return load(dtype, buffer.data(), 0);
}

}  // namespace kernelwright
