// buffer: x input f32 3567
// buffer: y output f32 3567
// launch: tr_tile grid=3,2 block=32,8 args=x,y,i:41,i:87
// expect: clean
extern "C" __global__ void tr_tile(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    int r = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        if (r + k < M && c < N) tile[threadIdx.y + k][threadIdx.x] = x[(size_t)(r + k) * N + c];
    __syncthreads();
    int oc = blockIdx.y * 32 + threadIdx.x;   // column of y
    int orow = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        if (orow + k < N && oc < M) y[(size_t)(orow + k) * M + oc] = tile[threadIdx.x][threadIdx.y + k];
}
