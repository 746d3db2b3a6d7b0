/* kernelwright
kernels:
  - name: zero_o
    grid: ["ceil_div(S * 64, 256)"]
    block: 256
    args: [o, "S * 64"]
*/
// Writes zeros to every output.
extern "C" __global__ void zero_o(float* o, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) o[i] = 0;
}
