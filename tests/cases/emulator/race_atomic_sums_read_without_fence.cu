// The last block to come reads what all blocks have summed. Its own atomics are ordered before, those of the others
// are not: __threadfence() is missing between them and the ticket.
// buffer: x input f32 512
// buffer: sum inout f32 1
// buffer: tickets inout i32 1
// buffer: y output f32 1
// launch: k grid=4 block=128 args=x,sum,tickets,y
// expect: global-race line 13 other 20
extern "C" __global__ void k(const float* x, float* sum, unsigned* tickets, float* y) {
    __shared__ bool last;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float v = x[i];
    atomicAdd(sum, v);
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicInc(tickets, gridDim.x) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    if (threadIdx.x == 0)
        y[0] = *sum;
}
