// mma.h: every fragment shape and type, both layouts, from global and shared memory, accumulators filled, scaled and stored.
// buffer: x input i32 1024 mod 7
// launch: k grid=1 block=32 args=x
// expect: clean
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#define CHECK(x) if (!(x)) __trap()
namespace w = nvcuda::wmma;
__shared__ alignas(128) char place[8192];
template <bool Rows> struct layout_of { using type = w::row_major; };
template <> struct layout_of<false> { using type = w::col_major; };
template <class T> __device__ T number(int v) { return T(v); }
template <> __device__ __half number<__half>(int v) { return __int2half_rn(v); }
template <> __device__ __nv_bfloat16 number<__nv_bfloat16>(int v) { return __int2bfloat16_rn(v); }
template <class T> __device__ int integer(T v) { return int(float(v)); }
// A (M x K) by ROWS or columns, B (K x N) likewise; `Memory` is the element in memory, `Fragment` the fragment's.
template <int M, int N, int K, class Fragment, class Memory, class C, bool AByRows, bool BByRows>
__device__ void multiply(const int* x) {
    Memory *a = reinterpret_cast<Memory*>(place), *b = a + M * K;
    C *c = reinterpret_cast<C*>(b + K * N), *d = c + M * N;
    bool negative = integer(number<Memory>(-1)) < 0;
    for (int i = threadIdx.x; i < M * K; i += 32) a[i] = number<Memory>(x[i % 1024] - (negative ? 3 : 0));
    for (int i = threadIdx.x; i < K * N; i += 32) b[i] = number<Memory>(x[(i + 100) % 1024] - (negative ? 2 : 0));
    for (int i = threadIdx.x; i < M * N; i += 32) c[i] = number<C>(x[(i + 300) % 1024]);
    __syncwarp();
    using LayoutA = typename layout_of<AByRows>::type;
    using LayoutB = typename layout_of<BByRows>::type;
    w::fragment<w::matrix_a, M, N, K, Fragment, LayoutA> fa;
    w::fragment<w::matrix_b, M, N, K, Fragment, LayoutB> fb;
    w::fragment<w::accumulator, M, N, K, C> fc, zero;
    w::load_matrix_sync(fa, a, AByRows ? K : M);
    w::load_matrix_sync(fb, b, BByRows ? N : K);
    w::load_matrix_sync(fc, c, N, w::mem_row_major);
    w::fill_fragment(zero, number<C>(0));
    w::mma_sync(fc, fa, fb, fc);
    w::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] + zero.x[i];
    w::store_matrix_sync(d, fc, M, w::mem_col_major);
    __syncwarp();
    for (int at = threadIdx.x; at < M * N; at += 32) {
        int i = at / N, j = at % N, sum = 0;
        for (int k = 0; k < K; ++k) sum += integer(a[AByRows ? i * K + k : k * M + i]) * integer(b[BByRows ? k * N + j : j * K + k]);
        CHECK(integer(d[j * M + i]) == 2 * sum + integer(c[at]));
    }
    __syncwarp();
}
template <int M, int N, int K, class Fragment, class Memory, class C>
__device__ void both_layouts(const int* x) {
    multiply<M, N, K, Fragment, Memory, C, true, false>(x);
    multiply<M, N, K, Fragment, Memory, C, false, true>(x);
}
template <int M, int N>
__device__ void shapes(const int* x) {
    both_layouts<M, N, 16, __half, __half, __half>(x);
    both_layouts<M, N, 16, __half, __half, float>(x);
    both_layouts<M, N, 16, __nv_bfloat16, __nv_bfloat16, float>(x);
    both_layouts<M, N, 16, signed char, signed char, int>(x);
    both_layouts<M, N, 16, unsigned char, unsigned char, int>(x);
}
// Elements of less than a byte: A by rows, B by columns, eight or 32 in a word.
template <class Precision, int K, int Bits, bool Signed, class Operation>
__device__ void narrow(const int* x, Operation operation) {
    unsigned *a = reinterpret_cast<unsigned*>(place), *b = a + 8 * K * Bits / 32;
    int* d = reinterpret_cast<int*>(b + 8 * K * Bits / 32);
    for (int i = threadIdx.x; i < 8 * K * Bits / 32; i += 32) {
        a[i] = x[i] * 0x9e3779b9u;
        b[i] = x[i + 50] * 0x85ebca6bu + i;
    }
    __syncwarp();
    w::fragment<w::matrix_a, 8, 8, K, Precision, w::row_major> fa;
    w::fragment<w::matrix_b, 8, 8, K, Precision, w::col_major> fb;
    w::fragment<w::accumulator, 8, 8, K, int> fc;
    w::load_matrix_sync(fa, a, K);
    w::load_matrix_sync(fb, b, K);
    w::fill_fragment(fc, 5);
    operation(fc, fa, fb);
    w::store_matrix_sync(d, fc, 8, w::mem_row_major);
    __syncwarp();
    auto element = [](const unsigned* m, int at) {
        int v = m[at * Bits / 32] >> (at * Bits % 32) & ((1 << Bits) - 1);
        return Signed && v >> (Bits - 1) ? v - (1 << Bits) : v;
    };
    for (int at = threadIdx.x; at < 64; at += 32) {
        int sum = 5;
        for (int k = 0; k < K; ++k) {
            int p = element(a, at / 8 * K + k), q = element(b, at % 8 * K + k);
            sum += Bits == 1 ? (p ^ q) : p * q;
        }
        CHECK(d[at] == sum);
    }
    __syncwarp();
}
extern "C" __global__ void k(const int* x) {
    shapes<16, 16>(x);
    shapes<32, 8>(x);
    shapes<8, 32>(x);
    both_layouts<16, 16, 8, w::precision::tf32, float, float>(x);
    both_layouts<8, 8, 4, double, double, double>(x);
    auto plain = [](auto& c, auto& a, auto& b) { w::mma_sync(c, a, b, c); };
    narrow<w::experimental::precision::s4, 32, 4, true>(x, plain);
    narrow<w::experimental::precision::u4, 32, 4, false>(x, plain);
    narrow<w::experimental::precision::b1, 128, 1, false>(x, [](auto& c, auto& a, auto& b) { w::bmma_sync(c, a, b, c); });
}
