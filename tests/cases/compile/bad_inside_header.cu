// expect: compile-error 8
// message: no instance of function template
#include <cub/block/block_reduce.cuh>
struct S { int a; };
extern "C" __global__ void k(S* x) {
    using R = cub::BlockReduce<S, 128>;
    __shared__ typename R::TempStorage t;
    x[0] = R(t).Sum(x[threadIdx.x]);
}
