/* kernelwright
scratch:
  d: {dtype: f64, shape: [1]}
kernels:
  - {name: z, grid: [1], block: [1], args: [d]}
  - {name: k, grid: [12], block: [64], args: [x,d,N]}
  - {name: f, grid: [1], block: [1], args: [d,y]}
*/
// the atomicAdd of the CUDA C++ Programming Guide, letter by letter
__device__ double atomicAddG(double* address, double val) { unsigned long long int* address_as_ull = (unsigned long long int*)address; unsigned long long int old = *address_as_ull, assumed; do { assumed = old; old = atomicCAS(address_as_ull, assumed, __double_as_longlong(val + __longlong_as_double(assumed))); } while (assumed != old); return __longlong_as_double(old); }
extern "C" __global__ void z(double* d) { *d = 0; }
extern "C" __global__ void k(const float* x, double* d, int N) { double s = 0; for (int i = blockIdx.x*64+threadIdx.x; i < N; i += 768) s += x[i]; for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o); if (threadIdx.x%32 == 0) atomicAddG(d, s); }
extern "C" __global__ void f(const double* d, float* y) { *y = (float)*d; }
