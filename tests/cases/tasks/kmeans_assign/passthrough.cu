/* kernelwright
kernels:
  - name: copy_to_index
    grid: ["ceil_div(N, 256)"]
    block: 256
    args: [x, index, "N * D", N]
  - name: copy_to_distance
    grid: ["ceil_div(N, 256)"]
    block: 256
    args: [x, distance, "N * D", N]
*/
// Copies the first input, over and over if it is shorter, to every output.
extern "C" __global__ void copy_to_index(const float* x, int* index, int size, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) index[i] = (int)fminf(fmaxf(float(x[i % size]), -1.0e9f), 1.0e9f);
}

extern "C" __global__ void copy_to_distance(const float* x, float* distance, int size, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) distance[i] = x[i % size];
}
