// buffer: x input f32 3567
// buffer: y output f32 3567
// launch: tr grid=3,2 block=32,32 args=x,y,i:41,i:87
// expect: out-of-bounds
// also: uninitialised-read
// also: global-race
extern "C" __global__ void tr(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    bool inside = r < M && c < N;
    if (inside) tile[threadIdx.y][threadIdx.x] = x[(size_t)r * N + c];
    __syncthreads();
    int oc = blockIdx.y * 32 + threadIdx.x, orow = blockIdx.x * 32 + threadIdx.y;
    if (inside) y[(size_t)orow * M + oc] = tile[threadIdx.x][threadIdx.y];
}
