// cuda::atomic_ref and cuda::atomic of every width up to 8 bytes (what cuda/atomic of CUDA 13.0 makes of 16 bytes is not
// PTX that ptxas takes), every operation, order and scope, in global and shared memory.
// target: compute_90
// buffer: a inout i64 64
// launch: k grid=4 block=64 args=a
// launch: small grid=1 block=64 args=a
// expect: clean
#include <cuda/atomic>
#include <cuda/std/atomic>
#define CHECK(x) if (!(x)) __trap()
template <class T, cuda::thread_scope S>
__device__ void integer(void* at) {
    cuda::atomic_ref<T, S> r(*static_cast<T*>(at));
    r.fetch_add(T(3), cuda::memory_order_relaxed);
    r.fetch_sub(T(1), cuda::memory_order_acquire);
    r.fetch_add(T(2), cuda::memory_order_release);
    r.fetch_sub(T(3), cuda::memory_order_acq_rel);
    r += T(5);
    r -= T(4);
    r++;
    --r;
}
template <class T, cuda::thread_scope S>
__device__ void operations(T* at) {  // by one thread
    cuda::atomic_ref<T, S> r(*at);
    r.store(T(12), cuda::memory_order_release);
    CHECK(r.load(cuda::memory_order_acquire) == T(12));
    CHECK(r.exchange(T(10), cuda::memory_order_seq_cst) == T(12));
    CHECK(r.fetch_and(T(6)) == T(10) && r.load(cuda::memory_order_relaxed) == T(2));
    CHECK(r.fetch_or(T(9), cuda::memory_order_acq_rel) == T(2) && r.load() == T(11));
    CHECK(r.fetch_xor(T(3)) == T(11) && r.load() == T(8));
    CHECK(r.fetch_min(T(5)) == T(8) && r.load() == T(5));
    CHECK(r.fetch_max(T(7)) == T(5) && r.load() == T(7));
    T expected = T(1);
    CHECK(!r.compare_exchange_strong(expected, T(2)) && expected == T(7));
    CHECK(r.compare_exchange_strong(expected, T(2), cuda::memory_order_acq_rel, cuda::memory_order_acquire) && r.load() == T(2));
    while (!r.compare_exchange_weak(expected, T(0), cuda::memory_order_relaxed)) {
    }
    CHECK(r.load() == T(0));
    r.store(T(0), cuda::memory_order_relaxed);
}
template <class T, cuda::thread_scope S>
__device__ void floating(T* at) {
    cuda::atomic_ref<T, S> r(*at);
    r.store(T(1.5));
    CHECK(r.fetch_add(T(2), cuda::memory_order_relaxed) == T(1.5) && r.load() == T(3.5));
    CHECK(r.fetch_sub(T(1)) == T(3.5) && r.exchange(T(-2)) == T(2.5));
    CHECK(r.fetch_max(T(4)) == T(-2) && r.fetch_min(T(0)) == T(4) && r.load() == T(0));
}
struct alignas(8) Two { int a, b; };
__device__ bool operator==(Two x, Two y) { return x.a == y.a && x.b == y.b; }
extern "C" __global__ void k(long long* a) {
    int threads = gridDim.x * blockDim.x;
    integer<int, cuda::thread_scope_device>(a);
    integer<unsigned, cuda::thread_scope_system>(a + 1);
    integer<long long, cuda::thread_scope_device>(a + 2);
    integer<unsigned long long, cuda::thread_scope_system>(a + 3);
    // Each thread adds two in all (3 - 1 + 2 - 3 + 5 - 4); the last of them sees the sum.
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*reinterpret_cast<unsigned*>(a + 4));
    if (count.fetch_add(1, cuda::memory_order_acq_rel) == threads - 1) {
        for (int i = 0; i < 4; ++i) CHECK(cuda::atomic_ref<long long>(a[i]).load(cuda::memory_order_relaxed) == 2 * threads);
    }
    // one message for each block, through a flag
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(*reinterpret_cast<int*>(a + 8 + blockIdx.x));
    if (threadIdx.x == 0) {
        a[16 + blockIdx.x] = 100 + blockIdx.x;
        flag.store(1, cuda::memory_order_release);
        flag.notify_all();
    } else if (threadIdx.x >= 32) {
        flag.wait(0, cuda::memory_order_acquire);
        CHECK(a[16 + blockIdx.x] == 100 + blockIdx.x);
    }
}
extern "C" __global__ void small(long long* a) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> block_count;
    __shared__ long long s[8];
    __shared__ cuda::std::atomic_flag lock;
    int t = threadIdx.x;
    if (t == 0) {
        new (&block_count) cuda::atomic<int, cuda::thread_scope_block>(0);
        lock.clear();
        for (int i = 0; i < 8; ++i) s[i] = 0;
        operations<int, cuda::thread_scope_block>(reinterpret_cast<int*>(s));
        operations<unsigned, cuda::thread_scope_thread>(reinterpret_cast<unsigned*>(s));
        operations<long long, cuda::thread_scope_device>(s);
        operations<unsigned long long, cuda::thread_scope_system>(reinterpret_cast<unsigned long long*>(s));
        operations<unsigned char, cuda::thread_scope_block>(reinterpret_cast<unsigned char*>(s) + 1);
        operations<signed char, cuda::thread_scope_block>(reinterpret_cast<signed char*>(s) + 2);
        operations<unsigned short, cuda::thread_scope_block>(reinterpret_cast<unsigned short*>(s) + 1);
        operations<short, cuda::thread_scope_device>(reinterpret_cast<short*>(a + 40) + 1);
        operations<int, cuda::thread_scope_system>(reinterpret_cast<int*>(a + 41));
        operations<long long, cuda::thread_scope_block>(a + 42);
        floating<float, cuda::thread_scope_block>(reinterpret_cast<float*>(s));
        floating<double, cuda::thread_scope_device>(reinterpret_cast<double*>(a + 43));
        cuda::atomic_ref<Two> two(*reinterpret_cast<Two*>(s + 2));
        CHECK(two.exchange(Two{1, 2}) == (Two{0, 0}));
        Two seen{1, 2};
        CHECK(two.compare_exchange_strong(seen, Two{3, 4}) && two.load() == (Two{3, 4}));
        bool& made = *reinterpret_cast<bool*>(s + 4);
        made = true;
        cuda::atomic_ref<bool> yes(made);
        CHECK(yes.exchange(false) && !yes.load());
        int* places = reinterpret_cast<int*>(a);
        int*& pointer = *reinterpret_cast<int**>(s + 5);
        pointer = places;
        cuda::atomic_ref<int*> p(pointer);
        CHECK(p.fetch_add(2) == places && p.load() == places + 2 && p.fetch_sub(1) == places + 2);
        cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    }
    __syncthreads();
    block_count.fetch_add(1, cuda::memory_order_relaxed);
    // a lock that its holder releases: one thread of the block after the other
    for (bool done = false; !done;) {
        if (!lock.test_and_set(cuda::std::memory_order_acquire)) {
            s[7] += t;
            lock.clear(cuda::std::memory_order_release);
            done = true;
        }
    }
    __syncthreads();
    CHECK(block_count.load() == 64 && s[7] == 64 * 63 / 2);
}
