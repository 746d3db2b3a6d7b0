// Sorting, scans, graphs, hashing, random numbers, dynamic programming and the samples for single features.
#include <algorithm>
#include <numeric>
#include <queue>

#include "tests/public/source.h"

namespace kernelwright::public_sources {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

void one_sweep(Session& s) {
    const u32 n = 30'011, blocks = blocks_for(n, 7680);
    const auto x = integers<u32>(n, 70, 0x100000000ull);
    const auto sort = s.inout("sort", x);
    const auto alt = s.scratch<u32>("alt", n);
    const auto index = s.inout("index", std::vector<u32>(4, 0)),
               hist = s.inout("histogram", std::vector<u32>(1024, 0));
    std::vector<Buffer<u32>> pass;
    // One row more than the published dispatcher clears: the last tile publishes a sum that no tile reads.
    for (int p = 0; p < 4; ++p) pass.push_back(s.inout("pass", std::vector<u32>(256 * (blocks + 1), 0)));
    s.launch("OneSweep::GlobalHistogram", {{blocks_for(n, 65536)}, {128}}, sort, hist, n);
    s.launch("OneSweep::Scan", {{4}, {256}}, hist, pass[0], pass[1], pass[2], pass[3]);
    for (u32 p = 0; p < 4; ++p)
        s.launch("OneSweep::DigitBinningPassKeysOnly", {{blocks}, {512}}, p % 2 ? alt : sort,
                 p % 2 ? sort : alt, pass[p], index, n, 8 * p);
    auto want = x;
    std::sort(want.begin(), want.end());
    s.equal("keys", s.read(sort), want);
}

void chained_scan(Session& s) {
    const u32 n = 20'004, blocks = blocks_for(n, 4096);
    const auto x = integers<u32>(n, 71, 50);
    std::vector<u32> inclusive(n), exclusive(n);
    std::partial_sum(x.begin(), x.end(), inclusive.begin());
    for (u32 i = 0; i < n; ++i) exclusive[i] = inclusive[i] - x[i];
    for (const bool in : {true, false}) {
        const auto data = s.inout("scan", x), sums = s.inout("sums", std::vector<u32>(blocks, 0)),
                   bump = s.inout("bump", std::vector<u32>{0});
        s.launch(fmt::format("ChainedScanDecoupledLookback::CSDL{}<8, 4>", in ? "Inclusive" : "Exclusive"),
                 {{blocks}, {256}}, data, sums, bump, n / 4);
        s.equal(in ? "inclusive" : "exclusive", s.read(data), in ? inclusive : exclusive);
    }
}

void hash_table(Session& s) {
    const u32 n = 3'000, capacity = 8192;
    struct Pair {
        u32 key, value;
    };
    std::vector<u32> keys(n);
    for (u32 i = 0; i < n; ++i) keys[i] = i * 2654435761u >> 3;
    std::vector<Pair> pairs, asked;
    for (u32 i = 0; i < n; ++i) pairs.push_back({keys[i], i});
    for (u32 i = 0; i < n; ++i) asked.push_back({i % 3 ? keys[i] : keys[i] + 1'000'000'007u, 0});
    const auto table = s.inout("table", std::vector<Pair>(capacity, {0xffffffff, 0xffffffff}));
    const auto kvs = s.in("pairs", pairs);
    s.launch("gpu_hashtable_insert", {{blocks_for(n, 256)}, {256}}, table, kvs, n);
    const std::vector<Pair> dropped(pairs.begin(), pairs.begin() + 500);
    const auto drop = s.in("dropped", dropped);
    s.launch("gpu_hashtable_delete", {{2}, {256}}, table, drop, 500u);
    const auto look = s.inout("asked", asked);
    s.launch("gpu_hashtable_lookup", {{blocks_for(n, 256)}, {256}}, table, look, n);
    std::vector<u32> got, want;
    for (const Pair& p : s.read(look)) got.push_back(p.value);
    for (u32 i = 0; i < n; ++i) {
        const auto at = std::find(keys.begin(), keys.end(), asked[i].key);
        const u32 found = at == keys.end() ? 0xffffffff : u32(at - keys.begin());
        want.push_back(found == 0xffffffff || found < 500 ? 0xffffffff : found);
    }
    s.equal("found", got, want);
    const auto all = s.out<Pair>("all", n);
    const auto size = s.inout("size", std::vector<u32>{0});
    s.launch("gpu_iterate_hashtable", {{capacity / 256}, {256}}, table, all, size);
    s.equal("size", s.read(size), std::vector<u32>{n - 500});
}

void breadth_first(Session& s) {
    struct Node {
        int starting, edges;
    };
    const int n = 2'500;
    std::mt19937 random(72);
    std::vector<Node> nodes;
    std::vector<int> edges;
    for (int i = 0; i < n; ++i) {
        const int count = int(random() % 5);
        nodes.push_back({int(edges.size()), count});
        for (int e = 0; e < count; ++e) edges.push_back(int(random() % n));
    }
    std::vector<int> want(n, -1), start(n, -1);
    std::queue<int> queue;
    queue.push(0);
    want[0] = start[0] = 0;
    while (!queue.empty()) {
        const int v = queue.front();
        queue.pop();
        for (int e = 0; e < nodes[v].edges; ++e) {
            const int t = edges[nodes[v].starting + e];
            if (want[t] < 0) want[t] = want[v] + 1, queue.push(t);
        }
    }
    std::vector<std::uint8_t> first(n, 0), none(n, 0);
    first[0] = 1;
    const auto N = s.in("nodes", nodes);
    const auto E = s.in("edges", edges);
    const auto mask = s.inout("mask", first), updating = s.inout("updating", none),
               visited = s.inout("visited", first);
    const auto cost = s.inout("cost", start);
    const auto over = s.inout("over", std::vector<std::uint8_t>{1});
    while (s.read(over)[0]) {
        s.write(over, {0});
        s.launch("Kernel", {{blocks_for(n, 512)}, {512}}, N, E, mask, updating, visited, cost, n);
        s.launch("Kernel2", {{blocks_for(n, 512)}, {512}}, mask, updating, visited, over, n);
    }
    s.equal("cost", s.read(cost), want);
}

void lud(Session& s) {
    const int n = 96, block = 16;
    auto a = normal(n * n, 73);
    for (int i = 0; i < n; ++i) a[i * n + i] += 40;
    const auto m = s.inout("m", a);
    int i = 0;
    for (; i < n - block; i += block) {
        const u32 rest = u32((n - i) / block - 1);
        s.launch("lud_diagonal", {{1}, {16}}, m, n, i);
        s.launch("lud_perimeter", {{rest}, {32}}, m, n, i);
        s.launch("lud_internal", {{rest, rest}, {16, 16}}, m, n, i);
    }
    s.launch("lud_diagonal", {{1}, {16}}, m, n, i);
    const auto got = s.read(m);
    std::vector<double> back(n * n);
    for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c)
            for (int k = 0; k <= std::min(r, c); ++k)
                back[r * n + c] += (k == r ? 1.0 : double(got[r * n + k])) * got[k * n + c];
    s.near("L U", back, std::vector<double>(a.begin(), a.end()), 0, 1e-3);
}

void needleman_wunsch(Session& s) {
    const int n = 64, cols = n + 1, penalty = 10, block = 16;
    std::vector<int> reference(cols * cols, 0), start(cols * cols, 0);
    std::mt19937 random(74);
    for (int i = 1; i < cols; ++i)
        for (int j = 1; j < cols; ++j) reference[i * cols + j] = int(random() % 16) - 5;
    for (int i = 1; i < cols; ++i) start[i * cols] = start[i] = -i * penalty;
    auto want = start;
    for (int i = 1; i < cols; ++i)
        for (int j = 1; j < cols; ++j)
            want[i * cols + j] =
                std::max({want[(i - 1) * cols + j - 1] + reference[i * cols + j],
                          want[i * cols + j - 1] - penalty, want[(i - 1) * cols + j] - penalty});
    const auto R = s.in("reference", reference), M = s.inout("matrix", start);
    const int width = n / block;
    for (int i = 1; i <= width; ++i)
        s.launch("needle_cuda_shared_1", {{u32(i)}, {16}}, R, M, cols, penalty, i, width);
    for (int i = width - 1; i >= 1; --i)
        s.launch("needle_cuda_shared_2", {{u32(i)}, {16}}, R, M, cols, penalty, i, width);
    s.equal("matrix", s.read(M), want);
}

void estimate_pi(Session& s) {
    const u32 blocks = 6, threads = 128, points = 60'000;
    const auto states = s.scratch<u64>("states", blocks * threads * 6);  // curandState has 48 bytes
    s.launch("initRNG", {{blocks}, {threads}}, states, 1234u);
    for (const char* kernel : {"computeValue<float>", "computeValue<double>"}) {
        const auto results = s.out<u32>("results", blocks);
        s.launch(kernel, {{blocks}, {threads}, threads * 4}, results, states, points);
        const auto got = s.read(results);
        const double pi = 4.0 * std::accumulate(got.begin(), got.end(), 0.0) / points;
        s.near(kernel, std::vector<double>{pi}, std::vector<double>{3.14159265}, 0, 0.03);  // four sigma
    }
}

void sobol(Session& s) {
    const u32 n = 2'000, dims = 5;
    const auto directions = integers<u32>(dims * 32, 75, 0x100000000ull);
    const auto D = s.in("directions", directions);
    const auto out = s.out<float>("out", n * dims);
    s.launch("sobolGPU_kernel", {{32, dims}, {64}}, n, dims, D, out);
    std::vector<float> want;
    for (u32 d = 0; d < dims; ++d)
        for (u32 i = 0; i < n; ++i) {
            u32 x = 0;
            for (u32 g = i ^ (i >> 1), bit = 0; g; g >>= 1, ++bit)
                if (g & 1) x ^= directions[d * 32 + bit];
            want.push_back(float(x) * 0x1p-32f);
        }
    s.equal("out", s.read(out), want);
}

void walsh(Session& s) {
    const int log = 13, n = 1 << log;
    const auto x = normal(n, 76);
    const auto data = s.inout("data", x);
    int N = n, M = 1, l = log;
    for (; l > 11; l -= 2, N >>= 2, M <<= 2)
        s.launch("fwtBatch2Kernel", {{u32(n / 1024), u32(M)}, {256}}, data, data, N / 4);
    s.launch("fwtBatch1Kernel", {{u32(M)}, {u32(N / 4)}, u32(N) * 4}, data, data, l);
    std::vector<double> want(x.begin(), x.end());
    for (int h = 1; h < n; h <<= 1)
        for (int i = 0; i < n; i += 2 * h)
            for (int j = i; j < i + h; ++j) {
                const double a = want[j], b = want[j + h];
                want[j] = a + b, want[j + h] = a - b;
            }
    s.near("data", s.read(data), want, 0, 1e-3);
}

void convolution(Session& s) {
    const int w = 256, h = 192, r = 8;
    const auto x = normal(w * h, 77), k = normal(2 * r + 1, 78);
    s.symbol("&c_Kernel", k);
    const auto src = s.in("src", x);
    const auto mid = s.out<float>("mid", w * h), dst = s.out<float>("dst", w * h);
    s.launch("convolutionRowsKernel", {{w / 128, h / 4}, {16, 4}}, mid, src, w, h, w);
    s.launch("convolutionColumnsKernel", {{w / 16, h / 64}, {16, 8}}, dst, mid, w, h, w);
    std::vector<double> rows(w * h), want(w * h);
    for (int y = 0; y < h; ++y)
        for (int c = 0; c < w; ++c)
            for (int t = -r; t <= r; ++t)
                if (c + t >= 0 && c + t < w) rows[y * w + c] += double(x[y * w + c + t]) * k[r - t];
    for (int y = 0; y < h; ++y)
        for (int c = 0; c < w; ++c)
            for (int t = -r; t <= r; ++t)
                if (y + t >= 0 && y + t < h) want[y * w + c] += rows[(y + t) * w + c] * k[r - t];
    s.near("dst", s.read(dst), want, 0, 2e-4);
}

void binary_partition(Session& s) {
    const int n = 10'013;
    const auto x = integers<int>(n, 79, 1000);
    const auto in = s.in("x", x);
    const auto odds = s.inout("odds", std::vector<int>{0}), sums = s.inout("sums", std::vector<int>{0, 0});
    s.launch("oddEvenCountAndSumCG", {{5}, {128}}, in, odds, sums, u32(n));
    int count = 0, odd = 0, even = 0;
    for (const int v : x) (v & 1) ? (++count, odd += v) : (even += v);
    s.equal("odds", s.read(odds), std::vector<int>{count});
    s.equal("sums", s.read(sums), std::vector<int>{odd, even});
}

void shuffle_scan(Session& s) {
    const u32 n = 2048;
    const auto x = integers<int>(n, 80, 100);
    std::vector<int> want(n);
    std::partial_sum(x.begin(), x.end(), want.begin());
    const auto data = s.inout("data", x);
    const auto sums = s.out<int>("sums", 8);
    s.launch("shfl_scan_test", {{8}, {256}, 32}, data, 32, sums);
    s.launch("shfl_scan_test", {{1}, {8}, 4}, sums, 8, Buffer<int>{});
    s.launch("uniform_add", {{7}, {256}}, Buffer<int>{data.address + 1024, n - 256}, sums, int(n - 256));
    s.equal("data", s.read(data), want);
}

void arrive_wait(Session& s) {
    const int n = 5'001;
    const auto a = normal(n, 81), b = normal(n, 82);
    double dot = 0;
    for (int i = 0; i < n; ++i) dot += double(a[i]) * b[i] * (a[i] * b[i] > 0 ? 1 : 1);
    dot = std::sqrt(std::abs(dot));
    std::vector<float> positive(a), other(b);
    double sum = 0;
    for (int i = 0; i < n; ++i)
        positive[i] = std::abs(a[i]), other[i] = std::abs(b[i]), sum += double(positive[i]) * other[i];
    const auto A = s.inout("A", positive), B = s.inout("B", other);
    const auto partial = s.scratch<double>("partial", 6);
    s.launch("normVecByDotProductAWBarrier", {{6}, {128}, 5 * 8, true}, A, B, partial, n);
    std::vector<double> want;
    for (const float v : positive) want.push_back(v / std::sqrt(sum));
    s.near("A", s.read(A), want, 1e-5, 0);
}

// pop() is meant for one thread at a time; `threads` of a block call it.
void new_delete(Session& s, u32 blocks, u32 threads) {
    const auto container = s.scratch<u64>("container", 1);
    const u32 n = blocks * threads;
    const auto result = s.out<int>("result", n);
    s.launch("vectorCreate", {{1}, {1}}, container, 600);
    s.launch("containerFill", {{blocks}, {threads}}, container);
    s.launch("containerConsume", {{blocks}, {threads}}, container, result);
    s.launch("containerDelete", {{1}, {1}}, container);
    auto got = s.read(result);
    std::sort(got.begin(), got.end());
    std::vector<int> want(n - blocks, -1);
    for (u32 i = 0; i < blocks; ++i) want.push_back(int(i));
    s.equal("popped", got, want);
}

void grid_reduction(Session& s) {
    const auto x = normal(20'011, 83);
    const auto in = s.in("x", x);
    const auto out = s.out<float>("sums", 7);
    s.launch("reduceSinglePassMultiBlockCG", {{7}, {256}, 256 * 8, true}, in, out, u32(x.size()));
    s.near("sum", std::vector<float>{s.read(out)[0]},
           std::vector<double>{std::accumulate(x.begin(), x.end(), 0.0)}, 0, 1e-3);
}

void merge_sort(Session& s) {
    const u32 n = 4096;
    const auto keys = integers<u32>(n, 84, 3000);
    std::vector<u32> values(n);
    std::iota(values.begin(), values.end(), 0u);
    const auto K = s.in("keys", keys), V = s.in("values", values);
    auto k = s.out<u32>("k", n), v = s.out<u32>("v", n), k2 = s.out<u32>("k2", n), v2 = s.out<u32>("v2", n);
    s.launch("mergeSortSharedKernel<1U>", {{n / 1024}, {512}}, k, v, K, V, 1024u);
    for (u32 stride = 1024; stride < n; stride *= 2) {
        const u32 samples = n / 128, threads = n / 256;
        const auto rA = s.scratch<u32>("ranksA", samples), rB = s.scratch<u32>("ranksB", samples),
                   lA = s.scratch<u32>("limitsA", samples), lB = s.scratch<u32>("limitsB", samples);
        s.launch("generateSampleRanksKernel<1U>", {{blocks_for(threads, 256)}, {256}}, rA, rB, k, stride, n,
                 threads);
        s.launch("mergeRanksAndIndicesKernel", {{blocks_for(threads, 256)}, {256}}, lA, rA, stride, n,
                 threads);
        s.launch("mergeRanksAndIndicesKernel", {{blocks_for(threads, 256)}, {256}}, lB, rB, stride, n,
                 threads);
        s.launch("mergeElementaryIntervalsKernel<1U>", {{samples}, {128}}, k2, v2, k, v, lA, lB, stride, n);
        std::swap(k, k2), std::swap(v, v2);
    }
    std::vector<u32> order(values), want;
    std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return keys[a] < keys[b]; });
    for (const u32 i : order) want.push_back(keys[i]);
    s.equal("keys", s.read(k), want);
    s.equal("values", s.read(v), order);
}

constexpr const char* samples = "NVIDIA/cuda-samples";
constexpr const char* samples_commit = "c94ff366aed18c797b8a85dfaac7817b0228b420";
constexpr const char* rodinia = "yuhc/gpu-rodinia";
constexpr const char* rodinia_commit = "9c10d3ea16ddba2ba057cc3951a9efc4c2cc18a4";

}  // namespace

std::vector<Source> algorithms() {
    const std::string zero = "Samples/0_Introduction/", two = "Samples/2_Concepts_and_Techniques/",
                      three = "Samples/3_CUDA_Features/", five = "Samples/5_Domain_Specific/";
    std::vector<Source> all{
        {"one-sweep",
         "b0nes164/GPUSorting",
         "09a6081d964b682bbb58838b83ab75aebe7f4e05",
         "GPUSortingCUDA/Sort/OneSweep.cu",
         "radix sort, decoupled look-back by volatile polling, ballots, inline PTX",
         "30 011 keys",
         {"OneSweep::GlobalHistogram", "OneSweep::Scan", "OneSweep::DigitBinningPassKeysOnly"},
         one_sweep},
        {"chained-scan",
         "b0nes164/GPUPrefixSums",
         "98d93a4e9ed2f3c8353119515bf9be90a2e137ad",
         "GPUPrefixSumsCUDA/ChainedScanDecoupledLookback.cuh",
         "decoupled look-back by a warp, function parameters, uint4",
         "20 004 values",
         {"ChainedScanDecoupledLookback::CSDLInclusive<8, 4>",
          "ChainedScanDecoupledLookback::CSDLExclusive<8, 4>"},
         chained_scan},
        {"hash-table",
         "nosferalatu/SimpleGPUHashTable",
         "d3f5b74f3176f40120cd5dc61a8d4811302eb829",
         "src/linearprobing.cu",
         "atomicCAS, linear probing",
         "3000 keys in 8192 slots (capacity is a constant)",
         {"gpu_hashtable_insert", "gpu_hashtable_delete", "gpu_hashtable_lookup", "gpu_iterate_hashtable"},
         hash_table},
        {"rodinia-bfs",
         rodinia,
         rodinia_commit,
         "cuda/bfs/bfs.cu",
         "benign stores of one value, bool arrays",
         "2500 nodes",
         {"Kernel", "Kernel2"},
         breadth_first},
        {"rodinia-lud",
         rodinia,
         rodinia_commit,
         "cuda/lud/cuda/lud_kernel.cu",
         "barriers in loops, triangular work",
         "96 x 96",
         {"lud_diagonal", "lud_perimeter", "lud_internal"},
         lud},
        {"rodinia-nw",
         rodinia,
         rodinia_commit,
         "cuda/nw/needle_kernel.cu",
         "wave fronts in shared memory",
         "64 x 64",
         {"needle_cuda_shared_1", "needle_cuda_shared_2"},
         needleman_wunsch},
        {"estimate-pi",
         samples,
         samples_commit,
         two + "MC_EstimatePiInlineP/src/piestimator.cu",
         "curand (XORWOW), double",
         "60 000 points",
         {"initRNG", "computeValue<float>", "computeValue<double>"},
         estimate_pi},
        {"sobol",
         samples,
         samples_commit,
         five + "SobolQRNG/sobol_gpu.cu",
         "__ffs, Gray codes",
         "2000 x 5",
         {"sobolGPU_kernel"},
         sobol},
        {"fast-walsh",
         samples,
         samples_commit,
         five + "fastWalshTransform/fastWalshTransform_kernel.cuh",
         "in place, dynamic shared memory",
         "8192",
         {"fwtBatch1Kernel", "fwtBatch2Kernel"},
         walsh},
        {"convolution-separable",
         samples,
         samples_commit,
         two + "convolutionSeparable/convolutionSeparable.cu",
         "__constant__ kernel, shared halos",
         "256 x 192, radius 8",
         {"convolutionRowsKernel", "convolutionColumnsKernel", "&c_Kernel"},
         convolution},
        {"binary-partition",
         samples,
         samples_commit,
         three + "binaryPartitionCG/binaryPartitionCG.cu",
         "binary_partition, cg::reduce of coalesced groups",
         "10 013 values",
         {"oddEvenCountAndSumCG"},
         binary_partition},
        {"shuffle-scan",
         samples,
         samples_commit,
         two + "shfl_scan/shfl_scan.cu",
         "__shfl_up_sync of parts of a warp",
         "2048",
         {"shfl_scan_test", "uniform_add"},
         shuffle_scan},
        {"arrive-wait-barrier",
         samples,
         samples_commit,
         zero + "simpleAWBarrier/simpleAWBarrier.cu",
         "cuda::barrier arrive and wait, grid sync",
         "5001 values, 6 blocks",
         {"normVecByDotProductAWBarrier"},
         arrive_wait},
        {"new-delete",
         samples,
         samples_commit,
         three + "newdelete/newdelete.cu",
         "new and delete on the device, virtual functions",
         "one thread",
         {"vectorCreate", "containerFill", "containerConsume", "containerDelete"},
         [](Session& s) { new_delete(s, 1, 1); }},
        {"new-delete-shared",
         samples,
         samples_commit,
         three + "newdelete/newdelete.cu",
         "the same, by many threads",
         "16 x 32 threads",
         {"vectorCreate", "containerFill", "containerConsume", "containerDelete"},
         [](Session& s) { new_delete(s, 16, 32); },
         "global-race: pop() reads the top of the stack as a plain variable while other threads change it "
         "with atomicAdd"},
        {"grid-reduction",
         samples,
         samples_commit,
         two + "reductionMultiBlockCG/reductionMultiBlockCG.cu",
         "grid sync, double",
         "20 011 values, 7 blocks",
         {"reduceSinglePassMultiBlockCG"},
         grid_reduction},
        {"merge-sort",
         samples,
         samples_commit,
         zero + "mergeSort/mergeSort.cu",
         "binary search, merges by rank",
         "4096 pairs",
         {"mergeSortSharedKernel<1U>", "generateSampleRanksKernel<1U>", "mergeRanksAndIndicesKernel",
          "mergeElementaryIntervalsKernel<1U>"},
         merge_sort},
    };
    for (Source& source : all)
        if (source.name == "hash-table") source.replace = {{"128 * 1024 * 1024", "8192"}};
    return all;
}

}  // namespace kernelwright::public_sources
