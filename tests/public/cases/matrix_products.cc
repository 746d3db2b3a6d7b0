// Matrix products: siboehm/SGEMM_CUDA (blog "How to optimize a CUDA matmul kernel"), Bruce-Lee-LY/cuda_hgemm
// (mma and wmma by hand), leimao/CUDA-GEMM-Optimization, xlite-dev/LeetCUDA.
#include "tests/public/half.h"
#include "tests/public/source.h"

namespace kernelwright::public_sources {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// alpha A B + beta C; the strides are (row, column) of A and B.
std::vector<double> product(const std::vector<float>& a, const std::vector<float>& b, int m, int n, int k,
                            bool b_columns, double alpha = 1, double beta = 0,
                            const std::vector<float>& c = {}) {
    std::vector<double> out(std::size_t(m) * n);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int t = 0; t < k; ++t)
                sum += double(a[i * k + t]) * (b_columns ? b[j * k + t] : b[t * n + j]);
            out[i * n + j] = alpha * sum + (beta != 0 ? beta * c[i * n + j] : 0);
        }
    return out;
}

constexpr const char* siboehm = "siboehm/SGEMM_CUDA";
constexpr const char* siboehm_commit = "60cba6f9b20a198116c76f18de8047f44df8c8b8";

struct Tile {
    const char *file, *kernel;
    u32 rows, columns, threads;  // of the block's tile
    bool swapped = false;        // grid.x counts rows
    Dim3 block{0};
    int m = 256, n = 256, k = 128;
};

Source sgemm(const Tile& t) {
    Source s{std::string("sgemm-") + t.file,
             siboehm,
             siboehm_commit,
             std::string("src/kernels/") + t.file + ".cuh",
             "templates, register tiles, float4",
             fmt::format("{} x {} x {}", t.m, t.n, t.k),
             {t.kernel},
             {}};
    s.run = [t](Session& session) {
        const auto a = normal(t.m * t.k, 20), b = normal(t.k * t.n, 21), c = normal(t.m * t.n, 22);
        const auto A = session.in("A", a), B = session.in("B", b), C = session.inout("C", c);
        Dim3 grid{blocks_for(t.n, t.columns), blocks_for(t.m, t.rows)};
        if (t.swapped) std::swap(grid.x, grid.y);
        session.launch(t.kernel, {grid, t.block.x ? t.block : Dim3{t.threads}}, t.m, t.n, t.k, 0.5f, A, B,
                       3.0f, C);
        session.near("C", session.read(C), product(a, b, t.m, t.n, t.k, false, 0.5, 3, c), 0, 1e-4);
    };
    s.prologue = "#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))";
    s.replace = {};
    return s;
}

// C = A B' of halves, accumulated in halves or floats; whole numbers, so that every sum is exact.
void hgemm(Session& s, const std::string& kernel, int m, int n, int k, const LaunchShape& shape,
           bool by_size_t) {
    const auto whole = [](std::size_t count, u64 seed) {
        const auto x = integers<int>(count, seed, 5);
        std::vector<float> out;
        for (const int v : x) out.push_back(float(v - 2));
        return out;
    };
    const auto a = whole(std::size_t(m) * k, 23), b = whole(std::size_t(n) * k, 24);
    const auto A = s.in("A", to_half(a)), B = s.in("B", to_half(b));
    const auto C = s.out<u16>("C", std::size_t(m) * n);
    if (by_size_t)
        s.launch(kernel, shape, A, B, C, u64(m), u64(n), u64(k));
    else
        s.launch(kernel, shape, A, B, C, m, n, k);
    s.near("C", from_half(s.read(C)), product(a, b, m, n, k, true), 0, 0);
}

Source bruce(const std::string& file, const std::string& kernel, const std::string& features, u32 shared,
             u32 rows = 256, u32 columns = 128) {
    const int m = 512, n = 384, k = 160;
    Source s{"hgemm-" + file,
             "Bruce-Lee-LY/cuda_hgemm",
             "0d26c2e4415ab0d0af5a6bfae301275c608d46b4",
             "src/" + file + ".cu",
             features,
             fmt::format("{} x {} x {}", m, n, k),
             {kernel},
             {}};
    s.run = [=](Session& session) {
        hgemm(session, kernel, m, n, k,
              {{16, blocks_for(m, rows), blocks_for(n, columns * 16)}, {256}, shared}, true);
    };
    s.include_folders = {"src/common"};
    return s;
}

constexpr const char* leimao = "leimao/CUDA-GEMM-Optimization";
constexpr const char* leimao_commit = "747e49b418bca18557581969c78333443055fd43";

void leimao_half(Session& s, const std::string& kernel, u64 n) {
    const u64 m = 256, k = 88;  // the kernel stores whole tiles of 128 rows
    const auto whole = [](std::size_t count, u64 seed) {
        const auto x = integers<int>(count, seed, 3);
        return std::vector<float>(x.begin(), x.end());
    };
    const auto a = whole(m * k, 25), b = whole(k * n, 26), c = whole(m * n, 27);
    const auto A = s.in("A", to_half(a)), B = s.in("B", to_half(b)), C = s.inout("C", to_half(c));
    s.launch(kernel, {{blocks_for(n, 128), blocks_for(m, 128)}, {256}}, m, n, k, to_half({1.0f})[0], A, k, B,
             n, to_half({2.0f})[0], C, n);
    s.near("C", from_half(s.read(C)), product(a, b, int(m), int(n), int(k), false, 1, 2, c), 0, 0);
}
void leimao_float(Session& s, const std::string& kernel, u32 threads) {
    const u64 m = 200, n = 256, k = 88;
    const auto a = normal(m * k, 28), b = normal(k * n, 29), c = normal(m * n, 30);
    const auto A = s.in("A", a), B = s.in("B", b), C = s.inout("C", c);
    s.launch(kernel, {{blocks_for(n, 128), blocks_for(m, 128)}, {threads}}, m, n, k, 0.5f, A, k, B, n, 2.0f,
             C, n);
    s.near("C", s.read(C), product(a, b, int(m), int(n), int(k), false, 0.5, 2, c), 0, 1e-4);
}

}  // namespace

std::vector<Source> matrix_products() {
    std::vector<Source> all;
    for (const Tile& t :
         {Tile{"1_naive", "sgemm_naive", 32, 32, 0, true, {32, 32}, 100, 75, 61},
          Tile{"2_kernel_global_mem_coalesce",
               "sgemm_global_mem_coalesce<32>",
               32,
               32,
               1024,
               true,
               {0},
               100,
               75,
               61},
          Tile{"3_kernel_shared_mem_blocking", "sgemm_shared_mem_block<32>", 32, 32, 1024, true},
          Tile{"4_kernel_1D_blocktiling", "sgemm1DBlocktiling<64, 64, 8, 8>", 64, 64, 512},
          Tile{"5_kernel_2D_blocktiling", "sgemm2DBlocktiling<128, 128, 8, 8, 8>", 128, 128, 256},
          Tile{"6_kernel_vectorize", "sgemmVectorize<128, 128, 8, 8, 8>", 128, 128, 256},
          Tile{"7_kernel_resolve_bank_conflicts", "sgemmResolveBankConflicts<128, 128, 8, 8, 8>", 128, 128,
               256},
          Tile{"8_kernel_bank_extra_col", "sgemmResolveBankExtraCol<128, 128, 8, 8, 8>", 128, 128, 256},
          Tile{"9_kernel_autotuned", "sgemmAutotuned<128, 128, 16, 8, 8>", 128, 128, 256},
          Tile{"10_kernel_warptiling", "sgemmWarptiling<128, 128, 16, 64, 64, 4, 8, 4, 128>", 128, 128, 128},
          Tile{"11_kernel_double_buffering", "sgemmDoubleBuffering<128, 256, 16, 128, 32, 1, 8, 8, 256>", 128,
               256, 256},
          Tile{"12_kernel_double_buffering", "runSgemmDoubleBuffering2<128, 128, 16, 64, 64, 4, 8, 4, 128>",
               128, 128, 128}})
        all.push_back(sgemm(t));
    for (Source& s : all)
        if (s.name.starts_with("sgemm-12") || s.name.starts_with("sgemm-11")) {
            s.prologue += "\nconst int WARPSIZE = 32;";
            s.features = "cuda::barrier, memcpy_async, double buffering";
        }
    all.push_back(bruce("mma/mma_naive", "mmaNaiveKernel", "mma.m16n8k16 f16, ldmatrix", 0));
    all.back().run = [](Session& s) {
        hgemm(s, "mmaNaiveKernel", 176, 136, 160, {{blocks_for(136, 8), blocks_for(176, 16)}, {32}}, true);
    };
    all.back().sizes = "176 x 136 x 160";
    all.push_back(bruce("mma/mma_permuted", "mmaPermutedKernel", "mma, ldmatrix, permuted shared memory",
                        256 * 128 * 2));
    all.push_back(bruce("mma/mma_async_stage3", "mmaAsyncStage3Kernel",
                        "mma, ldmatrix, cp.async in three stages", (256 + 128) * 32 * 2 * 3));
    all.push_back(bruce("mma/mma_async_pg2s_ps2r", "mmaAsyncPg2sPs2rKernel",
                        "mma, ldmatrix, cp.async, two levels of pipelining", 256 * 128 * 2));
    all.push_back(bruce("wmma/wmma_async_stage3", "wmmaAsyncStage3Kernel",
                        "wmma f16, cp.async in three stages", (256 + 128) * 40 * 2 * 3));
    all.push_back(
        {"gemm-v07-wmma-double-buffered",
         leimao,
         leimao_commit,
         "src/"
         "07_2d_block_tiling_2d_warp_tiling_2d_thread_tiling_matrix_transpose_wmma_vectorized_memory_access_"
         "double_buffered.cu",
         "wmma f16, int4, double buffering",
         "256 x 256 x 88",
         {"gemm_v07_vectorized_double_buffered<__half, 128, 128, 16, 16, 16, 32, 64, 16, 16, 16, 256>"},
         {}});
    all.back().run = [kernel = all.back().kernels[0]](Session& s) { leimao_half(s, kernel, 256); };
    all.back().include_folders = {"include"};
    all.push_back({"gemm-v06-double-buffered",
                   leimao,
                   leimao_commit,
                   "src/"
                   "06_2d_block_tiling_2d_warp_tiling_2d_thread_tiling_matrix_transpose_vectorized_memory_"
                   "access_double_"
                   "buffered.cu",
                   "register tiles of a warp, int4, double buffering",
                   "200 x 256 x 88",
                   {"gemm_v06_vectorized_double_buffered<float, 128, 128, 16, 32, 64, 8, 8, 4, 8>"},
                   {}});
    all.back().run = [kernel = all.back().kernels[0]](Session& s) { leimao_float(s, kernel, 256); };
    all.back().include_folders = {"include"};
    // Three sources give the halves of a block __syncthreads() of their own. The programming guide wants the
    // condition around it to be the same for the whole block; PTX's barrier.sync 0, which waits for the
    // block's threads wherever they call it, is what they mean, and with it they are right.
    std::vector<Source> with_barrier;
    for (Source& s : all) {
        if (!s.name.starts_with("sgemm-11") && !s.name.starts_with("gemm-v0")) continue;
        Source other = s;
        other.name += "-barrier.sync";
        other.features += "; __syncthreads() read as barrier.sync 0";
        other.prologue +=
            "\n#include <cooperative_groups.h>\n#include <cuda/barrier>\n#include <cuda_fp16.h>\n#include "
            "<mma.h>\n"
            "#define __syncthreads() asm volatile(\"barrier.sync 0;\" ::: \"memory\")";
        with_barrier.push_back(other);
        if (s.name.starts_with("gemm-v07")) {
            other.name += "-ragged";
            other.sizes = "256 x 264 x 88";
            other.run = [kernel = other.kernels[0]](Session& session) { leimao_half(session, kernel, 264); };
            other.expected_fault =
                "out-of-bounds: a vector wholly past the last column is cleared from its end by more "
                "elements than it has";
            with_barrier.push_back(std::move(other));
        }
        s.expected_fault = "divergent-barrier: the two halves of the block call different __syncthreads()";
    }
    for (Source& s : with_barrier) all.push_back(std::move(s));
    return all;
}

}  // namespace kernelwright::public_sources
