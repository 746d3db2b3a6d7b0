// expect: pass
// name: scale<float, 4>
// name: tools::fill<int>
namespace tools {
template <class T> __global__ void fill(T* x) { x[threadIdx.x] = T(1); }
}
template <class T, int N> __global__ void scale(T* x) {
#pragma unroll
    for (int i = 0; i < N; ++i) x[threadIdx.x * N + i] *= T(2);
}
