/* kernelwright
kernels:
  - name: copy_to_values
    grid: ["ceil_div(M * 8, 256)"]
    block: 256
    args: [x, values, "M * N", "M * 8"]
  - name: copy_to_indices
    grid: ["ceil_div(M * 8, 256)"]
    block: 256
    args: [x, indices, "M * N", "M * 8"]
*/
// Copies the first input, over and over if it is shorter, to every output.
extern "C" __global__ void copy_to_values(const float* x, float* values, int size, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = x[i % size];
}

extern "C" __global__ void copy_to_indices(const float* x, int* indices, int size, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) indices[i] = (int)fminf(fmaxf(float(x[i % size]), -1.0e9f), 1.0e9f);
}
