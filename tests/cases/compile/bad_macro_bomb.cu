// expect: compile-time-limit|compile-memory-limit|compile-error
// time: 1500
// memory: 600
#define A0(x) x + x + x + x + x + x + x + x
#define A1(x) A0(x) + A0(x) + A0(x) + A0(x) + A0(x) + A0(x) + A0(x) + A0(x)
#define A2(x) A1(A1(A1(A1(A1(A1(x))))))
extern "C" __global__ void k(int* x) { x[0] = A2(A2(x[1])); }
