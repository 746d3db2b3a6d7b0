/* kernelwright
kernels:
  - name: zero_z
    grid: ["ceil_div(N, 256)"]
    block: 256
    args: [z, N]
*/
// Writes zeros to every output.
extern "C" __global__ void zero_z(float* z, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) z[i] = 0;
}
