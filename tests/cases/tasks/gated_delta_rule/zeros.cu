/* kernelwright
kernels:
  - name: zero_o
    grid: ["ceil_div(T * H * Dv, 256)"]
    block: 256
    args: [o, "T * H * Dv"]
  - name: zero_S
    grid: ["ceil_div(H * Dk * Dv, 256)"]
    block: 256
    args: [S, "H * Dk * Dv"]
*/
// Writes zeros to every output.
extern "C" __global__ void zero_o(float* o, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) o[i] = 0;
}

extern "C" __global__ void zero_S(float* S, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) S[i] = 0;
}
