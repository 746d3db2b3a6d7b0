#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "emulator/src/tensor/arithmetic.h"

namespace emulator::exec::EMULATOR_ISA {

namespace {

constexpr int kColumns = 8;  // outputs that are worked on together
constexpr int kMaxTerms = 32 * 32;
constexpr int kZeroExponent = -126;

// The eight columns side by side; the compiler cuts it to the registers that there are.
typedef std::int32_t Ints __attribute__((vector_size(32)));
typedef std::uint32_t Words __attribute__((vector_size(32)));
inline void load(Ints& to, const std::int32_t* from) { std::memcpy(&to, from, sizeof to); }

// A matrix cut into significands and exponents: value = significand * 2^(exponent - mantissa).
struct Cut {
    alignas(32) std::int32_t significand[kMaxTerms];
    alignas(32) std::int32_t exponent[kMaxTerms];
};

// True when some element is an infinity or a NaN.
bool cut(const FloatFormat& format, int count, const std::uint32_t* bits, std::int32_t* significand,
         std::int32_t* exponent) {
    const std::int32_t ones = (1 << format.exponent_bits) - 1;
    const std::int32_t fraction_mask = (1 << format.mantissa) - 1;
    const int sign_at = format.mantissa + format.exponent_bits;
    const std::int32_t all_ones = (ones << format.mantissa) | fraction_mask;
    std::int32_t special = 0;
    for (int i = 0; i < count; ++i) {
        const auto word = static_cast<std::int32_t>(bits[i]);
        const std::int32_t field = (word >> format.mantissa) & ones;
        const std::int32_t fraction = word & fraction_mask;
        const std::int32_t normal = field != 0;
        const std::int32_t magnitude = fraction | (normal << format.mantissa);
        const std::int32_t negative = -((word >> sign_at) & 1);
        special |= format.has_infinity ? field == ones : !format.finite && (word & all_ones) == all_ones;
        significand[i] = (magnitude ^ negative) - negative;
        exponent[i] = magnitude == 0 ? kZeroExponent : std::max(field, 1) - format.bias;
    }
    return special != 0;
}

double value_of(const FloatFormat& format, std::uint32_t bits) {
    std::int32_t significand = 0, exponent = 0;
    const bool special = cut(format, 1, &bits, &significand, &exponent);
    if (special) {
        const bool infinite = format.has_infinity && (bits & ((1u << format.mantissa) - 1)) == 0;
        const double value = infinite ? HUGE_VAL : std::nan("");
        return (bits >> (format.mantissa + format.exponent_bits)) & 1 ? -value : value;
    }
    return std::ldexp(significand, exponent - format.mantissa);
}

constexpr FloatFormat kF32{23, 8, 127, true};

std::uint32_t round_to_f32(double value, int mantissa) {
    // Toward zero: drop what lies below the last kept bit, which subnormals have higher up.
    if (value == 0) return 0;
    if (std::fabs(value) >= 0x1p128) return value < 0 ? 0xff800000u : 0x7f800000u;
    if (std::fabs(value) < 0x1p-126) {
        const double unit = std::ldexp(1.0, -126 - mantissa);
        value = std::trunc(value / unit) * unit;
        return value == 0 ? 0 : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
    std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
    bits &= ~std::uint64_t{0} << (52 - mantissa);
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
}

std::uint32_t round_to_f16(double value) {
    if (value == 0) return 0;
    const std::uint32_t sign = value < 0 ? 0x8000u : 0u;
    const double magnitude = std::fabs(value);
    if (magnitude >= 65520.0) return sign | 0x7c00u;
    int exponent = std::ilogb(magnitude);
    exponent = std::max(exponent, -14);
    // Nearest even at 2^(exponent - 10); the quotient has at most 11 bits.
    const auto scaled = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
    return sign | ((static_cast<std::uint32_t>(exponent + 14) << 10) + scaled);
}

std::uint32_t finish(const FloatRecipe& recipe, double value) {
    if (std::isnan(value)) return recipe.output_f16 ? 0x7fffu : 0x7fffffffu;
    if (std::isinf(value)) {
        const std::uint32_t infinity = recipe.output_f16 ? 0x7c00u : 0x7f800000u;
        return infinity | (value < 0 ? (recipe.output_f16 ? 0x8000u : 0x80000000u) : 0u);
    }
    return recipe.output_f16 ? round_to_f16(value) : round_to_f32(value, recipe.output_bits);
}

double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// (magnitude << or >>) so that `mantissa` fraction bits become `fraction_bits`, then cut `distance` lower.
inline std::int32_t align(std::int32_t significand, int left, int right, std::int32_t distance) {
    const std::int32_t negative = significand >> 31;
    const auto magnitude = static_cast<std::uint32_t>((significand ^ negative) - negative) << left;
    const std::int32_t shift = distance + right > 31 ? 31 : distance + right;
    const auto cut_off = static_cast<std::int32_t>(magnitude >> shift);
    return (cut_off ^ negative) - negative;
}

// The same for eight terms; `right` is none, as always when products are cut.
inline void add_aligned(Ints& sum, const Ints& significand, int left, const Ints& distance) {
    const Ints negative = significand >> 31;
    const Words magnitude = (Words)((significand ^ negative) - negative) << left;
    const Ints shift = distance > 31 ? Ints{} + 31 : distance;
    sum += ((Ints)(magnitude >> (Words)shift) ^ negative) - negative;
}

// finish() of eight sums to f32 at once; false, with nothing written, when one of them is subnormal or too
// large and needs the long way.
bool finish_normal(const std::int32_t* total, const std::int32_t* top, int fraction_bits,
                   std::uint32_t* sum) {
    constexpr std::int64_t least = std::bit_cast<std::int64_t>(0x1p-126);
    constexpr std::int64_t beyond = std::bit_cast<std::int64_t>(0x1p128);
    std::uint32_t result[kColumns];
    bool good = true;
    for (int j = 0; j < kColumns; ++j) {
        const double value = total[j] * power_of_two(top[j] - fraction_bits);
        const auto bits = std::bit_cast<std::int64_t>(value);
        const std::int64_t magnitude = bits & INT64_MAX;
        good = good & ((magnitude == 0) | ((magnitude >= least) & (magnitude < beyond)));
        result[j] = std::bit_cast<std::uint32_t>(
            static_cast<float>(std::bit_cast<double>(bits & ~std::int64_t{0x1fffffff})));
    }
    if (good) std::copy_n(result, kColumns, sum);
    return good;
}

std::uint32_t round_down_or_up(const FloatRecipe& recipe, double value, bool up) {
    // The nearest one first; then a step where it is on the wrong side.
    const std::uint32_t bits =
        recipe.output_f16 ? round_to_f16(value) : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const FloatFormat& format = recipe.output_f16 ? kF16 : kF32;
    const double nearest = value_of(format, bits);
    if (nearest == value || std::isnan(nearest) || (nearest > value) == up) return bits;
    const std::uint32_t sign = recipe.output_f16 ? 0x8000u : 0x80000000u;
    const bool negative = (bits & sign) != 0;
    if ((bits & ~sign) == 0) return up ? 1 : sign | 1;
    return negative == up ? bits - 1 : bits + 1;
}

// An element with its terms added one by one; `terms` are exact products.
std::uint32_t add_loosely(const FloatRecipe& recipe, double c, double* terms, int count,
                          std::uint64_t place) {
    using enum Options::Approximation;
    const FloatFormat& format = recipe.output_f16 ? kF16 : kF32;
    const auto nearest = [&](double value) {
        if (std::isnan(value)) return recipe.output_f16 ? 0x7fffu : 0x7fffffffu;
        return recipe.output_f16 ? round_to_f16(value)
                                 : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    };
    if (recipe.approximation == strictest) {
        double sum = c, lost = 0;  // what the additions drop is kept and added at the end
        for (int p = 0; p < count; ++p) {
            const double next = sum + terms[p], part = next - sum;
            lost += (sum - (next - part)) + (terms[p] - part);
            sum = next;
        }
        return nearest(std::isfinite(lost) ? sum + lost : sum);
    }
    if (recipe.approximation == seeded) {
        std::uint64_t state = recipe.seed * 0x9e3779b97f4a7c15ull + place;
        for (int p = count; p > 1; --p) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            std::swap(terms[p - 1], terms[(state >> 33) % static_cast<std::uint64_t>(p)]);
        }
    }
    double sum = c;
    for (int p = 0; p < count; ++p) {
        sum += terms[p];
        const bool stays = recipe.approximation == seeded || !std::isfinite(sum);
        sum = value_of(format,
                       stays ? nearest(sum) : round_down_or_up(recipe, sum, recipe.approximation == upper));
    }
    return nearest(sum);
}

void multiply_loosely(const FloatRecipe& recipe, int m, int n, int k, const std::uint32_t* a,
                      const std::uint32_t* b, const std::uint32_t* c, std::uint32_t* d) {
    std::vector<double> left(static_cast<std::size_t>(m) * static_cast<std::size_t>(k)),
        right(static_cast<std::size_t>(k) * static_cast<std::size_t>(n)), terms(static_cast<std::size_t>(k));
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = value_of(recipe.a, a[i]);
    for (std::size_t i = 0; i < right.size(); ++i) right[i] = value_of(recipe.b, b[i]);
    const auto width = static_cast<std::size_t>(n), depth = static_cast<std::size_t>(k);
    for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i) {
        for (std::size_t j = 0; j < width; ++j) {
            for (std::size_t p = 0; p < depth; ++p) terms[p] = left[i * depth + p] * right[p * width + j];
            const double start = value_of(recipe.output_f16 ? kF16 : kF32, c[i * width + j]);
            d[i * width + j] = add_loosely(recipe, start, terms.data(), k, i * width + j);
        }
    }
}

}  // namespace

void multiply_float(const FloatRecipe& recipe, int m, int n, int k, const std::uint32_t* a,
                    const std::uint32_t* b, const std::uint32_t* c, std::uint32_t* d) {
    if (recipe.approximation != Options::Approximation::nominal) {
        multiply_loosely(recipe, m, n, k, a, b, c, d);
        return;
    }
    Cut ca, cb;
    const bool special_a = cut(recipe.a, m * k, a, ca.significand, ca.exponent);
    const bool special_b = cut(recipe.b, k * n, b, cb.significand, cb.exponent);
    const FloatFormat output = recipe.output_f16 ? kF16 : kF32;
    const int product_fraction = recipe.a.mantissa + recipe.b.mantissa;
    const int left = std::max(0, recipe.fraction_bits - product_fraction);
    const int right = 0;  // a product never has more fraction bits than are kept
    const int c_left = std::max(0, recipe.fraction_bits - output.mantissa);
    const int c_right = std::max(0, output.mantissa - recipe.fraction_bits);
    for (int i = 0; i < m; ++i) {
        for (int column = 0; column < n; column += kColumns) {
            alignas(32) std::uint32_t sum[kColumns];
            std::copy_n(c + i * n + column, kColumns, sum);
            for (int start = 0; start < k; start += recipe.chunk) {
                const int end = std::min(k, start + recipe.chunk);
                alignas(32) std::int32_t c_significand[kColumns], c_exponent[kColumns], top[kColumns];
                const bool special_c = cut(output, kColumns, sum, c_significand, c_exponent);
                if (special_a || special_b || special_c) {
                    // Rare: an infinity or a NaN somewhere near; the columns it touches are decided by it.
                    bool decided[kColumns] = {};
                    for (int j = 0; j < kColumns; ++j) {
                        double total = value_of(output, sum[j]);
                        bool finite = std::isfinite(total);
                        for (int p = start; p < end; ++p) {
                            const double x = value_of(recipe.a, a[i * k + p]);
                            const double y = value_of(recipe.b, b[p * n + column + j]);
                            finite = finite && std::isfinite(x) && std::isfinite(y);
                            total += x * y;
                        }
                        decided[j] = !finite;
                        if (decided[j]) top[j] = static_cast<std::int32_t>(finish(recipe, total));
                    }
                    // The others are computed alone, with the decided terms left out of sight.
                    for (int j = 0; j < kColumns; ++j) {
                        if (decided[j]) {
                            sum[j] = static_cast<std::uint32_t>(top[j]);
                            continue;
                        }
                        std::int32_t highest = c_exponent[j];
                        for (int p = start; p < end; ++p) {
                            highest =
                                std::max(highest, ca.exponent[i * k + p] + cb.exponent[p * n + column + j]);
                        }
                        std::int64_t total =
                            align(c_significand[j], c_left, c_right, highest - c_exponent[j]);
                        for (int p = start; p < end; ++p) {
                            const int at_a = i * k + p, at_b = p * n + column + j;
                            total += align(ca.significand[at_a] * cb.significand[at_b], left, right,
                                           highest - ca.exponent[at_a] - cb.exponent[at_b]);
                        }
                        sum[j] = finish(recipe, static_cast<double>(total) *
                                                    power_of_two(highest - recipe.fraction_bits));
                    }
                    continue;
                }
                Ints highest, c_exponents, c_significands;
                load(c_exponents, c_exponent);
                load(c_significands, c_significand);
                highest = c_exponents;
                for (int p = start; p < end; ++p) {
                    Ints e;
                    load(e, cb.exponent + p * n + column);
                    e += ca.exponent[i * k + p];
                    highest = highest > e ? highest : e;
                }
                const auto add_terms = [&](Ints& partial, int first, int last) {
                    for (int p = first; p < last; ++p) {
                        Ints significand, e;
                        load(significand, cb.significand + p * n + column);
                        load(e, cb.exponent + p * n + column);
                        add_aligned(partial, significand * ca.significand[i * k + p], left,
                                    highest - e - ca.exponent[i * k + p]);
                    }
                };
                Ints partial = {};
                add_aligned(partial, c_significands, c_left, highest - c_exponents + c_right);
                std::memcpy(top, &highest, sizeof top);
                // Eight terms below 2^26 and the accumulator fit 32 bits; longer chunks and terms below 2^27
                // are summed in parts.
                alignas(32) std::int32_t part_sum[kColumns];
                if (recipe.fraction_bits <= 24 && end - start <= 8) {
                    add_terms(partial, start, end);
                    std::memcpy(part_sum, &partial, sizeof part_sum);
                    if (!recipe.output_f16 && recipe.output_bits == 23 &&
                        finish_normal(part_sum, top, recipe.fraction_bits, sum)) {
                        continue;
                    }
                    for (int j = 0; j < kColumns; ++j) {
                        sum[j] = finish(recipe, part_sum[j] * power_of_two(top[j] - recipe.fraction_bits));
                    }
                    continue;
                }
                std::int64_t total[kColumns];
                std::memcpy(part_sum, &partial, sizeof part_sum);
                std::copy_n(part_sum, kColumns, total);
                for (int part = start; part < end; part += 8) {
                    partial = Ints{};
                    add_terms(partial, part, std::min(end, part + 8));
                    std::memcpy(part_sum, &partial, sizeof part_sum);
                    for (int j = 0; j < kColumns; ++j) total[j] += part_sum[j];
                }
                for (int j = 0; j < kColumns; ++j) {
                    sum[j] = finish(
                        recipe, static_cast<double>(total[j]) * power_of_two(top[j] - recipe.fraction_bits));
                }
            }
            std::copy_n(sum, kColumns, d + i * n + column);
        }
    }
}

namespace {

struct Scale {
    double value = 0;              // NaN: the NaN pattern
    std::int64_t significand = 0;  // in units of 1/8
    int exponent = 0;
};
Scale scale_of(ptx::Type type, std::uint32_t bits) {
    if (type == ptx::Type::ue8m0) {
        if (bits == 0xff) return {std::nan(""), 0, 0};
        return {std::ldexp(1.0, static_cast<int>(bits) - 127), 8, static_cast<int>(bits) - 127};
    }
    bits &= 0x7f;
    std::int32_t significand = 0, exponent = 0;
    if (cut(kE4m3, 1, &bits, &significand, &exponent)) return {std::nan(""), 0, 0};
    return {std::ldexp(significand, exponent - 3), significand, exponent};
}

// A term value = significand * 2^(exponent - fraction), cut toward zero at `kept` bits below 2^top.
std::int64_t cut_term(std::int64_t significand, int exponent, int fraction, int top, int kept) {
    const int shift = kept - fraction - (top - exponent);
    const std::int64_t magnitude = significand < 0 ? -significand : significand;
    const std::int64_t moved = shift >= 0 ? magnitude << shift : shift > -63 ? magnitude >> -shift : 0;
    return significand < 0 ? -moved : moved;
}

}  // namespace

void multiply_scaled(const FloatRecipe& recipe, int m, int n, int k, const std::uint32_t* a,
                     const std::uint32_t* b, const std::uint32_t* c, std::uint32_t* d, int groups,
                     ptx::Type scale, const std::uint32_t* scale_a, const std::uint32_t* scale_b) {
    constexpr int kBlock = 16;
    const int group = k / groups;
    Cut ca, cb;
    cut(recipe.a, m * k, a, ca.significand, ca.exponent);
    cut(recipe.b, k * n, b, cb.significand, cb.exponent);
    const int fraction = recipe.a.mantissa + recipe.b.mantissa;
    std::vector<double> terms(static_cast<std::size_t>(k));
    std::vector<Scale> left(static_cast<std::size_t>(groups)), right(static_cast<std::size_t>(groups));
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            for (int g = 0; g < groups; ++g) {
                left[static_cast<std::size_t>(g)] = scale_of(scale, scale_a[i * groups + g]);
                right[static_cast<std::size_t>(g)] = scale_of(scale, scale_b[g * n + j]);
            }
            const double start = value_of(kF32, c[i * n + j]);
            double total = start;
            for (int p = 0; p < k; ++p) {
                const auto g = static_cast<std::size_t>(p / group);
                const double x = value_of(recipe.a, a[i * k + p]), y = value_of(recipe.b, b[p * n + j]);
                terms[static_cast<std::size_t>(p)] = x * y * left[g].value * right[g].value;
                total += terms[static_cast<std::size_t>(p)];
            }
            std::uint32_t& result = d[i * n + j];
            if (!std::isfinite(total)) {
                result = finish(recipe, total);
                continue;
            }
            if (recipe.approximation != Options::Approximation::nominal) {
                result = add_loosely(recipe, start, terms.data(), k,
                                     static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(n) +
                                         static_cast<std::uint64_t>(j));
                continue;
            }
            std::int32_t c_significand = 0, c_exponent = 0;
            cut(kF32, 1, &c[i * n + j], &c_significand, &c_exponent);
            std::int64_t significands[kMaxTerms];
            int exponents[kMaxTerms], count = 0, top = c_exponent, fractions = 0;
            if (groups == 1) {
                fractions = fraction;
                for (int p = 0; p < k; ++p, ++count) {
                    significands[count] = std::int64_t{ca.significand[i * k + p]} * cb.significand[p * n + j];
                    exponents[count] = ca.exponent[i * k + p] + cb.exponent[p * n + j] + left[0].exponent +
                                       right[0].exponent;
                }
            } else {
                // Exact sums in units of 2^-2 (e2m1), times two scales in units of 1/8.
                fractions = 8;
                for (int block = 0; block < k; block += kBlock, ++count) {
                    double sum = 0;
                    for (int p = block; p < block + kBlock; ++p)
                        sum += value_of(recipe.a, a[i * k + p]) * value_of(recipe.b, b[p * n + j]);
                    const auto g = static_cast<std::size_t>(block / group);
                    significands[count] =
                        static_cast<std::int64_t>(sum * 4) * left[g].significand * right[g].significand;
                    exponents[count] = left[g].exponent + right[g].exponent;
                }
            }
            for (int t = 0; t < count; ++t) top = std::max(top, exponents[t]);
            std::int64_t sum = cut_term(c_significand, c_exponent, kF32.mantissa, top, recipe.fraction_bits);
            for (int t = 0; t < count; ++t)
                sum += cut_term(significands[t], exponents[t], fractions, top, recipe.fraction_bits);
            result = finish(recipe, std::ldexp(static_cast<double>(sum), top - recipe.fraction_bits));
        }
    }
}

std::uint32_t scaled_down(const FloatRecipe& recipe, std::uint32_t accumulator, int by) {
    return finish(recipe, std::ldexp(value_of(recipe.output_f16 ? kF16 : kF32, accumulator), -by));
}

void multiply_double(int m, int n, int k, const std::uint64_t* a, const std::uint64_t* b,
                     const std::uint64_t* c, std::uint64_t* d) {
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            double sum = std::bit_cast<double>(c[i * n + j]);
            for (int p = 0; p < k; ++p) {
                sum = std::fma(std::bit_cast<double>(a[i * k + p]), std::bit_cast<double>(b[p * n + j]), sum);
            }
            d[i * n + j] = std::isnan(sum) ? 0x7fffffffffffffffu : std::bit_cast<std::uint64_t>(sum);
        }
    }
}

void multiply_integer(int m, int n, int k, const std::int32_t* a, const std::int32_t* b,
                      const std::uint32_t* c, std::uint32_t* d, bool saturate) {
    std::int32_t products[kColumns];  // sums of at most 128 products of 16 bits
    for (int i = 0; i < m; ++i) {
        for (int column = 0; column < n; column += kColumns) {
            std::fill_n(products, kColumns, 0);
            for (int p = 0; p < k; ++p) {
                const std::int32_t x = a[i * k + p];
                for (int j = 0; j < kColumns; ++j) products[j] += x * b[p * n + column + j];
            }
            for (int j = 0; j < kColumns; ++j) {
                const int at = i * n + column + j;
                std::int64_t sum = std::int64_t{static_cast<std::int32_t>(c[at])} + products[j];
                if (saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
                d[at] = static_cast<std::uint32_t>(sum);
            }
        }
    }
}

void multiply_bits(int m, int n, int words, const std::uint32_t* a, const std::uint32_t* b,
                   const std::uint32_t* c, std::uint32_t* d, bool exclusive_or) {
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            std::uint32_t sum = c[i * n + j];
            for (int p = 0; p < words; ++p) {
                const std::uint32_t x = a[i * words + p], y = b[p * n + j];
                sum += static_cast<std::uint32_t>(std::popcount(exclusive_or ? x ^ y : x & y));
            }
            d[i * n + j] = sum;
        }
    }
}

}  // namespace emulator::exec::EMULATOR_ISA
