// expect: compile-error
template <int N> struct Deep { static constexpr int value = Deep<N + 1>::value + 1; };
extern "C" __global__ void k(int* x) { x[0] = Deep<0>::value; }
