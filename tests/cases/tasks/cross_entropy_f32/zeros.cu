/* kernelwright
kernels:
  - name: zero_loss
    grid: ["ceil_div(M, 256)"]
    block: 256
    args: [loss, M]
*/
// Writes zeros to every output.
extern "C" __global__ void zero_loss(float* loss, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) loss[i] = 0;
}
