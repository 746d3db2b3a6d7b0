/* kernelwright
kernels:
  - name: zero_values
    grid: ["ceil_div(M * 8, 256)"]
    block: 256
    args: [values, "M * 8"]
  - name: zero_indices
    grid: ["ceil_div(M * 8, 256)"]
    block: 256
    args: [indices, "M * 8"]
*/
// Writes zeros to every output.
extern "C" __global__ void zero_values(float* values, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = 0;
}

extern "C" __global__ void zero_indices(int* indices, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) indices[i] = 0;
}
