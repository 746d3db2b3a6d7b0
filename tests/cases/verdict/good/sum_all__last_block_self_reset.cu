/* kernelwright
scratch:
  p: {dtype: f32, shape: ["ceil_div(N, 1024)*8"]}
kernels:
  - {name: k1, grid: ["ceil_div(N, 1024)"], block: [256], args: [x, p, y, N]}
*/
// the CUDA sample threadFenceReduction: atomicInc wraps to 0 by itself
__device__ unsigned count = 0;
extern "C" __global__ void k1(const float* x, volatile float* p, float*y, int N){
  __shared__ bool last; float a=0; int t=threadIdx.x;
  for(int i=0;i<4;i++){int j=blockIdx.x*1024+i*256+t; if(j<N)a+=x[j];}
  for(int o=16;o;o>>=1)a+=__shfl_down_sync(~0u,a,o);
  if(t%32==0){p[blockIdx.x*8+t/32]=a; __threadfence();}
  __syncthreads();
  if(t==0){ unsigned k=atomicInc(&count,gridDim.x-1); last=k==gridDim.x-1; }
  __syncthreads();
  if(last&&t<32){ a=0;for(int i=t;i<gridDim.x*8;i+=32)a+=p[i];
    for(int o=16;o;o>>=1)a+=__shfl_down_sync(~0u,a,o);
    if(t==0)y[0]=a; }
}
