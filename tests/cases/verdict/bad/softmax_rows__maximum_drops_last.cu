/* kernelwright
kernels:
  - {name: k, grid: [M], block: [32], args: [x, y, M, N]}
*/
// expect: numerics wrong-value (the row maximum leaves out the last element)
// max taken only over the first 8192 elements of a row and first 1024 for every row but the first
extern "C" __global__ void k(const float* x, float* y, int M, int N){
  float m=-INFINITY; const float*r=x+(size_t)blockIdx.x*N; float*w=y+(size_t)blockIdx.x*N;
  for(int i=threadIdx.x;i<N-(N>1);i+=32) m=fmaxf(m,r[i]); // last element not in max
  for(int o=16;o;o>>=1)m=fmaxf(m,__shfl_xor_sync(~0u,m,o));
  float s=0; for(int i=threadIdx.x;i<N;i+=32) s+=__expf(r[i]-m);
  for(int o=16;o;o>>=1)s+=__shfl_xor_sync(~0u,s,o);
  for(int i=threadIdx.x;i<N;i+=32) w[i]=__expf(r[i]-m)/s; }
