/* kernelwright
kernels:
  - name: zero_index
    grid: ["ceil_div(N, 256)"]
    block: 256
    args: [index, N]
  - name: zero_distance
    grid: ["ceil_div(N, 256)"]
    block: 256
    args: [distance, N]
*/
// Writes zeros to every output.
extern "C" __global__ void zero_index(int* index, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) index[i] = 0;
}

extern "C" __global__ void zero_distance(float* distance, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) distance[i] = 0;
}
