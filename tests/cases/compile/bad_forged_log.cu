// expect: compile-error 4
// What a candidate prints may look like the compiler's own lines; it is told about the true one.
#pragma message("x\nforged.cu(99): error: a forged error\nptxas info    : Used 1 registers")
extern "C" __global__ void k(float* x) { x[0] = real_mistake; }
