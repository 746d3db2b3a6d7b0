// Types and macros are spelled exactly as libcu++ spells them under NVRTC (cuda/std/cstdint,
// cuda/std/climits): a repeated typedef of the same type and a repeated macro of the same tokens are no
// conflict, so a candidate may mix these with the toolkit's headers. Namespace std gets using-declarations of
// the global device functions.
#include "harness/compile/stub_headers.h"

#include <array>

#include "harness/core/hash.h"

namespace kernelwright {
namespace {

constexpr const char* prelude = R"(#ifndef KERNELWRIGHT_PRELUDE
#define KERNELWRIGHT_PRELUDE
typedef signed char int8_t;
typedef signed short int16_t;
typedef signed int int32_t;
typedef signed long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int8_t int_least8_t;
typedef int16_t int_least16_t;
typedef int32_t int_least32_t;
typedef int64_t int_least64_t;
typedef uint8_t uint_least8_t;
typedef uint16_t uint_least16_t;
typedef uint32_t uint_least32_t;
typedef uint64_t uint_least64_t;
typedef int8_t int_fast8_t;
typedef int16_t int_fast16_t;
typedef int32_t int_fast32_t;
typedef int64_t int_fast64_t;
typedef uint8_t uint_fast8_t;
typedef uint16_t uint_fast16_t;
typedef uint32_t uint_fast32_t;
typedef uint64_t uint_fast64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;
typedef unsigned int uint;
#ifndef NULL
#define NULL 0
#endif
#define CHAR_BIT 8
#define SCHAR_MIN         (-128)
#define SCHAR_MAX         127
#define UCHAR_MAX         255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN  (-SHRT_MAX - 1)
#define SHRT_MAX  0x7fff
#define USHRT_MAX 0xffff
#define INT_MIN   (-INT_MAX - 1)
#define INT_MAX   0x7fffffff
#define UINT_MAX  0xffffffff
#define LONG_MIN  (-LONG_MAX - 1)
#define LONG_MAX  LLONG_MAX
#define ULONG_MAX ULLONG_MAX
#define LLONG_MIN  (-LLONG_MAX - 1)
#define LLONG_MAX  0x7fffffffffffffffLL
#define ULLONG_MAX 0xffffffffffffffffUL
#define INT8_MIN   SCHAR_MIN
#define INT16_MIN  SHRT_MIN
#define INT32_MIN  INT_MIN
#define INT64_MIN  LLONG_MIN
#define INT8_MAX   SCHAR_MAX
#define INT16_MAX  SHRT_MAX
#define INT32_MAX  INT_MAX
#define INT64_MAX  LLONG_MAX
#define UINT8_MAX  UCHAR_MAX
#define UINT16_MAX USHRT_MAX
#define UINT32_MAX UINT_MAX
#define UINT64_MAX ULLONG_MAX
#define INTPTR_MIN  INT64_MIN
#define INTPTR_MAX  INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define INTMAX_MIN  INT64_MIN
#define INTMAX_MAX  INT64_MAX
#define UINTMAX_MAX UINT64_MAX
#define PTRDIFF_MIN INT64_MIN
#define PTRDIFF_MAX INT64_MAX
#define SIZE_MAX UINT64_MAX
#define INT8_C(X)   ((::int_least8_t)(X))
#define INT16_C(X)  ((::int_least16_t)(X))
#define INT32_C(X)  ((::int_least32_t)(X))
#define INT64_C(X)  ((::int_least64_t)(X))
#define UINT8_C(X)  ((::uint_least8_t)(X))
#define UINT16_C(X) ((::uint_least16_t)(X))
#define UINT32_C(X) ((::uint_least32_t)(X))
#define UINT64_C(X) ((::uint_least64_t)(X))
#define INTMAX_C(X)  ((::intmax_t)(X))
#define UINTMAX_C(X) ((::uintmax_t)(X))
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN_EXP (-125)
#define FLT_MIN_10_EXP (-37)
#define FLT_MAX_EXP 128
#define FLT_MAX_10_EXP 38
#define FLT_MAX 3.40282346638528859811704183484516925e+38F
#define FLT_MIN 1.17549435082228750796873653722224568e-38F
#define FLT_TRUE_MIN 1.40129846432481707092372958328991613e-45F
#define FLT_EPSILON 1.19209289550781250000000000000000000e-7F
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN_EXP (-1021)
#define DBL_MIN_10_EXP (-307)
#define DBL_MAX_EXP 1024
#define DBL_MAX_10_EXP 308
#define DBL_MAX 1.79769313486231570814527423731704357e+308
#define DBL_MIN 2.22507385850720138309023271733240406e-308
#define DBL_TRUE_MIN 4.94065645841246544176568792868221372e-324
#define DBL_EPSILON 2.22044604925031308084726333618164062e-16
#ifdef __has_builtin
#if __has_builtin(__builtin_bit_cast)
#define KERNELWRIGHT_BIT_CAST 1
#endif
#endif
#ifdef KERNELWRIGHT_BIT_CAST
#define INFINITY (__builtin_bit_cast(float, 0x7f800000U))
#define NAN (__builtin_bit_cast(float, 0x7fffffffU))
#define HUGE_VAL (__builtin_bit_cast(double, 0x7ff0000000000000ULL))
#else
#define INFINITY (__int_as_float(0x7f800000))
#define NAN (__int_as_float(0x7fffffff))
#define HUGE_VAL (__longlong_as_double(0x7ff0000000000000LL))
#endif
#define HUGE_VALF INFINITY
#endif
)";

constexpr const char* cstdint_text = R"(#ifndef KERNELWRIGHT_CSTDINT
#define KERNELWRIGHT_CSTDINT
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::int_least8_t; using ::int_least16_t; using ::int_least32_t; using ::int_least64_t;
using ::uint_least8_t; using ::uint_least16_t; using ::uint_least32_t; using ::uint_least64_t;
using ::int_fast8_t; using ::int_fast16_t; using ::int_fast32_t; using ::int_fast64_t;
using ::uint_fast8_t; using ::uint_fast16_t; using ::uint_fast32_t; using ::uint_fast64_t;
using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;
}
#endif
)";

constexpr const char* cmath_text = R"(#ifndef KERNELWRIGHT_CMATH
#define KERNELWRIGHT_CMATH
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
namespace std {
using ::abs; using ::fabs; using ::fabsf; using ::fmod; using ::fmodf; using ::remainder; using ::remainderf;
using ::remquo; using ::remquof; using ::fma; using ::fmaf; using ::fmax; using ::fmaxf; using ::fmin; using ::fminf;
using ::fdim; using ::fdimf; using ::exp; using ::expf; using ::exp2; using ::exp2f; using ::expm1; using ::expm1f;
using ::log; using ::logf; using ::log10; using ::log10f; using ::log2; using ::log2f; using ::log1p; using ::log1pf;
using ::pow; using ::powf; using ::sqrt; using ::sqrtf; using ::cbrt; using ::cbrtf; using ::hypot; using ::hypotf;
using ::sin; using ::sinf; using ::cos; using ::cosf; using ::tan; using ::tanf; using ::asin; using ::asinf;
using ::acos; using ::acosf; using ::atan; using ::atanf; using ::atan2; using ::atan2f;
using ::sinh; using ::sinhf; using ::cosh; using ::coshf; using ::tanh; using ::tanhf;
using ::asinh; using ::asinhf; using ::acosh; using ::acoshf; using ::atanh; using ::atanhf;
using ::erf; using ::erff; using ::erfc; using ::erfcf; using ::tgamma; using ::tgammaf; using ::lgamma; using ::lgammaf;
using ::ceil; using ::ceilf; using ::floor; using ::floorf; using ::trunc; using ::truncf; using ::round; using ::roundf;
using ::lround; using ::lroundf; using ::llround; using ::llroundf; using ::nearbyint; using ::nearbyintf;
using ::rint; using ::rintf; using ::lrint; using ::lrintf; using ::llrint; using ::llrintf;
using ::frexp; using ::frexpf; using ::ldexp; using ::ldexpf; using ::modf; using ::modff;
using ::scalbn; using ::scalbnf; using ::scalbln; using ::scalblnf; using ::ilogb; using ::ilogbf; using ::logb; using ::logbf;
using ::nextafter; using ::nextafterf; using ::copysign; using ::copysignf; using ::nan; using ::nanf;
using ::isfinite; using ::isinf; using ::isnan; using ::signbit;
}
#endif
)";

constexpr const char* limits_h_text = "#pragma once\n";

constexpr const char* assert_text = R"(#pragma once
// assert is NVRTC's own.
)";

constexpr const char* stddef_text = R"(#ifndef KERNELWRIGHT_CSTDDEF
#define KERNELWRIGHT_CSTDDEF
typedef decltype(nullptr) nullptr_t;
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
namespace std {
using ::size_t; using ::ptrdiff_t; using ::nullptr_t;
enum class byte : unsigned char {};
}
#endif
)";

constexpr const char* stdio_text = R"(#ifndef KERNELWRIGHT_CSTDIO
#define KERNELWRIGHT_CSTDIO
namespace std {
using ::size_t; using ::printf;
}
#endif
)";

constexpr const char* stdlib_text = R"(#ifndef KERNELWRIGHT_CSTDLIB
#define KERNELWRIGHT_CSTDLIB
typedef unsigned short ushort;
typedef unsigned long ulong;
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
namespace std {
using ::size_t; using ::malloc; using ::free; using ::abs; using ::labs; using ::llabs;
}
#endif
)";

constexpr const char* string_text = R"(#ifndef KERNELWRIGHT_CSTRING
#define KERNELWRIGHT_CSTRING
namespace std {
using ::size_t; using ::memcpy; using ::memset;
}
#endif
)";

constexpr const char* utility_text = R"(#ifndef KERNELWRIGHT_UTILITY
#define KERNELWRIGHT_UTILITY
// std::move and std::forward are NVRTC's own.
namespace std {
template <class T> __device__ constexpr void swap(T& a, T& b) { T t = static_cast<T&&>(a); a = static_cast<T&&>(b); b = static_cast<T&&>(t); }
template <class A, class B> struct pair { A first; B second; };
template <class A, class B> pair(A, B) -> pair<A, B>;
template <class T, T... I> struct integer_sequence { typedef T value_type; static constexpr size_t size() { return sizeof...(I); } };
template <size_t... I> using index_sequence = integer_sequence<size_t, I...>;
template <class L, class R> struct joined_sequence;
template <class T, T... L, T... R> struct joined_sequence<integer_sequence<T, L...>, integer_sequence<T, R...>> { typedef integer_sequence<T, L..., (T(sizeof...(L)) + R)...> type; };
template <class T, size_t N> struct counted_sequence : joined_sequence<typename counted_sequence<T, N / 2>::type, typename counted_sequence<T, N - N / 2>::type> {};
template <class T> struct counted_sequence<T, 0> { typedef integer_sequence<T> type; };
template <class T> struct counted_sequence<T, 1> { typedef integer_sequence<T, T(0)> type; };
template <class T, T N> using make_integer_sequence = typename counted_sequence<T, size_t(N)>::type;
template <size_t N> using make_index_sequence = make_integer_sequence<size_t, N>;
}
#endif
)";

constexpr const char* algorithm_text = R"(#ifndef KERNELWRIGHT_ALGORITHM
#define KERNELWRIGHT_ALGORITHM
#include <utility>
namespace std {
// By value, not by reference: a reference to a local keeps it out of registers.
template <class T> __device__ constexpr T min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> __device__ constexpr T max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> __device__ constexpr T clamp(const T& v, const T& lo, const T& hi) { return v < lo ? lo : hi < v ? hi : v; }
}
#endif
)";

constexpr const char* limits_text = R"(#ifndef KERNELWRIGHT_LIMITS
#define KERNELWRIGHT_LIMITS
namespace std {
template <class T> struct numeric_limits { static constexpr bool is_specialized = false; };
#define KERNELWRIGHT_INTEGER(T, LOW, HIGH, SIGNED, DIGITS) \
  template <> struct numeric_limits<T> { \
    static constexpr bool is_specialized = true, is_signed = SIGNED, is_integer = true, is_exact = true; \
    static constexpr bool has_infinity = false, has_quiet_NaN = false; \
    static constexpr int digits = DIGITS, radix = 2; \
    static constexpr T min() noexcept { return LOW; } \
    static constexpr T max() noexcept { return HIGH; } \
    static constexpr T lowest() noexcept { return LOW; } \
  };
KERNELWRIGHT_INTEGER(bool, false, true, false, 1)
KERNELWRIGHT_INTEGER(char, CHAR_MIN, CHAR_MAX, true, 7)
KERNELWRIGHT_INTEGER(signed char, SCHAR_MIN, SCHAR_MAX, true, 7)
KERNELWRIGHT_INTEGER(unsigned char, 0, UCHAR_MAX, false, 8)
KERNELWRIGHT_INTEGER(short, SHRT_MIN, SHRT_MAX, true, 15)
KERNELWRIGHT_INTEGER(unsigned short, 0, USHRT_MAX, false, 16)
KERNELWRIGHT_INTEGER(int, INT_MIN, INT_MAX, true, 31)
KERNELWRIGHT_INTEGER(unsigned int, 0, UINT_MAX, false, 32)
KERNELWRIGHT_INTEGER(long, LONG_MIN, LONG_MAX, true, 63)
KERNELWRIGHT_INTEGER(unsigned long, 0, ULONG_MAX, false, 64)
KERNELWRIGHT_INTEGER(long long, LLONG_MIN, LLONG_MAX, true, 63)
KERNELWRIGHT_INTEGER(unsigned long long, 0, ULLONG_MAX, false, 64)
#undef KERNELWRIGHT_INTEGER
template <> struct numeric_limits<float> {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static constexpr int digits = FLT_MANT_DIG, radix = 2;
  static constexpr float min() noexcept { return FLT_MIN; }
  static constexpr float max() noexcept { return FLT_MAX; }
  static constexpr float lowest() noexcept { return -FLT_MAX; }
  static constexpr float epsilon() noexcept { return FLT_EPSILON; }
  static constexpr float denorm_min() noexcept { return FLT_TRUE_MIN; }
  static constexpr float infinity() noexcept { return __builtin_bit_cast(float, 0x7f800000U); }
  static constexpr float quiet_NaN() noexcept { return __builtin_bit_cast(float, 0x7fffffffU); }
};
template <> struct numeric_limits<double> {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static constexpr int digits = DBL_MANT_DIG, radix = 2;
  static constexpr double min() noexcept { return DBL_MIN; }
  static constexpr double max() noexcept { return DBL_MAX; }
  static constexpr double lowest() noexcept { return -DBL_MAX; }
  static constexpr double epsilon() noexcept { return DBL_EPSILON; }
  static constexpr double denorm_min() noexcept { return DBL_TRUE_MIN; }
  static constexpr double infinity() noexcept { return __builtin_bit_cast(double, 0x7ff0000000000000ULL); }
  static constexpr double quiet_NaN() noexcept { return __builtin_bit_cast(double, 0x7fffffffffffffffULL); }
};
}
#endif
)";

constexpr const char* type_traits_text = R"(#ifndef KERNELWRIGHT_TYPE_TRAITS
#define KERNELWRIGHT_TYPE_TRAITS
namespace std {
template <class T, T V> struct integral_constant {
  static constexpr T value = V;
  typedef T value_type;
  typedef integral_constant type;
  __device__ constexpr operator T() const noexcept { return V; }
  __device__ constexpr T operator()() const noexcept { return V; }
};
template <bool B> using bool_constant = integral_constant<bool, B>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;
template <bool B, class T, class F> struct conditional { typedef T type; };
template <class T, class F> struct conditional<false, T, F> { typedef F type; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <class...> using void_t = void;
template <class T> struct type_identity { typedef T type; };
template <class T> struct remove_const { typedef T type; };
template <class T> struct remove_const<const T> { typedef T type; };
template <class T> struct remove_volatile { typedef T type; };
template <class T> struct remove_volatile<volatile T> { typedef T type; };
template <class T> struct remove_cv { typedef T type; };
template <class T> struct remove_cv<const T> { typedef T type; };
template <class T> struct remove_cv<volatile T> { typedef T type; };
template <class T> struct remove_cv<const volatile T> { typedef T type; };
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T&> { typedef T type; };
template <class T> struct remove_reference<T&&> { typedef T type; };
template <class T> struct remove_pointer { typedef T type; };
template <class T> struct remove_pointer<T*> { typedef T type; };
template <class T> struct remove_pointer<T* const> { typedef T type; };
template <class T> struct remove_extent { typedef T type; };
template <class T> struct remove_extent<T[]> { typedef T type; };
template <class T, size_t N> struct remove_extent<T[N]> { typedef T type; };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_volatile_t = typename remove_volatile<T>::type;
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> using remove_extent_t = typename remove_extent<T>::type;
template <class T> struct remove_cvref { typedef remove_cv_t<remove_reference_t<T>> type; };
template <class T> using remove_cvref_t = typename remove_cvref<T>::type;
template <class T> struct add_const { typedef const T type; };
template <class T> using add_const_t = const T;
template <class T> struct add_pointer { typedef remove_reference_t<T>* type; };
template <class T> using add_pointer_t = typename add_pointer<T>::type;
template <class T> struct add_lvalue_reference { typedef T& type; };
template <> struct add_lvalue_reference<void> { typedef void type; };
template <class T> using add_lvalue_reference_t = typename add_lvalue_reference<T>::type;
template <class T> struct add_rvalue_reference { typedef T&& type; };
template <> struct add_rvalue_reference<void> { typedef void type; };
template <class T> using add_rvalue_reference_t = typename add_rvalue_reference<T>::type;
template <class T> add_rvalue_reference_t<T> declval() noexcept;
template <class T> struct decay_bare { typedef remove_cv_t<T> type; };
template <class T> struct decay_bare<T[]> { typedef T* type; };
template <class T, size_t N> struct decay_bare<T[N]> { typedef T* type; };
template <class R, class... A> struct decay_bare<R(A...)> { typedef R (*type)(A...); };
template <class T> struct decay : decay_bare<remove_reference_t<T>> {};
template <class T> using decay_t = typename decay<T>::type;
template <class T, class U> struct is_same : false_type {};
template <class T> struct is_same<T, T> : true_type {};
template <class T> struct is_const : false_type {};
template <class T> struct is_const<const T> : true_type {};
template <class T> struct is_void : is_same<void, remove_cv_t<T>> {};
template <class T> struct is_pointer : false_type {};
template <class T> struct is_pointer<T*> : true_type {};
template <class T> struct is_pointer<T* const> : true_type {};
template <class T> struct is_reference : false_type {};
template <class T> struct is_reference<T&> : true_type {};
template <class T> struct is_reference<T&&> : true_type {};
template <class T> struct is_lvalue_reference : false_type {};
template <class T> struct is_lvalue_reference<T&> : true_type {};
template <class T> struct is_array : false_type {};
template <class T> struct is_array<T[]> : true_type {};
template <class T, size_t N> struct is_array<T[N]> : true_type {};
template <class T, class... Us> struct is_one_of : bool_constant<(is_same<T, Us>::value || ...)> {};
template <class T> struct is_integral : is_one_of<remove_cv_t<T>, bool, char, signed char, unsigned char, wchar_t, char16_t, char32_t, short, unsigned short, int, unsigned int, long, unsigned long, long long, unsigned long long> {};
template <class T> struct is_floating_point : is_one_of<remove_cv_t<T>, float, double, long double> {};
template <class T> struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <class T, bool = is_arithmetic<T>::value> struct is_signed : bool_constant<(T(-1) < T(0))> {};
template <class T> struct is_signed<T, false> : false_type {};
template <class T, bool = is_arithmetic<T>::value> struct is_unsigned : bool_constant<(T(0) < T(-1))> {};
template <class T> struct is_unsigned<T, false> : false_type {};
template <class T> struct is_enum : bool_constant<__is_enum(T)> {};
template <class T> struct is_class : bool_constant<__is_class(T)> {};
template <class T> struct is_union : bool_constant<__is_union(T)> {};
template <class T> struct is_empty : bool_constant<__is_empty(T)> {};
template <class T> struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class B, class D> struct is_base_of : bool_constant<__is_base_of(B, D)> {};
template <class F, class T> struct is_convertible : bool_constant<__is_convertible_to(F, T)> {};
template <class T, class... A> struct is_constructible : bool_constant<__is_constructible(T, A...)> {};
template <class T> struct underlying_type { typedef __underlying_type(T) type; };
template <class T> using underlying_type_t = typename underlying_type<T>::type;
template <class T> struct make_unsigned;
template <class T> struct make_signed;
#define KERNELWRIGHT_SIGN(S, U) \
  template <> struct make_unsigned<S> { typedef U type; }; template <> struct make_unsigned<U> { typedef U type; }; \
  template <> struct make_signed<S> { typedef S type; }; template <> struct make_signed<U> { typedef S type; };
KERNELWRIGHT_SIGN(signed char, unsigned char)
KERNELWRIGHT_SIGN(short, unsigned short)
KERNELWRIGHT_SIGN(int, unsigned int)
KERNELWRIGHT_SIGN(long, unsigned long)
KERNELWRIGHT_SIGN(long long, unsigned long long)
#undef KERNELWRIGHT_SIGN
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
template <class T> using make_signed_t = typename make_signed<T>::type;
template <class...> struct common_type {};
template <class T> struct common_type<T> { typedef decay_t<T> type; };
template <class T, class U> struct common_type<T, U> { typedef decay_t<decltype(true ? declval<T>() : declval<U>())> type; };
template <class T, class U, class V, class... R> struct common_type<T, U, V, R...> : common_type<typename common_type<T, U>::type, V, R...> {};
template <class... T> using common_type_t = typename common_type<T...>::type;
template <class T> struct alignment_of : integral_constant<size_t, alignof(T)> {};
template <class...> struct conjunction : true_type {};
template <class B, class... R> struct conjunction<B, R...> : conditional_t<bool(B::value), conjunction<R...>, false_type> {};
template <class...> struct disjunction : false_type {};
template <class B, class... R> struct disjunction<B, R...> : conditional_t<bool(B::value), true_type, disjunction<R...>> {};
template <class B> struct negation : bool_constant<!bool(B::value)> {};
template <class T, class U> inline constexpr bool is_same_v = is_same<T, U>::value;
template <class T> inline constexpr bool is_const_v = is_const<T>::value;
template <class T> inline constexpr bool is_void_v = is_void<T>::value;
template <class T> inline constexpr bool is_pointer_v = is_pointer<T>::value;
template <class T> inline constexpr bool is_reference_v = is_reference<T>::value;
template <class T> inline constexpr bool is_array_v = is_array<T>::value;
template <class T> inline constexpr bool is_integral_v = is_integral<T>::value;
template <class T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T> inline constexpr bool is_signed_v = is_signed<T>::value;
template <class T> inline constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <class T> inline constexpr bool is_enum_v = is_enum<T>::value;
template <class T> inline constexpr bool is_class_v = is_class<T>::value;
template <class T> inline constexpr bool is_trivially_copyable_v = is_trivially_copyable<T>::value;
template <class B, class D> inline constexpr bool is_base_of_v = is_base_of<B, D>::value;
template <class F, class T> inline constexpr bool is_convertible_v = is_convertible<F, T>::value;
template <class T, class... A> inline constexpr bool is_constructible_v = is_constructible<T, A...>::value;
template <class... B> inline constexpr bool conjunction_v = conjunction<B...>::value;
template <class... B> inline constexpr bool disjunction_v = disjunction<B...>::value;
template <class B> inline constexpr bool negation_v = negation<B>::value;
}
#endif
)";

// CUtensorMap is 128 opaque bytes, aligned to 64 (CUDA Driver API, "Tensor Map Object Management").
constexpr const char* cuda_text = R"(#ifndef KERNELWRIGHT_CUDA_H
#define KERNELWRIGHT_CUDA_H
typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
typedef struct CUtensorMap_st {
  alignas(64) cuuint64_t opaque[16];
} CUtensorMap;
#endif
)";

constexpr std::array<StubHeader, 27> headers{
    {{prelude_header, prelude},     {"stdint.h", cstdint_text},    {"cstdint", cstdint_text},
     {"inttypes.h", cstdint_text},  {"math.h", cmath_text},        {"cmath", cmath_text},
     {"float.h", limits_h_text},    {"cfloat", limits_h_text},     {"limits.h", limits_h_text},
     {"climits", limits_h_text},    {"assert.h", assert_text},     {"cassert", assert_text},
     {"stddef.h", stddef_text},     {"cstddef", stddef_text},      {"stdio.h", stdio_text},
     {"cstdio", stdio_text},        {"stdlib.h", stdlib_text},     {"cstdlib", stdlib_text},
     {"string.h", string_text},     {"cstring", string_text},      {"utility", utility_text},
     {"algorithm", algorithm_text}, {"limits", limits_text},       {"type_traits", type_traits_text},
     {"cuda.h", cuda_text},         {"cudaTypedefs.h", cuda_text}, {"stdbool.h", limits_h_text}}};

}  // namespace

std::span<const StubHeader> stub_headers() { return headers; }

const std::string& stub_headers_hash() {
    static const std::string hash = [] {
        std::string all;
        for (const StubHeader& header : headers) {
            all += header.name;
            all += '\0';
            all += header.text;
            all += '\0';
        }
        return sha256_hex(all);
    }();
    return hash;
}

}  // namespace kernelwright
