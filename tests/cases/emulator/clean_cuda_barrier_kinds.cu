// cuda::barrier: tokens, parities, drops, a completion function, time limits, bytes of copies; latch and semaphores.
// target: compute_90
// buffer: x input i32 512 mod 50
// buffer: y output i32 128
// launch: k grid=2 block=128 args=x
// launch: others grid=1 block=64 args=x,y
// expect: clean
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/barrier>
#include <cuda/std/chrono>
#define CHECK(x) if (!(x)) __trap()
namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
extern "C" __global__ void k(const int* x) {
    __shared__ Barrier bar, pair[2];
    __shared__ alignas(16) int s[128], copied[512];
    int t = threadIdx.x;
    if (t == 0) {
        init(&bar, 128);
        init(&pair[0], 64);
        init(&pair[1], 64);
    }
    __syncthreads();
    for (int phase = 0; phase < 4; ++phase) {
        s[t] = x[t] + phase;
        auto token = bar.arrive();
        bool parity = false;
        if (phase == 0) bar.wait(std::move(token));
        if (phase == 1) while (!bar.try_wait_parity_for(parity, cuda::std::chrono::nanoseconds(50))) {}
        if (phase == 2) while (!bar.try_wait_for(std::move(token), cuda::std::chrono::nanoseconds(50))) {}
        if (phase == 3) bar.wait_parity(parity);
        CHECK(s[127 - t] == x[127 - t] + phase);
        bar.arrive_and_wait();  // phases of two: the parity of the first of them is 0
    }
    // halves with barriers of their own; the first warp leaves the second phase
    Barrier& own = pair[t / 64];
    s[t] = t;
    own.arrive_and_wait();
    CHECK(s[t ^ 63] == (t ^ 63));
    if (t % 64 < 32) {
        own.arrive_and_drop();
    } else {
        own.arrive_and_wait();
        s[t] = 2 * t;
        own.arrive_and_wait();
        CHECK(s[t ^ 31] == 2 * (t ^ 31));
    }
    __syncthreads();
    // copies that count in bytes
    auto group = cg::this_thread_block();
    cuda::memcpy_async(group, copied, x, cuda::aligned_size_t<16>(sizeof(int) * 256), bar);
    cuda::memcpy_async(&copied[256 + 2 * t], &x[256 + 2 * t], sizeof(int) * 2, bar);
    bar.arrive_and_wait();
    for (int i = t; i < 512; i += 128) CHECK(copied[i] == x[i]);
    bar.arrive_and_wait();
    if (t == 0) {
        cuda::device::memcpy_async_tx(copied, x + 128, cuda::aligned_size_t<16>(1024), bar);
        auto token = cuda::device::barrier_arrive_tx(bar, 1, 1024);
        bar.wait(std::move(token));
    } else {
        bar.arrive_and_wait();
    }
    for (int i = t; i < 256; i += 128) CHECK(copied[i] == x[128 + i]);
}
struct Count {
    int* at;
    __device__ void operator()() noexcept { *at += 1; }
};
extern "C" __global__ void others(const int* x, int* y) {
    __shared__ int completions, s[64];
    __shared__ alignas(cuda::std::barrier<Count>) char place[sizeof(cuda::std::barrier<Count>)];
    using Latch = cuda::latch<cuda::thread_scope_block>;
    using Slots = cuda::counting_semaphore<cuda::thread_scope_block, 4>;
    using Turn = cuda::binary_semaphore<cuda::thread_scope_block>;
    __shared__ alignas(Latch) char latch_place[sizeof(Latch)];
    __shared__ alignas(Slots) char slots_place[sizeof(Slots)];
    __shared__ alignas(Turn) char turn_place[sizeof(Turn)];
    Latch& latch = *reinterpret_cast<Latch*>(latch_place);
    Slots& free_slots = *reinterpret_cast<Slots*>(slots_place);
    Turn& turn = *reinterpret_cast<Turn*>(turn_place);
    int t = threadIdx.x;
    auto& bar = *reinterpret_cast<cuda::std::barrier<Count>*>(place);
    if (t == 0) {
        completions = 0;
        new (place) cuda::std::barrier<Count>(64, Count{&completions});
        new (&latch) Latch(64);
        new (&free_slots) Slots(4);
        new (&turn) Turn(1);
    }
    __syncthreads();
    for (int i = 0; i < 3; ++i) {
        bar.arrive_and_wait();
        CHECK(completions == i + 1);
        bar.arrive_and_wait();
        CHECK(completions == i + 2);
        bar.arrive_and_wait();
        if (t == 0) completions = i + 1;
        __syncthreads();
    }
    s[t] = x[t];
    latch.count_down();
    latch.wait();
    CHECK(s[63 - t] == x[63 - t] && latch.try_wait());
    free_slots.acquire();
    turn.acquire();
    completions += 1;
    turn.release();
    free_slots.release();
    __syncthreads();
    CHECK(completions == 3 + 64);
    y[t] = s[t];
    y[64 + t] = s[63 - t];
}
