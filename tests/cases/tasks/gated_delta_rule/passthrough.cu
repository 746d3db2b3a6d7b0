/* kernelwright
kernels:
  - name: copy_to_o
    grid: ["ceil_div(T * H * Dv, 256)"]
    block: 256
    args: [q, o, "T * H * Dk", "T * H * Dv"]
  - name: copy_to_S
    grid: ["ceil_div(H * Dk * Dv, 256)"]
    block: 256
    args: [q, S, "T * H * Dk", "H * Dk * Dv"]
*/
// Copies the first input, over and over if it is shorter, to every output.
extern "C" __global__ void copy_to_o(const float* q, float* o, int size, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) o[i] = q[i % size];
}

extern "C" __global__ void copy_to_S(const float* q, float* S, int size, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) S[i] = q[i % size];
}
