// cuda::pipeline: of a thread, of a block in one role, with producers and consumers apart; all sizes of memcpy_async.
// buffer: x input i32 2048 mod 77
// buffer: y output i32 256
// launch: thread grid=1 block=64 args=x,y
// launch: unified grid=1 block=64 args=x
// launch: roles grid=1 block=128 args=x
// expect: clean
#include <cooperative_groups.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#define CHECK(x) if (!(x)) __trap()
namespace cg = cooperative_groups;
extern "C" __global__ void thread(const int* x, int* y) {
    __shared__ alignas(16) int s[4][64];
    __shared__ alignas(16) int4 wide[64];
    __shared__ char bytes[64 * 6];
    int t = threadIdx.x;
    auto pipe = cuda::make_pipeline();
    for (int i = 0; i < 3; ++i) {
        pipe.producer_acquire();
        cuda::memcpy_async(&s[i][t], &x[64 * i + t], sizeof(int), pipe);
        pipe.producer_commit();
    }
    for (int i = 0; i < 8; ++i) {
        if (i + 3 < 8) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[(i + 3) % 4][t], &x[64 * (i + 3) + t], sizeof(int), pipe);
            pipe.producer_commit();
        }
        if (i + 3 < 8) cuda::pipeline_consumer_wait_prior<3>(pipe);
        else cuda::pipeline_consumer_wait_prior<0>(pipe);
        CHECK(s[i % 4][t] == x[64 * i + t]);
        pipe.consumer_release();
    }
    cuda::memcpy_async(&wide[t], reinterpret_cast<const int4*>(x) + t, cuda::aligned_size_t<16>(16), pipe);
    cuda::memcpy_async(bytes + 6 * t, reinterpret_cast<const char*>(x) + 6 * t, 6, pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    CHECK(wide[t].z == x[4 * t + 2]);
    for (int i = 0; i < 6; ++i) CHECK(bytes[6 * t + i] == reinterpret_cast<const char*>(x)[6 * t + i]);
    // the primitives, with bytes that are filled with zero
    __pipeline_memcpy_async(&s[0][t], &x[t], 4, t % 2 ? 4 : 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    CHECK(s[0][t] == (t % 2 ? 0 : x[t]));
    y[t] = s[0][t];
    y[64 + t] = y[128 + t] = y[192 + t] = 0;
}
extern "C" __global__ void unified(const int* x) {
    constexpr int stages = 3;
    __shared__ alignas(16) int s[stages][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x;
    for (int compute = 0, fetch = 0; compute < 10; ++compute) {
        for (; fetch < 10 && fetch < compute + stages; ++fetch) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[fetch % stages], x + 128 * fetch, cuda::aligned_size_t<16>(512), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        CHECK(s[compute % stages][127 - t] == x[128 * compute + 127 - t] && s[compute % stages][t] == x[128 * compute + t]);
        pipe.consumer_release();
    }
}
extern "C" __global__ void roles(const int* x) {
    constexpr int stages = 2;
    __shared__ alignas(16) int s[stages][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    int t = threadIdx.x;
    // the first warp copies, the other three compute
    auto role = t < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    if (role == cuda::pipeline_role::producer) {
        for (int i = 0; i < 12; ++i) {
            pipe.producer_acquire();
            for (int k = t; k < 128; k += 32) cuda::memcpy_async(&s[i % stages][k], &x[128 * i + k], sizeof(int), pipe);
            pipe.producer_commit();
        }
    } else {
        for (int i = 0; i < 12; ++i) {
            pipe.consumer_wait();
            for (int k = t - 32; k < 128; k += 96) CHECK(s[i % stages][127 - k] == x[128 * i + 127 - k]);
            pipe.consumer_release();
        }
    }
    // a number of producers instead
    __syncthreads();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> other;
    auto counted = cuda::make_pipeline(block, &other, 64u);
    for (int i = 0; i < 4; ++i) {
        if (t < 64) {
            counted.producer_acquire();
            cuda::memcpy_async(&s[i % stages][2 * t], &x[128 * i + 2 * t], sizeof(int) * 2, counted);
            counted.producer_commit();
        } else {
            counted.consumer_wait();
            for (int k = t - 64; k < 128; k += 64) CHECK(s[i % stages][k] == x[128 * i + k]);
            counted.consumer_release();
        }
    }
    if (t < 64) counted.quit();
}
