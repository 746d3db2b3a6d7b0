// expect: compile-time-limit|compile-memory-limit|compile-error
// time: 1500
// Two instantiations for each level: 2^N of them, below the depth limit.
template <int N, unsigned long long P> struct Bomb {
    static constexpr unsigned long long value = Bomb<N - 1, P * 2>::value + Bomb<N - 1, P * 2 + 1>::value;
};
template <unsigned long long P> struct Bomb<0, P> { static constexpr unsigned long long value = P; };
extern "C" __global__ void k(unsigned long long* x) { x[0] = Bomb<40, 1>::value; }
