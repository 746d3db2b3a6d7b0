// Samples of NVIDIA/cuda-samples.
#include <algorithm>
#include <numeric>

#include "tests/public/source.h"

namespace kernelwright::public_sources {
namespace {

using u32 = std::uint32_t;

constexpr const char* repository = "NVIDIA/cuda-samples";
constexpr const char* commit = "c94ff366aed18c797b8a85dfaac7817b0228b420";

std::vector<u32> exclusive_sums(const std::vector<u32>& x, std::size_t length) {
    std::vector<u32> out(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) out[i] = i % length == 0 ? 0 : out[i - 1] + x[i - 1];
    return out;
}

void scan(Session& s) {
    const auto x = integers<u32>(8 * 1024, 1, 1000);
    for (const u32 length : {4u, 64u, 1024u}) {
        const auto src = s.in("src", x);
        const auto dst = s.out<u32>("dst", x.size());
        s.launch("scanExclusiveShared", {{8}, {256}}, dst, src, length);
        s.equal("short", s.read(dst), exclusive_sums(x, length));
    }
    const auto src = s.in("src", x);
    const auto dst = s.out<u32>("dst", x.size()), sums = s.out<u32>("sums", 8);
    s.launch("scanExclusiveShared", {{8}, {256}}, dst, src, 1024u);
    s.launch("scanExclusiveShared2", {{1}, {256}}, sums, dst, src, 8u, 8u);
    s.launch("uniformUpdate", {{8}, {256}}, dst, sums);
    s.equal("large", s.read(dst), exclusive_sums(x, x.size()));
}

double sum_of(const std::vector<float>& x) { return std::accumulate(x.begin(), x.end(), 0.0); }

void fence_reduction(Session& s) {
    const auto x = normal(30'011, 2);
    for (const u32 blocks : {1u, 13u, 64u}) {
        const auto src = s.in("x", x);
        const auto dst = s.out<float>("sums", blocks);
        s.launch("reduceSinglePass<128, false>", {{blocks}, {128}, 128 * 4}, src, dst, u32(x.size()));
        s.near("sum", std::vector<float>{s.read(dst)[0]}, std::vector<double>{sum_of(x)}, 0, 0.02);
    }
    const auto src = s.in("x", x);
    const auto dst = s.out<float>("sums", 16);
    s.launch("reduceMultiPass<128, false>", {{16}, {128}, 128 * 4}, src, dst, u32(x.size()));
    s.near("sum", std::vector<float>{float(sum_of(s.read(dst)))}, std::vector<double>{sum_of(x)}, 0, 0.02);
}

void reduction(Session& s) {
    const auto x = integers<int>(10'007, 3, 2000);
    const int total = std::accumulate(x.begin(), x.end(), 0);
    const auto check = [&](const std::string& kernel, u32 blocks, u32 shared) {
        const auto src = s.in("x", x);
        const auto dst = s.out<int>("sums", blocks);
        s.launch(kernel, {{blocks}, {256}, shared}, src, dst, u32(x.size()));
        const auto sums = s.read(dst);
        s.equal(kernel, std::vector<int>{std::accumulate(sums.begin(), sums.end(), 0)},
                std::vector<int>{total});
    };
    const u32 one = blocks_for(x.size(), 256), two = blocks_for(x.size(), 512);
    for (const char* k : {"reduce0<int>", "reduce1<int>", "reduce2<int>"}) check(k, one, 1024);
    for (const char* k : {"reduce3<int>", "reduce4<int, 256>", "reduce5<int, 256>"}) check(k, two, 1024);
    for (const char* k : {"reduce6<int, 256, false>", "reduce7<int, 256, false>", "cg_reduce<int>"})
        check(k, 7, 1024);
    check("multi_warp_cg_reduce<int, 256, 64>", 7, 1024);
}

void float_reduction(Session& s) {
    const auto y = normal(5'003, 4);
    const auto src = s.in("y", y);
    const auto dst = s.out<float>("sums", 5);
    s.launch("reduce7<float, 256, false>", {{5}, {256}, 1024}, src, dst, u32(y.size()));
    s.near("float", std::vector<float>{float(sum_of(s.read(dst)))}, std::vector<double>{sum_of(y)}, 0, 0.01);
}

void histogram(Session& s) {
    const auto x = integers<u32>(20'011, 5, 0x100000000ull);
    const auto src = s.in("x", x);
    const auto partial = s.out<u32>("partial", 24 * 256), dst = s.out<u32>("histogram", 256);
    s.launch("histogram256Kernel", {{24}, {192}}, partial, src, u32(x.size()));
    s.launch("mergeHistogram256Kernel", {{256}, {256}}, dst, partial, 24u);
    std::vector<u32> want(256);
    for (const u32 v : x)
        for (int k = 0; k < 4; ++k) ++want[v >> (8 * k) & 255];
    s.equal("histogram", s.read(dst), want);
}

void bitonic(Session& s) {
    const u32 n = 8192;
    const auto keys = integers<u32>(n, 6, 5000);
    std::vector<u32> values(n);
    std::iota(values.begin(), values.end(), 0u);
    const auto check = [&](Buffer<u32> k, Buffer<u32> v, u32 length, bool up) {
        auto want = keys;
        for (u32 at = 0; at < n; at += length) {
            std::sort(want.begin() + at, want.begin() + at + length);
            if (!up) std::reverse(want.begin() + at, want.begin() + at + length);
        }
        const auto got = s.read(k), index = s.read(v);
        s.equal("keys", got, want);
        std::vector<bool> seen(n);
        bool belongs = true;
        for (u32 i = 0; i < n; ++i) {
            belongs = belongs && index[i] < n && !seen[index[i]] && keys[index[i]] == got[i];
            if (index[i] < n) seen[index[i]] = true;
        }
        s.require("values follow their keys", belongs);
    };
    {
        const auto k = s.in("keys", keys), v = s.in("values", values);
        const auto dk = s.out<u32>("dkeys", n), dv = s.out<u32>("dvalues", n);
        s.launch("bitonicSortShared", {{n / 1024}, {512}}, dk, dv, k, v, 256u, 0u);
        check(dk, dv, 256, false);
    }
    const auto k = s.in("keys", keys), v = s.in("values", values);
    const auto dk = s.out<u32>("dkeys", n), dv = s.out<u32>("dvalues", n);
    s.launch("bitonicSortShared1", {{n / 1024}, {512}}, dk, dv, k, v);
    for (u32 size = 2048; size <= n; size <<= 1) {
        for (u32 stride = size / 2; stride > 0; stride >>= 1) {
            if (stride >= 1024) {
                s.launch("bitonicMergeGlobal", {{n / 512}, {256}}, dk, dv, dk, dv, n, size, stride, 1u);
            } else {
                s.launch("bitonicMergeShared", {{n / 1024}, {512}}, dk, dv, dk, dv, n, size, 1u);
                break;
            }
        }
    }
    check(dk, dv, n, true);
}

void aggregated_atomics(Session& s) {
    const int n = 9'973, buckets = 7;
    auto x = integers<int>(n, 7, 200);
    for (int& v : x) v -= 80;
    {
        const auto src = s.in("src", x), count = s.inout("count", std::vector<int>{0});
        const auto dst = s.out<int>("dst", n);
        s.launch("filter_arr", {{5}, {512}}, dst, count, src, n);
        std::vector<int> want;
        std::copy_if(x.begin(), x.end(), std::back_inserter(want), [](int v) { return v > 0; });
        s.equal("count", s.read(count), std::vector<int>{int(want.size())});
        auto got = s.read(dst);
        got.resize(want.size());
        std::sort(got.begin(), got.end());
        std::sort(want.begin(), want.end());
        s.equal("kept", got, want);
    }
    auto labels = integers<int>(n, 8, buckets);
    std::vector<int> starts(buckets), counts(buckets);
    for (int b = 0; b < buckets; ++b) starts[b] = b * n;
    const auto src = s.in("labels", labels), count = s.inout("counts", starts);
    const auto indices = s.out<int>("indices", std::size_t(n) * buckets);
    s.launch("mapToBuckets", {{6}, {512}}, src, indices, count, n, buckets);
    for (const int l : labels) ++counts[l];
    const auto got = s.read(count), where = s.read(indices);
    for (int b = 0; b < buckets; ++b) {
        std::vector<int> members(where.begin() + b * n, where.begin() + got[b]), want;
        for (int i = 0; i < n; ++i)
            if (labels[i] == b) want.push_back(i);
        std::sort(members.begin(), members.end());
        s.equal("bucket", members, want);
    }
    const auto values = integers<int>(n, 9, 1'000'000);
    const auto v = s.in("values", values), top = s.inout("top", std::vector<int>(buckets, 0));
    s.launch("calculateMaxInEachBuckets", {{6}, {512}}, src, v, top, n, buckets);
    std::vector<int> want(buckets, 0);
    for (int i = 0; i < n; ++i) want[labels[i]] = std::max(want[labels[i]], values[i]);
    s.equal("top", s.read(top), want);
}

void conjugate_gradient(Session& s) {
    const int n = 1'201;
    std::vector<int> rows{0}, columns;
    std::vector<float> values;
    for (int i = 0; i < n; ++i) {  // tridiagonal, diagonally dominant
        for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
            columns.push_back(j);
            values.push_back(i == j ? 10.0f + float(i % 7) : -1.0f);
        }
        rows.push_back(int(columns.size()));
    }
    const auto I = s.in("I", rows), J = s.in("J", columns);
    const auto val = s.in("val", values), x = s.inout("x", std::vector<float>(n, 0)),
               r = s.inout("r", std::vector<float>(n, 1));
    const auto Ax = s.scratch<float>("Ax", n), p = s.scratch<float>("p", n);
    const auto dot = s.inout("dot", std::vector<double>{0});
    s.launch("gpuConjugateGradient", {{4}, {512}, 17 * 8, true}, I, J, val, x, Ax, p, r, dot,
             int(values.size()), n, 1e-5f);
    const auto got = s.read(x);
    std::vector<double> product(n), ones(n, 1.0);
    for (int i = 0; i < n; ++i)
        for (int k = rows[i]; k < rows[i + 1]; ++k) product[i] += double(values[k]) * got[columns[k]];
    s.near("A x", product, ones, 0, 1e-4);
}

std::vector<double> product(const std::vector<float>& a, const std::vector<float>& b, int m, int n, int k) {
    std::vector<double> c(std::size_t(m) * n);
    for (int i = 0; i < m; ++i)
        for (int t = 0; t < k; ++t)
            for (int j = 0; j < n; ++j) c[i * n + j] += double(a[i * k + t]) * b[t * n + j];
    return c;
}

void async_copy_gemm(Session& s, const std::string& kernel, const Dim3& block) {
    const int m = 64, n = 96, k = 160;
    const auto a = normal(m * k, 10), b = normal(k * n, 11);
    const auto A = s.in("A", a), B = s.in("B", b);
    const auto C = s.out<float>("C", m * n);
    s.launch(kernel, {{n / 16, m / 16}, block}, C, A, B, k, n);
    s.near("C", s.read(C), product(a, b, m, n, k), 0, 1e-4);
}
// The kernels that index B by A's width are right for constant matrices only, which is what the sample gives.
void async_copy_constant(Session& s, const std::string& kernel) {
    const int n = 160;
    const auto A = s.in("A", std::vector<float>(n * n, 1.0f)),
               B = s.in("B", std::vector<float>(n * n, 0.25f));
    const auto C = s.out<float>("C", n * n);
    s.launch(kernel, {{n / 16, n / 16}, {16, 16}}, C, A, B, n, n);
    s.near("C", s.read(C), std::vector<double>(n * n, 0.25 * n), 0, 1e-5);
}

void bf16_gemm(Session& s) {
    const int m = 256, n = 128, k = 256;
    const auto whole = [](std::size_t count, std::uint64_t seed) {
        const auto x = integers<int>(count, seed, 3);
        return std::vector<float>(x.begin(), x.end());
    };
    const auto bits = [](const std::vector<float>& x) {
        std::vector<std::uint16_t> out;
        for (const float v : x) out.push_back(std::uint16_t(std::bit_cast<u32>(v) >> 16));
        return out;
    };
    const auto a = whole(m * k, 12), bt = whole(n * k, 13), c = whole(m * n, 14);
    std::vector<double> want(m * n);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int t = 0; t < k; ++t) sum += double(a[i * k + t]) * bt[j * k + t];
            want[i * n + j] = 1.5 * sum + 0.75 * c[i * n + j];
        }
    const auto A = s.in("A", bits(a)), B = s.in("B", bits(bt));
    const auto C = s.in("C", c);
    const u32 shared = std::max(256 * (8 * 16 + 16) * 2, 128 * 128 * 4);
    for (const char* kernel : {"compute_bf16gemm", "compute_bf16gemm_async_copy"}) {
        const auto D = s.out<float>("D", m * n);
        s.launch(kernel, {{2}, {256}, shared}, A, B, C, D, 1.5f, 0.75f);
        s.near(kernel, s.read(D), want, 1e-6, 0);
    }
}
// Square: the kernel compares B's column with the wrong bound when K is larger than N.
void simple_bf16_gemm(Session& s) {
    const int n = 128;
    std::vector<std::uint16_t> a(n * n, 0x3f80), b(n * n, 0x4000);  // 1 and 2
    for (int i = 0; i < n; ++i) a[i * n + (i * 7) % n] = 0x40a0;    // 5
    std::vector<double> want(n * n, 1.5 * (2 * (n - 1) + 10) + 0.75);
    const auto A = s.in("A", a), B = s.in("B", b);
    const auto C = s.in("C", std::vector<float>(n * n, 1));
    const auto D = s.out<float>("D", n * n);
    s.launch("simple_wmma_bf16gemm", {{n / 64, n / 64}, {128, 4}}, A, B, C, D, n, n, n, 1.5f, 0.75f);
    s.near("simple", s.read(D), want, 1e-6, 0);
}

// Square, since these kernels compare the columns of B with the wrong bound, too.
template <class In, class Out>
void simple_wmma(Session& s, const std::string& kernel, int n, Out alpha, Out beta, u32 rows) {
    const auto a = integers<In>(n * n, 17, 7), b = integers<In>(n * n, 18, 9);
    const auto c = integers<Out>(n * n, 19, 5);
    std::vector<Out> want(n * n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            Out sum = 0;
            for (int t = 0; t < n; ++t) sum += Out(a[i * n + t]) * Out(b[j * n + t]);
            want[i * n + j] = alpha * sum + beta * c[i * n + j];
        }
    const auto A = s.in("A", a), B = s.in("B", b);
    const auto C = s.in("C", c), D = s.out<Out>("D", n * n);
    s.launch(kernel, {{u32(n) / (4 * rows), u32(n) / (4 * rows)}, {128, 4}}, A, B, C, D, n, n, n, alpha,
             beta);
    s.equal("D", s.read(D), want);
}

void print(Session& s) {
    s.launch("testKernel", {{2, 2}, {2, 2, 2}}, 10);
    std::vector<std::string> lines, want;
    std::string line;
    for (const char c : s.printed()) {
        if (c != '\n') {
            line += c;
            continue;
        }
        lines.push_back(line);
        line.clear();
    }
    for (int block = 0; block < 4; ++block)
        for (int thread = 0; thread < 8; ++thread)
            want.push_back(fmt::format("[{}, {}]:\t\tValue is:10", block, thread));
    std::sort(lines.begin(), lines.end());
    s.require("the printed lines", lines == want);
}

// copySharedMem is for square matrices: it compares x with the height.
void transposes(Session& s, bool square) {
    const int w = square ? 96 : 160, h = 96;
    const auto x = normal(w * h, 15);
    std::vector<float> turned(w * h);
    for (int y = 0; y < h; ++y)
        for (int c = 0; c < w; ++c) turned[c * h + y] = x[y * w + c];
    const auto src = s.in("x", x);
    for (const char* kernel : {"copy", "copySharedMem", "transposeNaive", "transposeCoalesced",
                               "transposeNoBankConflicts", "transposeDiagonal"}) {
        if (!square && std::string(kernel) == "copySharedMem") continue;
        const auto dst = s.out<float>("y", w * h);
        s.launch(kernel, {{u32(w / 32), u32(h / 32)}, {32, 16}}, dst, src, w, h);
        s.equal(kernel, s.read(dst), std::string(kernel).starts_with("copy") ? x : turned);
    }
}

void black_scholes(Session& s) {
    const int n = 10'002;
    std::mt19937 random(16);
    std::uniform_real_distribution<float> price(5, 30), strike(1, 100), years(0.25f, 10);
    std::vector<float> S(n), X(n), T(n);
    for (int i = 0; i < n; ++i) S[i] = price(random), X[i] = strike(random), T[i] = years(random);
    const auto dS = s.in("S", S), dX = s.in("X", X), dT = s.in("T", T);
    const auto call = s.out<float>("call", n), put = s.out<float>("put", n);
    s.launch("BlackScholesGPU", {{blocks_for(n / 2, 128)}, {128}}, call, put, dS, dX, dT, 0.02f, 0.30f, n);
    std::vector<double> c(n), p(n);
    const auto phi = [](double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); };
    for (int i = 0; i < n; ++i) {
        const double root = std::sqrt(double(T[i]));
        const double d1 = (std::log(double(S[i]) / X[i]) + (0.02 + 0.045) * T[i]) / (0.30 * root),
                     d2 = d1 - 0.30 * root;
        const double discount = std::exp(-0.02 * T[i]);
        c[i] = S[i] * phi(d1) - X[i] * discount * phi(d2);
        p[i] = X[i] * discount * phi(-d2) - S[i] * phi(-d1);
    }
    s.near("call", s.read(call), c, 0, 1e-4);  // the sample's polynomial has an error of 1e-7 times the price
    s.near("put", s.read(put), p, 0, 1e-4);
}

}  // namespace

std::vector<Source> cuda_samples() {
    const std::string two = "Samples/2_Concepts_and_Techniques/", three = "Samples/3_CUDA_Features/";
    const std::string copy = three + "globalToShmemAsyncCopy/globalToShmemAsyncCopy.cu";
    std::vector<Source> all{
        {"scan",
         repository,
         commit,
         two + "scan/scan.cu",
         "cooperative groups, volatile shared memory, uint4",
         "8192 values in rows of 4, 64, 1024, 8192",
         {"scanExclusiveShared", "scanExclusiveShared2", "uniformUpdate"},
         scan},
        {"thread-fence-reduction",
         repository,
         commit,
         two + "threadFenceReduction/threadFenceReduction_kernel.cuh",
         "last block by atomicInc and __threadfence, tiles, dynamic shared memory",
         "30 011 values, 1, 13, 64 blocks",
         {"reduceSinglePass<128, false>", "reduceMultiPass<128, false>"},
         fence_reduction},
        {"reduction",
         repository,
         commit,
         two + "reduction/reduction_kernel.cu",
         "templates, tiles, cg::reduce, tiles of several warps, redux",
         "10 007 values",
         {"reduce0<int>", "reduce1<int>", "reduce2<int>", "reduce3<int>", "reduce4<int, 256>",
          "reduce5<int, 256>", "reduce6<int, 256, false>", "reduce7<int, 256, false>", "cg_reduce<int>",
          "multi_warp_cg_reduce<int, 256, 64>"},
         reduction},
        {"reduction-float",
         repository,
         commit,
         two + "reduction/reduction_kernel.cu",
         "shuffles with a ballot as their mask",
         "5003 values",
         {"reduce7<float, 256, false>"},
         float_reduction,
         "invalid-shuffle: the last sum shuffles from 16 and 8 lanes further on, which are not in its mask "
         "of 8 lanes: the "
         "value is undefined by the programming guide"},
        {"histogram256",
         repository,
         commit,
         two + "histogram/histogram256.cu",
         "shared atomics",
         "20 011 words",
         {"histogram256Kernel", "mergeHistogram256Kernel"},
         histogram},
        {"bitonic-sort",
         repository,
         commit,
         two + "sortingNetworks/bitonicSort.cu",
         "shared memory, __umul24, in place",
         "8192 pairs; rows of 256 and one of 8192",
         {"bitonicSortShared", "bitonicSortShared1", "bitonicMergeGlobal", "bitonicMergeShared"},
         bitonic},
        {"warp-aggregated-atomics",
         repository,
         commit,
         three + "warpAggregatedAtomicsCG/warpAggregatedAtomicsCG.cu",
         "coalesced and labeled groups, match, group reduce, grid group",
         "9973 values, 7 buckets",
         {"filter_arr", "mapToBuckets", "calculateMaxInEachBuckets"},
         aggregated_atomics},
        {"conjugate-gradient",
         repository,
         commit,
         "Samples/4_CUDA_Libraries/conjugateGradientMultiBlockCG/conjugateGradientMultiBlockCG.cu",
         "grid sync, double atomics, cg::reduce of doubles, SpMV",
         "1201 rows, 4 blocks of 512",
         {"gpuConjugateGradient"},
         conjugate_gradient},
    };
    for (const char* name : {"MatrixMulNaive", "MatrixMulAsyncCopySingleStage",
                             "MatrixMulAsyncCopyMultiStage", "MatrixMulAsyncCopyMultiStageSharedState"}) {
        const std::string kernel = std::string(name) + "<16>";
        const bool roles = kernel.find("SharedState") != std::string::npos;
        all.push_back(
            {"async-copy-" + kernel,
             repository,
             commit,
             copy,
             "cuda::pipeline, memcpy_async" + std::string(roles ? ", producer and consumer roles" : ""),
             "64 x 160 by 160 x 96",
             {kernel},
             [kernel, roles](Session& s) {
                 async_copy_gemm(s, kernel, roles ? Dim3{16, 18} : Dim3{16, 16});
             }});
    }
    for (const char* name :
         {"MatrixMulNaiveLargeChunk", "MatrixMulAsyncCopyLargeChunk", "MatrixMulAsyncCopyLargeChunkAWBarrier",
          "MatrixMulAsyncCopyMultiStageLargeChunk"}) {
        const std::string kernel = std::string(name) + "<16>";
        all.push_back({"async-copy-" + kernel,
                       repository,
                       commit,
                       copy,
                       "memcpy_async of 16 bytes, cuda::barrier",
                       "160 x 160, constant (the kernel indexes B by A's columns)",
                       {kernel},
                       [kernel](Session& s) { async_copy_constant(s, kernel); }});
    }
    all.push_back({"bf16-gemm",
                   repository,
                   commit,
                   three + "bf16TensorCoreGemm/bf16TensorCoreGemm.cu",
                   "wmma bf16, cuda::pipeline, 72 KiB of dynamic shared memory",
                   "256 x 128 x 256 (sizes are macros)",
                   {"compute_bf16gemm", "compute_bf16gemm_async_copy", "simple_wmma_bf16gemm"},
                   [](Session& s) {
                       bf16_gemm(s);
                       simple_bf16_gemm(s);
                   }});
    all.back().replace = {
        {"M_TILES 512", "M_TILES 16"}, {"N_TILES 512", "N_TILES 8"}, {"K_TILES 512", "K_TILES 16"}};
    all.push_back(
        {"imma-gemm",
         repository,
         commit,
         three + "immaTensorCoreGemm/immaTensorCoreGemm.cu",
         "wmma u8 to s32",
         "64 x 64 x 64",
         {"simple_wmma_gemm_imma"},
         [](Session& s) { simple_wmma<std::uint8_t, int>(s, "simple_wmma_gemm_imma", 64, 3, -2, 16); }});
    all.push_back({"dmma-gemm",
                   repository,
                   commit,
                   three + "dmmaTensorCoreGemm/dmmaTensorCoreGemm.cu",
                   "wmma f64",
                   "64 x 64 x 64",
                   {"simple_wmma_gemm"},
                   [](Session& s) { simple_wmma<double, double>(s, "simple_wmma_gemm", 64, 0.5, 3.0, 8); }});
    all.push_back({"print",
                   repository,
                   commit,
                   "Samples/0_Introduction/simplePrintf/simplePrintf.cu",
                   "printf",
                   "2 x 2 blocks of 2 x 2 x 2",
                   {"testKernel"},
                   print});
    all.push_back({"transpose",
                   repository,
                   commit,
                   "Samples/6_Performance/transpose/transpose.cu",
                   "shared tiles, cooperative groups",
                   "96 x 96 and 96 x 160",
                   {"copy", "copySharedMem", "transposeNaive", "transposeCoalesced",
                    "transposeNoBankConflicts", "transposeDiagonal"},
                   [](Session& s) {
                       transposes(s, true);
                       transposes(s, false);
                   }});
    all.push_back({"black-scholes",
                   repository,
                   commit,
                   "Samples/5_Domain_Specific/BlackScholes/BlackScholes_kernel.cuh",
                   "fast intrinsics, float2",
                   "10 002 options",
                   {"BlackScholesGPU"},
                   black_scholes});
    return all;
}

}  // namespace kernelwright::public_sources
