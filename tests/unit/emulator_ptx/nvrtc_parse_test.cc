// What NVRTC writes, from both of its code generators, is read whole.
#include <gtest/gtest.h>

#include <set>

#include "emulator/src/ptx/parsed.h"
#include "tests/unit/emulator_ptx/nvrtc.h"

namespace emulator::ptx {
namespace {

struct Snippet {
    const char* name;
    const char* source;
    std::vector<const char*> targets;
    std::vector<const char*> opcodes;  // some that must appear
};

const std::vector<const char*> everywhere = {"75", "80", "90", "100", "120"};

const Snippet snippets[] = {
    {"matmul",
     R"(
extern "C" __global__ void k(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || j >= n) return;
  float s = 0; for (int p = 0; p < n; ++p) s += a[i * n + p] * b[p * n + j]; c[i * n + j] = s; })",
     everywhere,
     {"fma", "ld", "st", "setp", "bra"}},
    {"shared",
     R"(
struct P { float scale; double d; char tag[3]; };
extern __shared__ float dyn[];
extern "C" __global__ void __launch_bounds__(256, 2) k(float* o, const float* x, P p) {
  __shared__ float tile[32][33]; __shared__ double sd; int t = threadIdx.x;
  tile[t / 32][t % 32] = x[t] * p.scale; dyn[t] = p.d; if (t == 0) sd = 1; __syncthreads();
  float v = tile[t % 32][t / 32]; for (int m = 16; m; m >>= 1) v += __shfl_xor_sync(~0u, v, m);
  o[t] = v + dyn[255 - t] + sd; })",
     everywhere,
     {"shfl", "bar"}},
    {"calls",
     R"(
__constant__ float tab[4] = {1, 2, 3, 4}; __device__ int counter = 3;
__device__ __noinline__ float deep(float x, int n) { return n <= 0 ? x : deep(x * 0.5f, n - 1) + tab[n & 3]; }
__device__ __noinline__ float other(float x, int n) { return x + n; }
struct Big { double a[5]; }; __device__ __noinline__ Big big(Big b, int n) { b.a[n] += 1; return b; }
typedef float (*fp)(float, int); __device__ fp table[2] = {deep, other};
extern "C" __global__ void k(float* o, int n) {
  int i = threadIdx.x; Big b = {}; b = big(b, n & 3); o[i] = table[n & 1](o[i], n) + b.a[1];
  atomicAdd(&counter, 1); if (n == 77) printf("x %d %f\n", i, o[i]);
  int* q = (int*)malloc(8); if (q) { *q = 1; free(q); } if (n == 3) __trap(); assert(n != 4); })",
     everywhere,
     {"call", "atom", "trap"}},
    {"math",
     R"(
extern "C" __global__ void k(float* o, double* d, int n, long long m) {
  int i = threadIdx.x; float x = o[i]; double y = d[i];
  o[i] = sinf(x) + expf(x) + logf(x) + powf(x, 2.5f) + tanhf(x) + erff(x) + sqrtf(x) + rsqrtf(x) + fmodf(x, 3);
  d[i] = sin(y) + exp(y) + log(y) + pow(y, 1.5) + sqrt(y) / y; o[i + 1] = n / (i + 1) + n % (i + 3) + m / (i + 2);
  switch (n) { case 0: o[2] = 1; break; case 1: o[3] = 2; break; case 2: o[4] = 7; break; case 3: o[1] = 3;
  case 4: o[9] = 4; break; case 5: o[8] = 3; break; case 6: o[7] = 2; break; default: o[6] = 1; } })",
     everywhere,
     {"ex2", "div", "rem"}},
    {"half",
     R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void k(__half* h, __half2* h2, __nv_bfloat16* b, __nv_bfloat162* b2) {
  int i = threadIdx.x; h[i] = __hfma(h[i], h[i + 1], hexp(h[i])); h2[i] = __hmul2(h2[i], __hmax2(h2[i], h2[1]));
  b[i] = __hadd(b[i], __float2bfloat16(1.5f)); b2[i] = __hfma2(b2[i], b2[1], b2[2]);
  if (__hlt(h[i], h[2])) atomicAdd(h2 + 5, h2[i]); })",
     {"80", "90", "100", "120"},
     {"fma", "cvt"}},
    {"wmma",
     R"(
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(const __half* a, const __half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> A;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> B;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> C; wmma::fill_fragment(C, 0.f);
  wmma::load_matrix_sync(A, a, 16); wmma::load_matrix_sync(B, b, 16); wmma::mma_sync(C, A, B, C);
  wmma::store_matrix_sync(c, C, 16, wmma::mem_row_major); })",
     everywhere,
     {"wmma"}},
    {"async",
     R"(
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float4* x, float* o) {
  __shared__ float4 s[128]; __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 16);
  __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads(); o[threadIdx.x] = s[127 - threadIdx.x].x; })",
     {"80", "90", "100", "120"},
     {"cp"}},
    {"groups",
     R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(int* o) {
  auto g = cg::this_grid(); auto b = cg::this_thread_block(); auto t = cg::tiled_partition<16>(b);
  int v = t.shfl_down(o[b.thread_rank()], 3) + t.any(o[0]) + __reduce_add_sync(~0u, o[1]) + __match_any_sync(~0u, o[2]);
  g.sync(); o[b.thread_rank()] = v + __syncthreads_count(v) + clock64() + __activemask(); })",
     {"80", "90", "100", "120"},
     {"redux", "match", "activemask"}},
    {"inline_asm",
     R"(
extern "C" __global__ void k(unsigned* o) {
  unsigned r, p; unsigned long long w = (unsigned long long)o;
  asm volatile("{ .reg .pred p; .reg .b32 t; setp.ne.u32 p, %1, 0; @p mov.u32 t, 5; @!p mov.u32 t, 6;\n"
               "  bra.uni DONE; nop; DONE: add.u32 %0, t, 1; }" : "=r"(r) : "r"(o[0]));
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; selp.u32 %0, 1, 0, p; DONE: nop; }" : "=r"(p) : "r"(o[1]));
  asm volatile("ld.global.L1::no_allocate.L2::128B.v2.b32 {%0, %1}, [%2 + 8];" : "=r"(r), "=r"(p) : "l"(w));
  asm volatile("prmt.b32 %0, %1, %2, 0x5410; // join\n" : "=r"(r) : "r"(p), "r"(r));
  asm volatile("st.global.b32 [%0 + -(-4)], %1; /* two\n lines */" :: "l"(w), "n"(1 + 2)); o[3] = r; })",
     everywhere,
     {"prmt", "selp"}},
    {"hopper",
     R"(
struct alignas(64) M { char b[128]; };
extern "C" __global__ void __cluster_dims__(2, 1, 1) k(const __grid_constant__ M m, float* o) {
  __shared__ alignas(128) float s[1024]; __shared__ unsigned long long bar; unsigned sb = (unsigned)__cvta_generic_to_shared(&bar);
  unsigned d = (unsigned)__cvta_generic_to_shared(s);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(sb));
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
    :: "r"(d), "l"((unsigned long long)&m), "r"(0), "r"(0), "r"(sb) : "memory");
  asm volatile("{ .reg .pred P1; LAB_WAIT: mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1; @P1 bra DONE; bra LAB_WAIT; DONE: }"
    :: "r"(sb), "r"(0));
  float c[4] = {}; asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }"
    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "l"(1ull), "l"(2ull), "r"(1));
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"); o[0] = c[0] + s[3]; })",
     {"90a"},
     {"wgmma", "mbarrier"}},
};

TEST(NvrtcParse, EverySnippetIsReadWhole) {
    for (const Snippet& snippet : snippets) {
        for (const char* target : snippet.targets) {
            SCOPED_TRACE(std::string(snippet.name) + " for compute_" + target);
            const auto compiled = test::compile_cuda(snippet.source, target);
            if (!compiled.available) GTEST_SKIP() << "no NVRTC found: set CUDA_HOME to a toolkit";
            ASSERT_FALSE(compiled.ptx.empty()) << compiled.log;
            auto result = parse(compiled.ptx);
            if (const auto* error = std::get_if<LoadError>(&result)) {
                FAIL() << "line " << error->ptx_line << ": " << error->message << " [" << error->instruction
                       << "]";
            }
            const Module& module = std::get<Module>(result);
            const std::int32_t kernel = module.find_function("k");
            ASSERT_GE(kernel, 0);
            std::set<std::string> seen;
            int placed = 0;
            for (const Function& function : module.functions) {
                for (const Instruction& instruction : function.code) {
                    seen.insert(instruction.opcode);
                    placed += instruction.source.line > 0;
                }
            }
            for (const char* opcode : snippet.opcodes) EXPECT_TRUE(seen.contains(opcode)) << opcode;
            EXPECT_GT(placed, 0);
            EXPECT_NE(module.files.at(0), "");
            // What ends with the module's text must not be cut: every statement became an instruction.
            std::size_t statements = 0;
            for (std::size_t at = 0; (at = compiled.ptx.find("\n\tst.", at)) != std::string::npos; ++at) {
                ++statements;
            }
            std::size_t stores = 0;
            for (const Function& function : module.functions) {
                for (const Instruction& instruction : function.code) {
                    stores += instruction.opcode == "st" && !instruction.predicate;
                }
            }
            EXPECT_GE(stores, statements);
        }
    }
}

TEST(NvrtcParse, HeadersWithLargeTables) {
    const auto compiled = test::compile_cuda(
        "#include <curand_kernel.h>\nextern \"C\" __global__ void k(float* o) {"
        " curandStateXORWOW_t s; curand_init(7, threadIdx.x, 0, &s); o[threadIdx.x] = curand_normal(&s); }",
        "80");
    if (!compiled.available) GTEST_SKIP() << "no NVRTC found: set CUDA_HOME to a toolkit";
    ASSERT_GT(compiled.ptx.size(), 900'000u) << compiled.log;
    auto result = parse(compiled.ptx);
    ASSERT_TRUE(std::holds_alternative<Module>(result)) << std::get<LoadError>(result).message;
    std::size_t data = 0;
    for (const auto& variable : std::get<Module>(result).variables) data += variable->data.size();
    EXPECT_GT(data, 100'000u);
}

}  // namespace
}  // namespace emulator::ptx
