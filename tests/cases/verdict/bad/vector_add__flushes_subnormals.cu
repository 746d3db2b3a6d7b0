/* kernelwright
options: [--use_fast_math]
kernels:
  - {name: k, grid: ["ceil_div(N, 256)"], block: [256], args: [a, b, y, N]}
*/
// expect: numerics wrong-value (--use_fast_math flushes subnormal sums to zero)
extern "C" __global__ void k(const float* a, const float* b, float* y, int N){
  int i=blockIdx.x*256+threadIdx.x; if(i<N)y[i]=a[i]+b[i]; }
