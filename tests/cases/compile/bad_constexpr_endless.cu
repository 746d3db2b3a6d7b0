// expect: compile-error|compile-time-limit
// time: 1500
constexpr int spin(int n) { while (true) { n = n * 3 + 1; } return n; }
extern "C" __global__ void k(int* x) { constexpr int y = spin(1); x[0] = y; }
