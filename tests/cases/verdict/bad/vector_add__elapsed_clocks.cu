/* kernelwright
kernels:
  - {name: k, grid: ["ceil_div(N,128)"], block: [128], args: [a,b,y,N]}
*/
// expect: numerics wrong-value (a load and a fence take more than 100 cycles)
extern "C" __global__ void k(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x*128+threadIdx.x; if (i >= N) return;
    long long t0 = clock64(); float s = a[i] + b[i]; y[i] = s; __threadfence(); long long t1 = clock64();
    if (t1 - t0 > 100) y[i] = 0.f;   // on a GPU a load miss and a fence take hundreds of cycles
}
