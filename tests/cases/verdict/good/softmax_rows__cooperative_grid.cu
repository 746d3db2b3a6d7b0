/* kernelwright
scratch:
  m: {dtype: f32, shape: [M]}
kernels:
  - {name: softmax, grid: ["min(M, sm_count)"], block: 128, cooperative: true, args: [x, m, y, M, N]}
*/
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void softmax(const float* x, float* m, float* y, int M, int N) {
    cg::grid_group grid = cg::this_grid();
    __shared__ float part[128];
    for (int r = blockIdx.x; r < M; r += gridDim.x) {
        float v = -INFINITY;
        for (int i = threadIdx.x; i < N; i += 128) v = fmaxf(v, x[(size_t)r * N + i]);
        part[threadIdx.x] = v;
        __syncthreads();
        for (int o = 64; o; o >>= 1) {
            if (threadIdx.x < o) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + o]);
            __syncthreads();
        }
        if (threadIdx.x == 0) m[r] = part[0];
        __syncthreads();
    }
    grid.sync();
    for (int r = blockIdx.x; r < M; r += gridDim.x) {
        float s = 0;
        const float top = m[r];
        for (int i = threadIdx.x; i < N; i += 128) s += __expf(x[(size_t)r * N + i] - top);
        part[threadIdx.x] = s;
        __syncthreads();
        for (int o = 64; o; o >>= 1) {
            if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o];
            __syncthreads();
        }
        const float inverse = 1.0f / part[0];
        for (int i = threadIdx.x; i < N; i += 128) y[(size_t)r * N + i] = __expf(x[(size_t)r * N + i] - top) * inverse;
        __syncthreads();
    }
}
