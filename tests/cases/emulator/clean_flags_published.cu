// buffer: x input f32 640
// buffer: data scratch f32 640
// buffer: flag inout i32 64
// buffer: y output f32 5
// launch: fenced grid=2 block=128 cooperative args=x,data,flag,y
// launch: ordered grid=2 block=128 cooperative args=x,data,flag,y
// launch: all_fence grid=5 block=128 args=x,data,flag,y
// launch: leader_fences grid=5 block=128 args=x,data,flag,y
// launch: strong_reads grid=2 block=32 cooperative args=x,data,flag,y
// launch: between_warps grid=1 block=128 args=x,data,y
// expect: clean
#include <cuda/atomic>
extern "C" __global__ void fenced(const float* x, float* data, volatile int* flag, float* y) {
    if (blockIdx.x == 1) {
        data[threadIdx.x] = x[threadIdx.x] + 1.f;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            flag[0] = 1;
        }
    } else {
        if (threadIdx.x == 0) {
            while (flag[0] == 0) {}
            __threadfence();
        }
        __syncthreads();
        if (threadIdx.x == 127) y[0] = data[3] + data[100];
    }
}
extern "C" __global__ void ordered(const float* x, float* data, int* flag, float* y) {
    cuda::atomic_ref<int, cuda::thread_scope_device> f(flag[8]);
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        data[600] = x[2] + 1.f;
        f.store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 0 && threadIdx.x == 0) {
        while (f.load(cuda::memory_order_acquire) == 0) {}
        y[1] = data[600];
    }
}
extern "C" __global__ void all_fence(const float* x, float* data, int* count, float* y) {
    __shared__ bool last;
    data[blockIdx.x * 128 + threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x] * 2.f;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(count + 16, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        float s = 0.f;
        for (int i = threadIdx.x; i < 640; i += 128) s += data[i];
        for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
        if (threadIdx.x == 0) {
            y[2] = s;
            count[16] = 0;
        }
    }
}
extern "C" __global__ void leader_fences(const float* x, volatile float* data, int* count, float* y) {
    __shared__ bool last;
    data[blockIdx.x * 128 + threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x] * 2.f;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(count + 24, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 64) {
        float s = 0.f;
        for (int i = 0; i < 640; ++i) s += data[i];
        y[3] = s;
    }
}
extern "C" __global__ void strong_reads(const float* x, float* data, volatile int* flag, float* y) {
    if (threadIdx.x) return;
    if (blockIdx.x == 1) {
        data[600] = x[2] + 1.f;
        __threadfence();
        flag[32] = 1;
    } else {
        while (flag[32] == 0) {}
        y[4] = *(volatile float*)(data + 600);
    }
}
extern "C" __global__ void between_warps(const float* x, float* data, float* y) {
    __shared__ volatile int ready[4];
    __shared__ float s[4];
    if (threadIdx.x < 4) ready[threadIdx.x] = 0;
    __syncthreads();
    const int w = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) {
        float before = 0.f;
        if (w) {
            while (ready[w - 1] == 0) {}
            __threadfence_block();
            before = s[w - 1];
        }
        s[w] = before + x[threadIdx.x];
        __threadfence_block();
        ready[w] = 1;
        if (w == 3) y[0] = s[3];
    }
}
