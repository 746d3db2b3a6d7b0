// Cache operators, access properties, vector atomics, warp intrinsics and what else the headers have for memory and warps.
// target: compute_90
// buffer: x input i32 256 mod 101
// buffer: y inout f32 64
// buffer: z inout i32 256
// launch: zero grid=1 block=64 args=y
// launch: k grid=1 block=64 args=x,y,z
// launch: check grid=1 block=1 args=y
// expect: clean
#include <cooperative_groups.h>
#include <cuda/annotated_ptr>
#include <cuda/discard_memory>
#include <cuda_fp16.h>
#define CHECK(x) if (!(x)) __trap()
__device__ int twice(int v) { return 2 * v; }
__device__ int thrice(int v) { return 3 * v; }
__device__ int (*const table[2])(int) = {twice, thrice};
extern "C" __global__ void k(const int* x, float* y, int* z) {
    int t = threadIdx.x, v = x[t];
    CHECK(__ldg(x + t) == v && __ldca(x + t) == v && __ldcg(x + t) == v && __ldcs(x + t) == v && __ldlu(z + t) == 0 && __ldcv(z + t) == 0);
    CHECK(__ldg(reinterpret_cast<const int4*>(x) + t).w == x[4 * t + 3] && __ldcg(reinterpret_cast<const int2*>(x) + t).y == x[2 * t + 1]);
    __stwb(z + t, v + 1);
    CHECK(z[t] == v + 1);
    __stcg(z + t, v + 2);
    __stcs(z + t + 64, v + 3);
    __stwt(z + t + 128, v + 4);
    CHECK(z[t] == v + 2 && z[t + 64] == v + 3 && z[t + 128] == v + 4);
    __syncthreads();
    __stcs(reinterpret_cast<int4*>(z) + 32 + t % 32, make_int4(1, 2, 3, 4));
    // policies of the L2 cache, on loads and stores
    cuda::annotated_ptr<const int, cuda::access_property::persisting> kept(x);
    cuda::annotated_ptr<int, cuda::access_property::streaming> once(z);
    cuda::annotated_ptr<const int, cuda::access_property> mixed(x, cuda::access_property(cuda::access_property::persisting{}, 0.5f));
    CHECK(kept[t] == v && mixed[t] == v);
    once[t] = v + 5;
    CHECK(z[t] == v + 5);
    cuda::apply_access_property(x, 256, cuda::access_property::normal{});
    // sums of vectors
    atomicAdd(reinterpret_cast<float2*>(y), make_float2(1.0f, 0.5f));
    atomicAdd(reinterpret_cast<float4*>(y + 4), make_float4(1.0f, 2.0f, 3.0f, 4.0f));
    atomicAdd(reinterpret_cast<__half2*>(y + 8), __floats2half2_rn(0.5f, 1.0f));
    atomicAdd_system(y + 9, 1.0f);
    atomicAdd_block(y + 10, 2.0f);
    atomicAdd(reinterpret_cast<double*>(y + 12), 0.25);
    // the warp
    int base = t / 32 * 32, sum = 0, most = -1, all = -1, any = 0, odd = 0;
    unsigned same = 0;
    for (int i = 0; i < 32; ++i) {
        int o = x[base + i];
        sum += o;
        most = max(most, o);
        all &= o;
        any |= o;
        odd ^= o;
        same |= unsigned(o == v) << i;
    }
    unsigned full = 0xffffffff;
    CHECK(__reduce_add_sync(full, v) == sum && __reduce_max_sync(full, v) == most && __reduce_min_sync(full, -v) == -most);
    CHECK(__reduce_and_sync(full, unsigned(v)) == all && __reduce_or_sync(full, unsigned(v)) == any && __reduce_xor_sync(full, unsigned(v)) == odd);
    CHECK(__match_any_sync(full, v) == same);
    int agreed;
    CHECK(__match_all_sync(full, 5, &agreed) == full && agreed && __match_all_sync(full, v, &agreed) == 0 && !agreed);
    CHECK(__ballot_sync(full, v & 1) == __ballot_sync(full, !(v & 1)) ^ full && __any_sync(full, t % 32 == 3) && !__all_sync(full, t % 32 == 3));
    CHECK(__shfl_sync(full, (long long)v << 32, 7) == (long long)x[base + 7] << 32 && __shfl_up_sync(full, v * 0.5, 1) == (t % 32 ? x[t - 1] : v) * 0.5);
    unsigned elected = 0;
    int leader = -1;
    asm("{ .reg .pred p; elect.sync %1|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected), "=r"(leader));
    CHECK(__popc(__ballot_sync(full, elected)) == 1 && __shfl_sync(full, int(elected), leader) == 1);
    // time, sleep, calls, the stack
    long long clock_before = clock64();
    unsigned long long time_before, time_after;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time_before));
    __nanosleep(40);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time_after));
    CHECK(clock64() > clock_before && time_after >= time_before);
    CHECK(table[v & 1](v) == v * (2 + (v & 1)));
    int room[9];
    for (int i = 0; i <= v % 8; ++i) room[i] = i + v;
    CHECK(room[v % 8] == v % 8 + v);
    CHECK(__isGlobal(x) && !__isShared(x) && __isLocal(room) && __isGridConstant(&x) == false);
    // words and bytes
    CHECK(__byte_perm(0x03020100, 0x07060504, 0x7531) == 0x07050301 && __funnelshift_l(0x80000000u, 1u, 4) == 0x18u && __brev(1) == int(0x80000000) && __ffs(8) == 4 && __fns(0xf0, 0, 2) == 5);
    CHECK(__dp4a(0x01020304, 0x01010101, 5) == 15 && __dp2a_lo(0x00020003, 0x0405, 1) == 3 * 5 + 2 * 4 + 1 && __vadd4(0x01ff7f80, 0x01010101) == 0x02008081 && __vmaxs2(0x80007fff, 0x00010001) == 0x00017fff);
    CHECK(__vimax_s32_relu(-3, -5) == 0 && __viaddmax_s32(3, 4, 5) == 7 && __vibmax_u32(3, 9, reinterpret_cast<bool*>(&agreed)) == 9);
    asm volatile("griddepcontrol.wait; griddepcontrol.launch_dependents;");
}
extern "C" __global__ void zero(float* y) { y[threadIdx.x] = 0; }
extern "C" __global__ void check(float* y) {
    CHECK(y[0] == 64 && y[1] == 32 && y[4] == 64 && y[5] == 128 && y[6] == 192 && y[7] == 256 && y[9] == 64 && y[10] == 128);
    CHECK(*reinterpret_cast<double*>(y + 12) == 16 && __high2float(*reinterpret_cast<__half2*>(y + 8)) == 64);
}
