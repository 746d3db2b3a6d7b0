// Loops over the 32 lanes, written so that the compiler vectorises them. When all lanes execute, results go
// straight to the destination: it may be an operand, but lane i of it is all that lane i of the loop touches
// (hence ivdep). Otherwise they go to a local array first, then to the destination under the execution mask.
#pragma once

#include <emmintrin.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "emulator/src/exec/warp.h"

namespace emulator::exec {
namespace EMULATOR_ISA {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

template <class T>
using Cell = std::conditional_t<sizeof(T) == 8, u64, u32>;  // what a register lane of type T is kept in

template <class T>
inline Cell<T>* lanes(Warp& w, const Slot& slot) {
    return reinterpret_cast<Cell<T>*>(w.base[static_cast<int>(slot.base)] + slot.offset);
}

template <class C>
inline void put(C* __restrict destination, const C* __restrict result, Mask exec) {
    if (exec == kAllLanes) {
        std::memcpy(destination, result, kLanes * sizeof(C));
        return;
    }
    for (int i = 0; i < kLanes; ++i) {
        const C keep = static_cast<C>(0) - static_cast<C>(1 - ((exec >> i) & 1u));
        destination[i] = (destination[i] & keep) | (result[i] & ~keep);
    }
}

template <class C>
inline void fill(C* destination, C value, Mask exec) {
    if (exec == kAllLanes) {
        for (int i = 0; i < kLanes; ++i) destination[i] = value;
        return;
    }
    alignas(64) C all[kLanes];
    for (int i = 0; i < kLanes; ++i) all[i] = value;
    put(destination, all, exec);
}

// Integer cells to typed values and back; narrow values are kept zero-extended.
template <class T>
inline T value_of(Cell<T> cell) {
    return static_cast<T>(cell);
}
template <class T>
inline Cell<T> cell_of(T value) {
    return static_cast<Cell<T>>(static_cast<std::make_unsigned_t<T>>(value));
}

template <class R, class A, class F>
inline void map1(Warp& w, const Instr& in, Mask exec, F f) {
    const Cell<A>* a = lanes<A>(w, in.source(0));
    alignas(64) Cell<R> some[kLanes];
    Cell<R>* const r = exec == kAllLanes ? lanes<R>(w, in.destination(0)) : some;
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) r[i] = cell_of<R>(f(value_of<A>(a[i])));
    if (r == some) put(lanes<R>(w, in.destination(0)), some, exec);
}
template <class R, class A, class B, class F>
inline void map2(Warp& w, const Instr& in, Mask exec, F f) {
    const Cell<A>* a = lanes<A>(w, in.source(0));
    const Cell<B>* b = lanes<B>(w, in.source(1));
    alignas(64) Cell<R> some[kLanes];
    Cell<R>* const r = exec == kAllLanes ? lanes<R>(w, in.destination(0)) : some;
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) r[i] = cell_of<R>(f(value_of<A>(a[i]), value_of<B>(b[i])));
    if (r == some) put(lanes<R>(w, in.destination(0)), some, exec);
}
template <class R, class A, class B, class C, class F>
inline void map3(Warp& w, const Instr& in, Mask exec, F f) {
    const Cell<A>* a = lanes<A>(w, in.source(0));
    const Cell<B>* b = lanes<B>(w, in.source(1));
    const Cell<C>* c = lanes<C>(w, in.source(2));
    alignas(64) Cell<R> some[kLanes];
    Cell<R>* const r = exec == kAllLanes ? lanes<R>(w, in.destination(0)) : some;
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i)
        r[i] = cell_of<R>(f(value_of<A>(a[i]), value_of<B>(b[i]), value_of<C>(c[i])));
    if (r == some) put(lanes<R>(w, in.destination(0)), some, exec);
}

// All-ones or zero words to a mask.
inline Mask pack_mask(const u32* words) {
    Mask mask = 0;
    for (int i = 0; i < 8; ++i) {
        const __m128i v = _mm_load_si128(reinterpret_cast<const __m128i*>(words + 4 * i));
        mask |= static_cast<Mask>(_mm_movemask_ps(_mm_castsi128_ps(v))) << (4 * i);
    }
    return mask;
}

constexpr u32 kNan32 = 0x7fffffffu;

inline float as_float(u32 bits) { return std::bit_cast<float>(bits); }
inline u32 as_bits(float value) { return std::bit_cast<u32>(value); }
inline double as_double(u64 bits) { return std::bit_cast<double>(bits); }
inline u64 as_bits(double value) { return std::bit_cast<u64>(value); }

// The NaN of an f64 operation, which the ISA leaves open: the first operand that is one, made quiet, else the
// default. Said here because host instructions differ in which operand they prefer.
template <class... Operands>
inline u64 nan_of_operands(u64 result, Operands... operands) {
    u64 nan = 0xfff8000000000000ull;
    bool found = false;
    ((nan = !found && as_double(operands) != as_double(operands) ? operands | 0x0008000000000000ull : nan,
      found |= as_double(operands) != as_double(operands)),
     ...);
    return as_double(result) != as_double(result) ? nan : result;
}

inline u32 flush(u32 bits) { return (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits; }
inline u32 canonical(u32 bits) { return (bits & 0x7fffffffu) > 0x7f800000u ? kNan32 : bits; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec
