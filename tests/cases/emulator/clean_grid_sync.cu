// buffer: x input f32 512
// buffer: part scratch f32 4
// buffer: y output f32 512
// launch: normalise grid=4 block=128 cooperative args=x,part,y
// expect: clean
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void normalise(const float* x, float* part, float* y) {
    __shared__ float s[128];
    cg::grid_group grid = cg::this_grid();
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = x[i];
    __syncthreads();
    for (int k = 64; k; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) part[blockIdx.x] = s[0];
    grid.sync();
    float total = part[0] + part[1] + part[2] + part[3];
    y[i] = x[i] / total;
}
