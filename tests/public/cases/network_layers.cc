// Layers of neural networks: karpathy/llm.c (dev/cuda), tspeterkim/flash-attention-minimal,
// 66RING/tiny-flash-attention, xlite-dev/LeetCUDA.
#include <algorithm>

#include "tests/public/half.h"
#include "tests/public/source.h"

namespace kernelwright::public_sources {
namespace {

using u32 = std::uint32_t;

constexpr const char* llmc = "karpathy/llm.c";
constexpr const char* llmc_commit = "f1e2ace651495b74ae22d45d1723443fd00ecd3a";

struct Form {
    const char* kernel;
    LaunchShape shape;
};

void layernorm(Session& s) {
    const int rows = 37, c = 204;  // rows of no whole block
    const auto x = normal(rows * c, 40), w = normal(c, 41), b = normal(c, 42);
    std::vector<double> want(rows * c), means(rows), rstds(rows);
    for (int r = 0; r < rows; ++r) {
        double mean = 0, var = 0;
        for (int i = 0; i < c; ++i) mean += x[r * c + i] / double(c);
        for (int i = 0; i < c; ++i) var += (x[r * c + i] - mean) * (x[r * c + i] - mean) / c;
        means[r] = mean;
        rstds[r] = 1 / std::sqrt(var + 1e-5);
        for (int i = 0; i < c; ++i) want[r * c + i] = rstds[r] * (x[r * c + i] - mean) * w[i] + b[i];
    }
    const auto X = s.in("inp", x), W = s.in("weight", w), B = s.in("bias", b);
    for (const Form& f :
         {Form{"layernorm_forward_kernel1", {{2}, {32}}}, Form{"layernorm_forward_kernel3", {{10}, {128}}},
          Form{"layernorm_forward_kernel4", {{10}, {128}}}, Form{"layernorm_forward_kernel5", {{37}, {128}}},
          Form{"layernorm_forward_kernel6", {{10}, {32, 4}, (2 + 4) * 204 * 4}}}) {
        const auto out = s.out<float>("out", rows * c), mean = s.out<float>("mean", rows),
                   rstd = s.out<float>("rstd", rows);
        s.launch(f.kernel, f.shape, out, mean, rstd, X, W, B, rows, c);
        s.near(f.kernel, s.read(out), want, 1e-5, 1e-5);
        s.near("mean", s.read(mean), means, 1e-5, 1e-6);
        s.near("rstd", s.read(rstd), rstds, 1e-5, 0);
    }
    const auto out = s.out<float>("out", rows * c), mean = s.out<float>("mean", rows),
               rstd = s.out<float>("rstd", rows);
    s.launch("mean_kernel", {{u32(rows)}, {64}, 256}, mean, X, rows, c, 64);
    s.launch("rstd_kernel", {{u32(rows)}, {64}, 256}, rstd, X, mean, rows, c, 64);
    s.launch("normalization_kernel", {{blocks_for(rows * c, 68)}, {68}}, out, X, mean, rstd, W, B, 1, rows,
             c);
    s.near("three kernels", s.read(out), want, 1e-5, 1e-5);
}

void layernorm_backward(Session& s, int kernel) {
    const int rows = 24, c = 512;
    const auto round = [](const std::vector<float>& v) { return from_bfloat(to_bfloat(v)); };
    const auto x = round(normal(rows * c, 43)), w = round(normal(c, 44)), d = round(normal(rows * c, 45));
    std::vector<float> means(rows), rstds(rows);
    std::vector<double> dx(rows * c), dw(c), db(c);
    for (int r = 0; r < rows; ++r) {
        double mean = 0, var = 0, a = 0, b = 0;
        for (int i = 0; i < c; ++i) mean += x[r * c + i] / double(c);
        for (int i = 0; i < c; ++i) var += (x[r * c + i] - mean) * (x[r * c + i] - mean) / c;
        double rstd = 1 / std::sqrt(var + 1e-5);
        means[r] = from_bfloat(to_bfloat({float(mean)}))[0],
        rstds[r] = from_bfloat(to_bfloat({float(rstd)}))[0];
        mean = means[r], rstd = rstds[r];
        for (int i = 0; i < c; ++i) {
            const double n = (x[r * c + i] - mean) * rstd, g = double(w[i]) * d[r * c + i];
            a += g / c, b += g * n / c;
            dw[i] += n * d[r * c + i], db[i] += d[r * c + i];
        }
        for (int i = 0; i < c; ++i) {
            const double n = (x[r * c + i] - mean) * rstd, g = double(w[i]) * d[r * c + i];
            dx[r * c + i] = (g - a - n * b) * rstd;
        }
    }
    const auto X = s.in("inp", to_bfloat(x)), W = s.in("weight", to_bfloat(w)),
               D = s.in("dout", to_bfloat(d)), M = s.in("mean", to_bfloat(means)),
               R = s.in("rstd", to_bfloat(rstds));
    const auto zeros = [&](const char* name, int n) { return s.inout(name, std::vector<u16>(n, 0)); };
    const u32 grid = 3, block = 128;
    const auto dX = zeros("dinp", rows * c), dW = zeros("dweight", c), dB = zeros("dbias", c);
    const auto scratch = s.scratch<float>("scratch", 32 + grid * (2 * c + 1));
    if (kernel == 8)
        s.write(scratch, std::vector<float>(scratch.count, 0.0f));
    else
        s.write(Buffer<float>{scratch.address, 1}, std::vector<float>{0});
    const u32 rounded = blocks_for(c, 256) * 256;
    const u32 shared = (2 * rounded + (kernel == 10  ? 2 * (block - 32) * 4
                                       : kernel == 9 ? 2 * block + 1
                                                     : 1)) *
                       4;
    s.launch(fmt::format("layernorm_backward_kernel{}", kernel), {{grid}, {block}, shared}, dX, dW, dB,
             scratch, D, X, W, M, R, 1, rows, c);
    s.near(fmt::format("dinp of kernel {}", kernel), from_bfloat(s.read(dX)), dx, 0.005, 1e-3);
    s.near("dweight", from_bfloat(s.read(dW)), dw, 0.005, 1e-3);
    s.near("dbias", from_bfloat(s.read(dB)), db, 0.005, 1e-3);
}

// One head's causal or full softmax(q k' / sqrt(d)) v, rows of length d.
std::vector<double> attention(const std::vector<float>& q, const std::vector<float>& k,
                              const std::vector<float>& v, int heads, int n, int d, bool causal) {
    std::vector<double> out(std::size_t(heads) * n * d);
    for (int h = 0; h < heads; ++h) {
        const std::size_t at = std::size_t(h) * n * d;
        for (int i = 0; i < n; ++i) {
            std::vector<double> p(n);
            double top = -1e300, sum = 0;
            const int last = causal ? i + 1 : n;
            for (int j = 0; j < last; ++j) {
                for (int t = 0; t < d; ++t) p[j] += double(q[at + i * d + t]) * k[at + j * d + t];
                p[j] /= std::sqrt(double(d));
                top = std::max(top, p[j]);
            }
            for (int j = 0; j < last; ++j) sum += p[j] = std::exp(p[j] - top);
            for (int j = 0; j < last; ++j)
                for (int t = 0; t < d; ++t) out[at + i * d + t] += p[j] / sum * v[at + j * d + t];
        }
    }
    return out;
}

void llmc_attention(Session& s) {
    const int B = 2, T = 64, NH = 3, hs = 16, C = NH * hs;
    const auto inp = normal(B * T * 3 * C, 46);
    std::vector<float> q, k, v;
    for (int part = 0; part < 3; ++part)
        for (int b = 0; b < B; ++b)
            for (int h = 0; h < NH; ++h)
                for (int t = 0; t < T; ++t)
                    for (int i = 0; i < hs; ++i)
                        (part == 0   ? q
                         : part == 1 ? k
                                     : v)
                            .push_back(inp[(b * T + t) * 3 * C + part * C + h * hs + i]);
    const auto want = attention(q, k, v, B * NH, T, hs, true);
    std::vector<double> rows(B * T * C);
    for (int b = 0; b < B; ++b)
        for (int h = 0; h < NH; ++h)
            for (int t = 0; t < T; ++t)
                for (int i = 0; i < hs; ++i)
                    rows[(b * T + t) * C + h * hs + i] = want[((b * NH + h) * T + t) * hs + i];
    const auto I = s.in("inp", inp);
    {
        // The values above the diagonal are written as -inf or left out by the three kernels.
        const auto pre = s.scratch<float>("preatt", B * NH * T * T),
                   att = s.scratch<float>("att", B * NH * T * T);
        const auto out = s.out<float>("out", B * T * C);
        const u32 threads = 128;
        s.launch("attention_query_key_kernel1", {{blocks_for(B * NH * T * T, threads)}, {threads}}, pre, I, B,
                 T, C, NH);
        s.launch("attention_softmax_kernel1", {{blocks_for(B * T * NH, threads)}, {threads}}, att, pre, B, T,
                 NH);
        s.launch("attention_value_kernel1", {{blocks_for(B * T * NH, threads)}, {threads}}, out, att, I, B, T,
                 C, NH);
        s.near("attention", s.read(out), rows, 1e-4, 1e-5);
    }
    const auto Q = s.out<float>("q", q.size()), K = s.out<float>("k", q.size()),
               V = s.out<float>("v", q.size());
    s.launch("permute_kernel", {{blocks_for(q.size(), 256)}, {256}}, Q, K, V, I, B, T, NH, hs);
    s.equal("q", s.read(Q), q);
    s.equal("v", s.read(V), v);
    const auto l = s.inout("l", std::vector<float>(B * NH * T, 0)),
               m = s.inout("m", std::vector<float>(B * NH * T, -1e30f));
    const auto O = s.inout("O", std::vector<float>(q.size(), 0));
    s.launch("attention_forward_kernel2", {{u32(B), u32(NH)}, {32}, (3 * 32 * hs + 32 * 32) * 4}, Q, K, V, T,
             hs, 2, 2, 32, 32, float(1 / std::sqrt(double(hs))), l, m, O);
    s.near("flash", s.read(O), want, 1e-4, 1e-5);
}

void softmax(Session& s, const std::vector<Form>& forms, int c = 517) {
    const int n = 23;
    const auto x = normal(n * c, 47, 4);
    std::vector<double> want(n * c);
    for (int r = 0; r < n; ++r) {
        double top = -1e300, sum = 0;
        for (int i = 0; i < c; ++i) top = std::max(top, double(x[r * c + i]));
        for (int i = 0; i < c; ++i) sum += want[r * c + i] = std::exp(x[r * c + i] - top);
        for (int i = 0; i < c; ++i) want[r * c + i] /= sum;
    }
    const auto X = s.in("inp", x);
    for (const Form& f : forms) {
        const auto out = s.out<float>("out", n * c);
        s.launch(f.kernel, f.shape, out, X, n, c);
        s.near(f.kernel, s.read(out), want, 1e-4, 1e-9);
    }
}

void matmul(Session& s) {
    const int bt = 256, c = 96, oc = 128;
    const auto x = normal(bt * c, 48), w = normal(oc * c, 49), b = normal(oc, 50);
    std::vector<double> want(bt * oc);
    for (int i = 0; i < bt; ++i)
        for (int j = 0; j < oc; ++j) {
            want[i * oc + j] = b[j];
            for (int t = 0; t < c; ++t) want[i * oc + j] += double(x[i * c + t]) * w[j * c + t];
        }
    const auto X = s.in("inp", x), W = s.in("weight", w), B = s.in("bias", b);
    const auto one = s.out<float>("out", bt * oc), four = s.out<float>("out", bt * oc);
    s.launch("matmul_forward_kernel1", {{16, 8}, {16, 16}}, one, X, W, B, bt, c, oc);
    s.near("kernel 1", s.read(one), want, 1e-5, 1e-4);
    s.launch("matmul_forward_kernel4", {{2, 1}, {16, 16}}, four, X, W, B, c, oc);
    s.near("kernel 4", s.read(four), want, 1e-5, 1e-4);
}

void adamw(Session& s) {
    const int n = 3'001;
    const auto p = normal(n, 51), g = normal(n, 52), m0 = normal(n, 53);
    auto v0 = normal(n, 54);
    for (float& v : v0) v = std::abs(v);
    std::vector<double> want(n);
    for (int i = 0; i < n; ++i) {
        const double m = 0.9f * m0[i] + (1 - 0.9f) * g[i],
                     v = 0.999f * v0[i] + (1 - 0.999f) * double(g[i]) * g[i];
        want[i] = p[i] - 1e-3f * (m / 0.5f / (std::sqrt(v / 0.25f) + 1e-8f) + 0.01f * p[i]);
    }
    const auto G = s.in("grads", g);
    for (const char* kernel : {"adamw_kernel1", "adamw_kernel2"}) {
        const auto P = s.inout("params", p), M = s.inout("m", m0), V = s.inout("v", v0);
        s.launch(kernel, {{6}, {512}}, P, G, M, V, long(n), 1e-3f, 0.9f, 0.999f, 0.5f, 0.25f, 1e-8f, 0.01f);
        s.near(kernel, s.read(P), want, 1e-5, 1e-6);
    }
}

void encoder_backward(Session& s) {
    const int B = 3, T = 17, C = 40, V = 9;
    const auto d = normal(B * T * C, 55);
    const auto tokens = integers<int>(B * T, 56, V);
    std::vector<double> wte(V * C), wpe(T * C);
    for (int i = 0; i < B * T * C; ++i)
        wte[tokens[i / C] * C + i % C] += d[i], wpe[i / C % T * C + i % C] += d[i];
    const auto D = s.in("dout", d);
    const auto I = s.in("inp", tokens);
    for (const char* kernel : {"encoder_backward_kernel1", "encoder_backward_kernel2"}) {
        const auto te = s.inout("dwte", std::vector<float>(V * C, 0)),
                   pe = s.inout("dwpe", std::vector<float>(T * C, 0));
        s.launch(kernel, {{blocks_for(kernel[23] == '1' ? B * T * C : C, 64)}, {64}}, te, pe, D, I, B, T, C);
        s.near("dwte", s.read(te), wte, 1e-5, 1e-4);
        s.near("dwpe", s.read(pe), wpe, 1e-5, 1e-4);
    }
}

void bias_backward(Session& s) {
    const int B = 4, T = 37, oc = 192;
    const auto d = from_bfloat(to_bfloat(normal(B * T * oc, 57)));
    std::vector<double> want(oc);
    for (int i = 0; i < B * T * oc; ++i) want[i % oc] += d[i];
    const auto D = s.in("dout", to_bfloat(d));
    for (const Form& f : {Form{"matmul_backward_bias_kernel1", {{192}, {128}, 512}},
                          Form{"matmul_backward_bias_kernel2", {{24}, {256}}},
                          Form{"matmul_backward_bias_kernel3", {{192}, {128}}},
                          Form{"matmul_backward_bias_kernel4", {{6}, {128}, 512}}}) {
        const auto out = s.inout("dbias", std::vector<u16>(oc, 0));
        s.launch(f.kernel, f.shape, out, D, B, T, oc);
        s.near(f.kernel, from_bfloat(s.read(out)), want, 0.005, 1e-3);
    }
}

void global_norm(Session& s) {
    const std::size_t n = 20'003;
    const auto x = normal(n, 58);
    double want = 0;
    for (const float v : x) want += double(v) * v;
    const auto X = s.in("data", x);
    for (const char* kernel : {"norm_kernel1<float>", "norm_kernel2<float>", "norm_kernel3<float>"}) {
        const auto out = s.inout("out", std::vector<float>{0});
        s.launch(kernel, {{5}, {256}}, out, X, n);
        s.near(kernel, s.read(out), std::vector<double>{want}, 1e-5, 0);
    }
    const auto out = s.scratch<float>("out", 5);
    s.launch("norm_kernel4<float>", {{5}, {256}}, out, X, n);
    s.launch("global_norm_aggregate_kernel", {{1}, {1024}}, out, std::size_t{5});
    s.near("aggregate", std::vector<float>{s.read(out)[0]}, std::vector<double>{want}, 1e-5, 0);
}

void flash_minimal(Session& s) {
    const int B = 2, H = 2, N = 96, d = 32;
    const auto q = normal(B * H * N * d, 60), k = normal(B * H * N * d, 61), v = normal(B * H * N * d, 62);
    const auto Q = s.in("Q", q), K = s.in("K", k), V = s.in("V", v);
    const auto l = s.inout("l", std::vector<float>(B * H * N, 0)),
               m = s.inout("m", std::vector<float>(B * H * N, -INFINITY));
    const auto O = s.inout("O", std::vector<float>(q.size(), 0));
    s.launch("forward_kernel", {{u32(B), u32(H)}, {32}, (3 * 32 * d + 32 * 32) * 4}, Q, K, V, N, d, 3, 3, 32,
             32, float(1 / std::sqrt(double(d))), l, m, O);
    s.near("O", s.read(O), attention(q, k, v, B * H, N, d, false), 1e-4, 1e-5);
}

void flash_tiny(Session& s) {
    const int n = 4, d = 4;
    const auto q = normal(n * d, 63), k = normal(n * d, 64), v = normal(n * d, 65);
    const auto Q = s.in("Q", q), K = s.in("K", k), V = s.in("V", v),
               O = s.inout("O", std::vector<float>(n * d, 0));
    s.launch("flash_attention_v2_kernel", {{1, 2}, {2, 2}}, Q, K, V, O, n, 0.5f);
    s.near("O", s.read(O), attention(q, k, v, 1, n, d, false), 1e-4, 1e-5);
}

constexpr const char* leet = "xlite-dev/LeetCUDA";
constexpr const char* leet_commit = "cb6a0497e829741fc5e3ad5e43a5beed0d85edcd";

void flash_mma(Session& s, const std::string& kernel, u32 shared) {
    const int B = 1, H = 2, N = 192, d = 64;
    const auto round = [](const std::vector<float>& x) { return from_half(to_half(x)); };
    const auto q = round(normal(B * H * N * d, 66)), k = round(normal(B * H * N * d, 67)),
               v = round(normal(B * H * N * d, 68));
    const auto Q = s.in("Q", to_half(q)), K = s.in("K", to_half(k)), V = s.in("V", to_half(v));
    const auto O = s.out<u16>("O", q.size());
    s.launch(kernel, {{u32(N / 64), u32(B * H)}, {128}, shared}, Q, K, V, O, N, H);
    s.near("O", from_half(s.read(O)), attention(q, k, v, B * H, N, d, false), 0.02, 0.01);
}

}  // namespace

std::vector<Source> network_layers() {
    const std::string dev = "dev/cuda/";
    std::vector<Source> all{
        {"llmc-layernorm",
         llmc,
         llmc_commit,
         dev + "layernorm_forward.cu",
         "tiles, cg::reduce, 128-bit packs, __stcs, assert",
         "37 x 204",
         {"layernorm_forward_kernel1", "mean_kernel", "rstd_kernel", "normalization_kernel",
          "layernorm_forward_kernel3", "layernorm_forward_kernel4", "layernorm_forward_kernel5",
          "layernorm_forward_kernel6"},
         layernorm},
        {"llmc-attention",
         llmc,
         llmc_commit,
         dev + "attention_forward.cu",
         "causal attention, naive and flash",
         "2 x 64 x 3 heads of 16",
         {"attention_query_key_kernel1", "attention_softmax_kernel1", "attention_value_kernel1",
          "permute_kernel", "attention_forward_kernel2"},
         llmc_attention},
        {"llmc-softmax",
         llmc,
         llmc_commit,
         dev + "softmax_forward.cu",
         "shuffles, online softmax, structs through cg::reduce",
         "23 x 517",
         {"softmax_forward_kernel1", "softmax_forward_kernel2", "softmax_forward_kernel3",
          "softmax_forward_online_kernel1", "softmax_forward_online_kernel2",
          "softmax_forward_online_kernel8"},
         [](Session& s) {
             softmax(s, {{"softmax_forward_kernel1", {{1}, {32}}},
                         {"softmax_forward_kernel2", {{23}, {128}, 512}},
                         {"softmax_forward_kernel3", {{23}, {32}, 128}},
                         {"softmax_forward_online_kernel1", {{1}, {32}}},
                         {"softmax_forward_online_kernel2", {{6}, {128}}},
                         {"softmax_forward_online_kernel8", {{6}, {128}}}});
         }},
        {"llmc-softmax-4",
         llmc,
         llmc_commit,
         dev + "softmax_forward.cu",
         "block reductions",
         "23 x 517",
         {"softmax_forward_kernel4"},
         [](Session& s) {
             softmax(s, {{"softmax_forward_kernel4", {{23}, {128}, 2 * 4 * 4}}});
         },
         "shared-race: every thread reads the maximum in shared[0], and warp 0 stores its sum there without "
         "a barrier between"},
        {"llmc-softmax-7",
         llmc,
         llmc_commit,
         dev + "softmax_forward.cu",
         "block reductions, unrolled",
         "23 x 1024",
         {"softmax_forward_kernel7"},
         [](Session& s) {
             softmax(s, {{"softmax_forward_kernel7", {{23}, {128}, 2 * 4 * 4}}}, 1024);
         }},
        {"llmc-softmax-7-ragged",
         llmc,
         llmc_commit,
         dev + "softmax_forward.cu",
         "block reductions, unrolled",
         "23 x 517",
         {"softmax_forward_kernel7"},
         [](Session& s) {
             softmax(s, {{"softmax_forward_kernel7", {{23}, {128}, 2 * 4 * 4}}});
         },
         "global-race: threads past the end of a row load its last value, which they do not use, while "
         "another divides it"},
        {"llmc-matmul",
         llmc,
         llmc_commit,
         dev + "matmul_forward.cu",
         "register tiles, float4",
         "256 x 96 by 96 x 128",
         {"matmul_forward_kernel1", "matmul_forward_kernel4"},
         matmul},
        {"llmc-adamw",
         llmc,
         llmc_commit,
         dev + "adamw.cu",
         "fma, square root",
         "3001 parameters",
         {"adamw_kernel1", "adamw_kernel2"},
         adamw},
        {"llmc-encoder-backward",
         llmc,
         llmc_commit,
         dev + "encoder_backward.cu",
         "float atomics",
         "3 x 17 x 40",
         {"encoder_backward_kernel1", "encoder_backward_kernel2"},
         encoder_backward},
        {"llmc-bias-backward",
         llmc,
         llmc_commit,
         dev + "matmul_backward_bias.cu",
         "block sums, atomics",
         "148 x 192",
         {"matmul_backward_bias_kernel1", "matmul_backward_bias_kernel2", "matmul_backward_bias_kernel3",
          "matmul_backward_bias_kernel4"},
         bias_backward},
        {"llmc-global-norm",
         llmc,
         llmc_commit,
         dev + "global_norm.cu",
         "block reductions, atomics",
         "20 003 values",
         {"norm_kernel1<float>", "norm_kernel2<float>", "norm_kernel3<float>", "norm_kernel4<float>",
          "global_norm_aggregate_kernel"},
         global_norm},
        {"flash-attention-minimal",
         "tspeterkim/flash-attention-minimal",
         "00f8f46712d493665c900c32fa3a261c8ef3e20c",
         "flash.cu",
         "dynamic shared memory, __expf",
         "2 x 2 x 96 x 32",
         {"forward_kernel"},
         flash_minimal},
        {"tiny-flash-attention-v2",
         "66RING/tiny-flash-attention",
         "dacda43160add8ed05c43b943b40787606a23f2f",
         "flash_attention_cuda/standalone_src/flash_attention_v2_standalone.cu",
         "shared memory, online softmax",
         "4 x 4",
         {"flash_attention_v2_kernel"},
         flash_tiny,
         "shared-race: the threads of a row read sMax and sDenom of the row and each stores them again, with "
         "no barrier or "
         "__syncwarp between"},
        {"leetcuda-flash-mma-split-q",
         leet,
         leet_commit,
         "kernels/flash-attn/mma/basic/flash_attn_mma_split_q.cu",
         "mma, ldmatrix, cp.async, half2, online softmax",
         "2 heads x 192 x 64",
         {"flash_attn_mma_stages_split_q_kernel<64, 16, 8, 16, 4, 1, 4, 1, 1, 8, 1, 8, 2, 8>"},
         {}},
    };
    all.back().run = [kernel = all.back().kernels[0]](Session& s) {
        flash_mma(s, kernel, (64 + 2 * 64 + 64) * 72 * 2);
    };
    all.back().include_folders = {"kernels/flash-attn/utils"};
    for (const int kernel : {8, 9, 10}) {
        all.push_back({fmt::format("llmc-layernorm-backward-{}", kernel),
                       llmc,
                       llmc_commit,
                       dev + "layernorm_backward.cu",
                       "bf16, 128-bit packs, shared float atomics, last block done by atomicInc",
                       "24 x 512, 3 blocks",
                       {fmt::format("layernorm_backward_kernel{}", kernel)},
                       [kernel](Session& s) { layernorm_backward(s, kernel); },
                       "global-race: the last block reads the other blocks' sums after atomicInc, without a "
                       "__threadfence in the blocks that wrote them"});
    }
    return all;
}

}  // namespace kernelwright::public_sources
