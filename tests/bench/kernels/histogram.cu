// Irregular: 256 bins in shared memory by atomics, then merged by global ones.
extern "C" __global__ void histogram(const float* in, const float* unused, float* bins, int n) {
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
    __syncthreads();
    const unsigned* words = reinterpret_cast<const unsigned*>(in);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[words[i] * 2654435761u >> 24], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(reinterpret_cast<unsigned*>(bins) + i, local[i]);
}
