// Bounds from both sides. Kernels as people write them, in single precision and in many orders, must lie
// inside on every draw; the same kernels with one habit that loses precision or a term must lie outside.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "verifiers/numerics/compare.h"
#include "verifiers/numerics/random.h"
#include "verifiers/reference/reference.h"

namespace kernelwright {
namespace {

using Floats = std::vector<float>;

Tensor tensor(const Shape& shape, const Floats& values, DType dtype = DType::f32) {
    return Tensor::from(dtype, shape, std::vector<double>(values.begin(), values.end()));
}

Floats normal(std::int64_t count, const char* name, double scale = 1, double mean = 0) {
    const RandomStream random(11, name);
    Floats out(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
        out[static_cast<std::size_t>(i)] = static_cast<float>(mean + scale * random.normal(i));
    }
    return out;
}

Floats rounded(DType dtype, Floats values) {
    for (float& x : values) x = static_cast<float>(round_to(dtype, x));
    return values;
}

Expected reference(const std::string& op, const Json& params, const std::vector<Tensor>& inputs,
                   DType out = DType::f32, std::size_t result = 0) {
    std::vector<DType> dtypes(result + 1, out);
    auto e = compute_reference(op, params, inputs, {}, dtypes);
    EXPECT_TRUE(e.ok()) << (e.ok() ? "" : e.error().str());
    return (*e)[result];
}

Comparison judge(const Expected& e, const Floats& got) { return compare(e, tensor(e.shape, got, e.dtype)); }

// ---- ways to add up
// -----------------------------------------------------------------------------------------

float pairwise(const float* x, std::size_t n) {
    if (n == 0) return 0;
    if (n == 1) return x[0];
    return pairwise(x, n / 2) + pairwise(x + n / 2, n - n / 2);
}

// 0: in order; 1: backwards; 2: pairwise; 3: 32 lanes then a butterfly; 4: shuffled; 5: four accumulators
float add_up(Floats x, int way) {
    const std::size_t n = x.size();
    float sum = 0;
    if (way == 1) std::reverse(x.begin(), x.end());
    if (way == 2) return pairwise(x.data(), n);
    if (way == 3 || way == 5) {
        const std::size_t lanes = way == 3 ? 32 : 4;
        Floats partial(lanes, 0);
        for (std::size_t i = 0; i < n; ++i) partial[i % lanes] += x[i];
        return pairwise(partial.data(), lanes);
    }
    if (way == 4) {
        const RandomStream random(5, "shuffle");
        for (std::size_t i = n; i > 1; --i) {
            std::swap(x[i - 1], x[static_cast<std::size_t>(random.integer(
                                    static_cast<std::int64_t>(i), 0, static_cast<std::int64_t>(i) - 1))]);
        }
    }
    for (const float v : x) sum += v;
    return sum;
}
constexpr int ways = 6;

Floats matmul(const Floats& a, const Floats& b, std::int64_t m, std::int64_t n, std::int64_t k, int way) {
    Floats c;
    for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
            Floats terms;
            float fused = 0;
            for (std::int64_t l = 0; l < k; ++l) {
                const float x = a[static_cast<std::size_t>(i * k + l)],
                            y = b[static_cast<std::size_t>(l * n + j)];
                terms.push_back(x * y);
                fused = std::fma(x, y, fused);
            }
            c.push_back(way == ways ? fused : add_up(terms, way));
        }
    }
    return c;
}

TEST(Bounds, MatmulAnyOrderInsideNarrowOutside) {
    constexpr std::int64_t m = 7, n = 9;
    for (std::int64_t k = 1; k <= 60; ++k) {
        SCOPED_TRACE(k);
        const Floats a = normal(m * k, "a"), b = normal(k * n, "b");
        const Expected e = reference("matmul", {}, {tensor({m, k}, a), tensor({k, n}, b)});
        for (int way = 0; way <= ways; ++way) {
            const Comparison c = judge(e, matmul(a, b, m, n, k, way));
            EXPECT_TRUE(c.ok()) << "way " << way << ": " << c.message;
        }
        for (const DType narrow : {DType::f16, DType::bf16, DType::tf32}) {
            const Comparison c = judge(e, matmul(rounded(narrow, a), rounded(narrow, b), m, n, k, ways));
            EXPECT_GT(c.wrong, m * n / 2) << to_string(narrow);
            EXPECT_FALSE(judge(e, matmul(rounded(narrow, a), b, m, n, k, 0)).ok()) << to_string(narrow);
        }
    }
}

// Small integers: one right answer in every order, so a lost or doubled term shows at any size.
TEST(Bounds, IntegersMakeAnExactTest) {
    constexpr std::int64_t k = 4000;
    const RandomStream random(3, "integers");
    Floats a(k), b(k);
    for (std::int64_t i = 0; i < k; ++i) {
        a[static_cast<std::size_t>(i)] = static_cast<float>(random.integer(i, -7, 7));
        b[static_cast<std::size_t>(i)] = static_cast<float>(random.integer(i, 1, 7, 1));
    }
    a[k - 1] = 1;
    const Expected e = reference("matmul", {}, {tensor({1, k}, a), tensor({k, 1}, b)});
    EXPECT_EQ(e.tolerance[0], 0);
    for (int way = 0; way <= ways; ++way) EXPECT_TRUE(judge(e, matmul(a, b, 1, 1, k, way)).ok());
    Floats dropped = a;
    dropped[k - 1] = 0;
    EXPECT_FALSE(judge(e, matmul(dropped, b, 1, 1, k, 0)).ok());
    const Expected s = reference("sum", {{"axis", 0}}, {tensor({k}, a)});
    EXPECT_EQ(s.tolerance[0], 0);
    EXPECT_FALSE(judge(s, {add_up(dropped, 0)}).ok());
    // Integers of 13 bits against +-1: sums stay exact, half rounding does not.
    Floats wide(1000), ones(1000);
    for (std::size_t i = 0; i < 1000; ++i) {
        wide[i] = static_cast<float>(random.integer(static_cast<std::int64_t>(i), -8191, 8191, 2));
        ones[i] = i % 2 == 0 ? 1 : -1;
    }
    const Expected w = reference("matmul", {}, {tensor({1, 1000}, wide), tensor({1000, 1}, ones)});
    EXPECT_EQ(w.tolerance[0], 0);
    EXPECT_TRUE(judge(w, matmul(wide, ones, 1, 1, 1000, 2)).ok());
    EXPECT_FALSE(judge(w, matmul(rounded(DType::f16, wide), ones, 1, 1, 1000, 2)).ok());
}

TEST(Bounds, HalfMatmulAccumulatesInSingle) {
    constexpr std::int64_t m = 5, n = 6, k = 96;
    const Floats a = rounded(DType::f16, normal(m * k, "a")), b = rounded(DType::f16, normal(k * n, "b"));
    const Expected e =
        reference("matmul", {}, {tensor({m, k}, a, DType::f16), tensor({k, n}, b, DType::f16)}, DType::f16);
    for (int way = 0; way <= ways; ++way) EXPECT_TRUE(judge(e, matmul(a, b, m, n, k, way)).ok()) << way;
    Floats narrow;
    for (std::int64_t i = 0; i < m * n; ++i) {
        float sum = 0;
        for (std::int64_t l = 0; l < k; ++l) {
            const float term =
                a[static_cast<std::size_t>(i / n * k + l)] * b[static_cast<std::size_t>(l * n + i % n)];
            sum = static_cast<float>(round_to(DType::f16, sum + round_to(DType::f16, term)));
        }
        narrow.push_back(sum);
    }
    EXPECT_FALSE(judge(e, narrow).ok());
}

TEST(Bounds, SumAndMean) {
    for (const std::int64_t n : {1, 2, 3, 17, 300, 5000}) {
        const Floats x = normal(n, "x", 3, 0.5);
        const Expected sum = reference("sum", {{"axis", 0}}, {tensor({n}, x)});
        const Expected mean = reference("mean", {{"axis", 0}}, {tensor({n}, x)});
        for (int way = 0; way < ways; ++way) {
            EXPECT_TRUE(judge(sum, {add_up(x, way)}).ok()) << n << " way " << way;
            EXPECT_TRUE(judge(mean, {add_up(x, way) / static_cast<float>(n)}).ok()) << n << " way " << way;
            EXPECT_TRUE(judge(mean, {add_up(x, way) * (1.0F / static_cast<float>(n))}).ok())
                << n << " way " << way;
        }
        // The rounding errors of many terms cancel one another while the bound grows with their number.
        if (n <= 17) {
            EXPECT_FALSE(judge(sum, {add_up(rounded(DType::f16, x), 2)}).ok()) << n;
        }
    }
}

// One and two terms leave a single rounding: nothing but the correctly rounded value passes.
TEST(Bounds, FewTermsAreExact) {
    const Floats x = normal(2, "x");
    const Expected e = reference("sum", {{"axis", 0}}, {tensor({2}, x)});
    EXPECT_TRUE(judge(e, {x[0] + x[1]}).ok());
    EXPECT_FALSE(judge(e, {std::nextafter(x[0] + x[1], 100.0F)}).ok());
    const Expected add = reference("add", {}, {tensor({2}, x), tensor({1}, {x[1]})});
    EXPECT_TRUE(judge(add, {x[0] + x[1], x[1] + x[1]}).ok());
    EXPECT_FALSE(judge(add, {x[0] + x[1], std::nextafter(x[1] + x[1], 100.0F)}).ok());
    EXPECT_EQ(reference("mul", {}, {tensor({2}, x), tensor({2}, x)}).tolerance, std::vector<double>({0, 0}));
}

TEST(Bounds, AxpyFusedOrNot) {
    constexpr std::int64_t n = 2000;
    const Floats x = normal(n, "x"), y = normal(n, "y");
    for (const float alpha : {2.5F, 0.1F, -3.0F}) {
        const Expected e = reference("axpy", {{"alpha", alpha}}, {tensor({n}, x), tensor({n}, y)});
        Floats fused, twice, half;
        for (std::size_t i = 0; i < n; ++i) {
            fused.push_back(std::fma(alpha, x[i], y[i]));
            twice.push_back(alpha * x[i] + y[i]);
            half.push_back(static_cast<float>(round_to(DType::f16, alpha * x[i])) + y[i]);
        }
        EXPECT_TRUE(judge(e, fused).ok());
        EXPECT_TRUE(judge(e, twice).ok());
        EXPECT_FALSE(judge(e, half).ok());
    }
    // alpha as a kernel gets it, rounded to f32
    const Expected e = reference("axpy", {{"alpha", 0.1}}, {tensor({n}, x), tensor({n}, y)});
    Floats got;
    for (std::size_t i = 0; i < n; ++i) got.push_back(0.1F * x[i] + y[i]);
    EXPECT_TRUE(judge(e, got).ok());
}

TEST(Bounds, CumsumSequentialAndDoubling) {
    for (const std::int64_t n : {1, 2, 33, 1000}) {
        const Floats x = normal(n, "x", 1, 0.2);
        const Expected e = reference("cumsum", {{"axis", 0}}, {tensor({n}, x)});
        Floats sequential(x.size()), doubling = x;
        float sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) sequential[i] = sum += x[i];
        for (std::size_t step = 1; step < x.size(); step *= 2) {
            const Floats before = doubling;
            for (std::size_t i = step; i < x.size(); ++i) doubling[i] = before[i] + before[i - step];
        }
        EXPECT_TRUE(judge(e, sequential).ok()) << n;
        EXPECT_TRUE(judge(e, doubling).ok()) << n;
        Floats lost = sequential;
        for (std::size_t i = 32; i < lost.size(); ++i) lost[i] -= sequential[31];
        if (n > 32) {
            EXPECT_FALSE(judge(e, lost).ok());
        }
    }
}

// ---- softmax family
// -----------------------------------------------------------------------------------------

// 0: three passes with expf; 1: one pass, rescaling; 2: exp2f of scaled values; 3: reciprocal
Floats softmax(const Floats& x, int way) {
    float top = -INFINITY, sum = 0;
    Floats y;
    constexpr float log2e = 1.44269504F;
    if (way == 1) {
        for (const float v : x) {
            const float next = std::max(top, v);
            sum = sum * std::exp(top - next) + std::exp(v - next);
            top = next;
        }
    } else {
        for (const float v : x) top = std::max(top, v);
        for (const float v : x)
            sum += way == 2 ? std::exp2(std::fma(v, log2e, -(top * log2e))) : std::exp(v - top);
    }
    for (const float v : x) {
        const float e = way == 2 ? std::exp2(std::fma(v, log2e, -(top * log2e))) : std::exp(v - top);
        y.push_back(way == 3 ? e * (1 / sum) : e / sum);
    }
    return y;
}

struct Row {
    const char* name;
    Floats values;
};

std::vector<Row> rows(std::int64_t n) {
    std::vector<Row> out;
    out.push_back({"normal", normal(n, "x")});
    out.push_back({"huge", normal(n, "x", 3000)});
    out.push_back({"large mean", normal(n, "x", 1, 20000)});
    Floats ramp;
    for (std::int64_t i = 0; i < n; ++i) {
        ramp.push_back(static_cast<float>(6 * static_cast<double>(i) / static_cast<double>(n) - 3));
    }
    out.push_back({"sorted", ramp});
    std::reverse(ramp.begin(), ramp.end());
    out.push_back({"reversed", ramp});
    out.push_back({"constant", Floats(static_cast<std::size_t>(n), 1.7F)});
    out.push_back({"spike", normal(n, "x")});
    out.back().values.back() = 10000;
    return out;
}

TEST(Bounds, SoftmaxFamily) {
    for (const std::int64_t n : {1, 2, 5, 33, 257, 2000}) {
        for (const Row& row : rows(n)) {
            SCOPED_TRACE(fmt::format("{} {}", n, row.name));
            const Tensor x = tensor({1, n}, row.values);
            const Expected soft = reference("softmax", {{"axis", 1}}, {x});
            const Expected log_soft = reference("log_softmax", {{"axis", 1}}, {x});
            const Expected lse = reference("logsumexp", {{"axis", 1}}, {x});
            for (int way = 0; way < 4; ++way) {
                const Comparison c = judge(soft, softmax(row.values, way));
                EXPECT_TRUE(c.ok()) << "way " << way << ": " << c.message;
            }
            float top = -INFINITY, sum = 0;
            for (const float v : row.values) top = std::max(top, v);
            for (const float v : row.values) sum += std::exp(v - top);
            const float total = top + std::log(sum);
            Floats direct, from_total;
            for (const float v : row.values) {
                direct.push_back(v - top - std::log(sum));
                from_total.push_back(v - total);
            }
            EXPECT_TRUE(judge(log_soft, direct).ok()) << judge(log_soft, direct).message;
            EXPECT_TRUE(judge(log_soft, from_total).ok()) << judge(log_soft, from_total).message;
            EXPECT_TRUE(judge(lse, {total}).ok()) << judge(lse, {total}).message;
            const std::int64_t target = n / 2;
            const Tensor t = Tensor::from(DType::i32, {1}, {static_cast<double>(target)});
            const Expected loss = reference("cross_entropy", {{"axis", 1}}, {x, t});
            EXPECT_TRUE(judge(loss, {total - row.values[static_cast<std::size_t>(target)]}).ok());
        }
        if (n == 1 || n > 300) continue;
        const Floats x = normal(n, "x");
        const Expected soft = reference("softmax", {{"axis", 0}}, {tensor({n}, x)});
        EXPECT_FALSE(judge(soft, softmax(rounded(DType::f16, x), 0)).ok()) << n;
        EXPECT_FALSE(judge(soft, rounded(DType::f16, softmax(x, 0))).ok()) << n;
        Floats without_last = softmax(Floats(x.begin(), x.end() - 1), 0);
        without_last.push_back(std::exp(x.back() - *std::max_element(x.begin(), x.end())));
        EXPECT_FALSE(judge(soft, without_last).ok()) << n;
        if (n <= 33) {
            float sum = 0;
            for (const float v : rounded(DType::f16, x)) sum += std::exp(v);
            const Expected lse = reference("logsumexp", {{"axis", 0}}, {tensor({n}, x)});
            EXPECT_FALSE(judge(lse, {std::log(sum)}).ok()) << n;
        }
    }
}

// ---- normalisation
// ------------------------------------------------------------------------------------------

// 0: two passes; 1: Welford; 2: difference of means of squares (wrong for a large mean); 3: scale and shift
Floats layernorm(const Floats& x, float eps, int way) {
    const auto n = static_cast<float>(x.size());
    float mean = 0, var = 0;
    if (way == 1) {
        float count = 0;
        for (const float v : x) {
            count += 1;
            const float d = v - mean;
            mean += d / count;
            var += d * (v - mean);
        }
        var /= n;
    } else {
        float sum = 0, squares = 0;
        for (const float v : x) {
            sum += v;
            squares += v * v;
        }
        mean = sum / n;
        if (way == 2) {
            var = std::max(squares / n - mean * mean, 0.0F);
        } else {
            for (const float v : x) var += (v - mean) * (v - mean);
            var /= n;
        }
    }
    const float rstd = 1 / std::sqrt(var + eps);
    Floats y;
    for (const float v : x) y.push_back(way == 3 ? v * rstd + -mean * rstd : (v - mean) * rstd);
    return y;
}

TEST(Bounds, Layernorm) {
    for (const std::int64_t n : {1, 2, 17, 257, 1500}) {
        for (const Row& row : rows(n)) {
            SCOPED_TRACE(fmt::format("{} {}", n, row.name));
            const Expected e =
                reference("layernorm", {{"axis", 0}, {"eps", 1e-5}}, {tensor({n}, row.values)});
            for (const int way : {0, 1, 3}) {
                const Comparison c = judge(e, layernorm(row.values, 1e-5F, way));
                EXPECT_TRUE(c.ok()) << "way " << way << ": " << c.message;
            }
        }
        if (n <= 2) continue;  // two elements give +-1 whatever they are
        const Floats x = normal(n, "x");
        const Expected e = reference("layernorm", {{"axis", 0}}, {tensor({n}, x)});
        if (n <= 300) {
            EXPECT_FALSE(judge(e, layernorm(rounded(DType::f16, x), 1e-5F, 0)).ok()) << n;
        }
        if (n < 17 || n > 300) continue;
        const Floats far = normal(n, "x", 1, n < 100 ? 30000 : 8000);
        const Expected f = reference("layernorm", {{"axis", 0}}, {tensor({n}, far)});
        EXPECT_FALSE(judge(f, layernorm(far, 1e-5F, 2)).ok()) << n;
    }
}

TEST(Bounds, Rmsnorm) {
    for (const std::int64_t n : {1, 3, 64, 1000}) {
        const Floats x = normal(n, "x"), w = normal(n, "w");
        const Expected e = reference("rmsnorm", {{"axis", 0}}, {tensor({n}, x), tensor({n}, w)});
        const auto kernel = [&](const Floats& in, int way) {
            Floats squares, y;
            for (const float v : in) squares.push_back(v * v);
            const float r = 1 / std::sqrt(add_up(squares, way) / static_cast<float>(n) + 1e-5F);
            for (std::size_t i = 0; i < in.size(); ++i) y.push_back(in[i] * r * w[i]);
            return y;
        };
        for (int way = 0; way < ways; ++way) EXPECT_TRUE(judge(e, kernel(x, way)).ok()) << n << " " << way;
        if (n > 1) {
            EXPECT_FALSE(judge(e, kernel(rounded(DType::f16, x), 0)).ok()) << n;
        }
    }
}

// ---- attention
// ----------------------------------------------------------------------------------------------

Floats attention(const Floats& q, const Floats& k, const Floats& v, std::int64_t s, std::int64_t d,
                 bool causal, int offset = 0) {
    Floats o;
    const float scale = 1 / std::sqrt(static_cast<float>(d));
    for (std::int64_t i = 0; i < s; ++i) {
        float top = -INFINITY, sum = 0;
        Floats acc(static_cast<std::size_t>(d), 0);
        const std::int64_t keys = causal ? std::min(i + 1 + offset, s) : s;
        for (std::int64_t j = 0; j < keys; ++j) {
            float dot = 0;
            for (std::int64_t c = 0; c < d; ++c) {
                dot += q[static_cast<std::size_t>(i * d + c)] * k[static_cast<std::size_t>(j * d + c)];
            }
            dot *= scale;
            const float next = std::max(top, dot), shrink = std::exp(top - next), p = std::exp(dot - next);
            sum = sum * shrink + p;
            for (std::int64_t c = 0; c < d; ++c) {
                float& a = acc[static_cast<std::size_t>(c)];
                a = a * shrink + p * v[static_cast<std::size_t>(j * d + c)];
            }
            top = next;
        }
        for (const float a : acc) o.push_back(a / sum);
    }
    return o;
}

TEST(Bounds, Attention) {
    constexpr std::int64_t d = 16;
    for (const std::int64_t s : {1, 2, 17, 130}) {
        for (const double scale : {1.0, 6.0}) {
            const Floats q = normal(s * d, "q", scale), k = normal(s * d, "k", scale), v = normal(s * d, "v");
            for (const bool causal : {false, true}) {
                const Expected e = reference("attention", {{"causal", causal}},
                                             {tensor({s, d}, q), tensor({s, d}, k), tensor({s, d}, v)});
                const Comparison c = judge(e, attention(q, k, v, s, d, causal));
                EXPECT_TRUE(c.ok()) << c.message;
                if (s > 1 && causal && (scale < 2 || s > 2)) {
                    EXPECT_FALSE(judge(e, attention(q, k, v, s, d, true, 1)).ok());
                }
                if (s > 1 && s < 100 && (scale < 2 || s > 2)) {
                    EXPECT_FALSE(judge(e, attention(rounded(DType::f16, q), k, v, s, d, causal)).ok()) << s;
                }
            }
        }
    }
}

// ---- elementwise functions
// ----------------------------------------------------------------------------------

TEST(Bounds, Activations) {
    constexpr std::int64_t n = 4000;
    const auto sigmoid = [](float x) { return 1 / (1 + std::exp(-x)); };
    struct Case {
        const char* op;
        Json params;
        std::function<float(float)> kernel;
    };
    const std::vector<Case> cases{
        {"sigmoid", {}, sigmoid},
        {"sigmoid", {}, [](float x) { return 0.5F * std::tanh(0.5F * x) + 0.5F; }},
        {"silu", {}, [&](float x) { return x * sigmoid(x); }},
        {"silu", {}, [](float x) { return x / (1 + std::exp(-x)); }},
        {"tanh", {}, [](float x) { return std::tanh(x); }},
        {"tanh", {}, [](float x) { return 1 - 2 / (1 + std::exp(2 * x)); }},
        {"exp", {}, [](float x) { return std::exp2(x * 1.44269504F); }},
        {"gelu", {}, [](float x) { return 0.5F * x * (1 + std::erf(x * 0.707106781F)); }},
        {"gelu",
         {{"approximate", "tanh"}},
         [](float x) { return 0.5F * x * (1 + std::tanh(0.797884561F * (x + 0.044715F * x * x * x))); }},
        {"gelu",
         {{"approximate", "tanh"}},
         [&](float x) { return x * sigmoid(1.595769122F * (x + 0.044715F * x * x * x)); }},
        {"square", {}, [](float x) { return x * x; }},
    };
    for (const Case& c : cases) {
        for (const double scale : {1.0, 5.0, 25.0, 1e-6}) {
            SCOPED_TRACE(fmt::format("{} {}", c.op, scale));
            const Floats x = normal(n, "x", std::string(c.op) == "exp" && scale > 10 ? 12 : scale);
            const Expected e = reference(c.op, c.params, {tensor({n}, x)});
            Floats y, low;
            for (const float v : x) y.push_back(c.kernel(v));
            for (const float v : rounded(DType::f16, x)) low.push_back(c.kernel(v));
            const Comparison inside = judge(e, y);
            EXPECT_TRUE(inside.ok()) << inside.message;
            if (scale == 1) {
                EXPECT_FALSE(judge(e, low).ok());
            }
        }
    }
    const Floats x = normal(n, "x");
    const Expected exact = reference("gelu", {}, {tensor({n}, x)});
    Floats other;
    for (const float v : x)
        other.push_back(
            static_cast<float>(0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)))));
    EXPECT_FALSE(judge(exact, other).ok()) << "the tanh form is another function";
    Floats positive = x;
    for (float& v : positive) v = std::fabs(v) + 1e-3F;
    const Expected r = reference("rsqrt", {}, {tensor({n}, positive)});
    Floats inside, outside;
    for (const float v : positive) {
        inside.push_back(1 / std::sqrt(v));
        outside.push_back(static_cast<float>(1 / std::sqrt(round_to(DType::f16, v))));
    }
    EXPECT_TRUE(judge(r, inside).ok());
    EXPECT_FALSE(judge(r, outside).ok());
}

TEST(Bounds, Rope) {
    constexpr std::int64_t s = 200, h = 2, d = 16;
    const Floats x = normal(s * h * d, "x");
    const Expected e = reference("rope", {}, {tensor({s, h, d}, x)});
    const auto kernel = [&](const Floats& in) {
        Floats y(in.size());
        for (std::int64_t t = 0; t < s; ++t) {
            for (std::int64_t i = 0; i < d / 2; ++i) {
                const float frequency =
                    std::pow(10000.0F, -2.0F * static_cast<float>(i) / static_cast<float>(d));
                const float angle = static_cast<float>(t) * frequency;
                for (std::int64_t head = 0; head < h; ++head) {
                    const auto first = static_cast<std::size_t>((t * h + head) * d + i);
                    const auto second = first + static_cast<std::size_t>(d / 2);
                    y[first] = in[first] * std::cos(angle) - in[second] * std::sin(angle);
                    y[second] = in[first] * std::sin(angle) + in[second] * std::cos(angle);
                }
            }
        }
        return y;
    };
    EXPECT_TRUE(judge(e, kernel(x)).ok()) << judge(e, kernel(x)).message;
    EXPECT_FALSE(judge(e, kernel(rounded(DType::f16, x))).ok());
}

TEST(Bounds, GatedDeltaRule) {
    constexpr std::int64_t steps = 60, dk = 8, dv = 4;
    Floats q = normal(steps * dk, "q"), k = normal(steps * dk, "k");
    const Floats v = normal(steps * dv, "v");
    Floats beta, g;
    for (std::int64_t t = 0; t < steps; ++t) {
        beta.push_back(0.1F + 0.015F * static_cast<float>(t));
        g.push_back(-0.3F * std::fabs(std::sin(static_cast<float>(t))));
        float norm = 0;
        for (std::int64_t i = 0; i < dk; ++i)
            norm += k[static_cast<std::size_t>(t * dk + i)] * k[static_cast<std::size_t>(t * dk + i)];
        for (std::int64_t i = 0; i < dk; ++i) k[static_cast<std::size_t>(t * dk + i)] /= std::sqrt(norm);
    }
    const std::vector<Tensor> inputs{tensor({steps, 1, dk}, q), tensor({steps, 1, dk}, k),
                                     tensor({steps, 1, dv}, v), tensor({steps, 1}, beta),
                                     tensor({steps, 1}, g)};
    const Expected o = reference("gated_delta_rule", {{"scale", 0.5}}, inputs);
    const Expected state = reference("gated_delta_rule", {{"scale", 0.5}}, inputs, DType::f32, 1);
    const auto kernel = [&](const Floats& keys, Floats& s) {
        Floats out;
        s.assign(dk * dv, 0);
        for (std::int64_t t = 0; t < steps; ++t) {
            const float* kt = keys.data() + t * dk;
            Floats error(dv);
            for (std::size_t j = 0; j < dv; ++j) {
                float dot = 0;
                for (std::size_t i = 0; i < dk; ++i) {
                    s[i * dv + j] *= std::exp(g[static_cast<std::size_t>(t)]);
                    dot += s[i * dv + j] * kt[i];
                }
                error[j] =
                    (v[static_cast<std::size_t>(t * dv) + j] - dot) * beta[static_cast<std::size_t>(t)];
            }
            for (std::size_t j = 0; j < dv; ++j) {
                float dot = 0;
                for (std::size_t i = 0; i < dk; ++i) {
                    s[i * dv + j] += kt[i] * error[j];
                    dot += s[i * dv + j] * q[static_cast<std::size_t>(t * dk) + i];
                }
                out.push_back(0.5F * dot);
            }
        }
        return out;
    };
    Floats s;
    EXPECT_TRUE(judge(o, kernel(k, s)).ok());
    EXPECT_TRUE(judge(state, s).ok());
    EXPECT_FALSE(judge(o, kernel(rounded(DType::f16, k), s)).ok());
    EXPECT_FALSE(judge(state, s).ok());
    // The bound must not explode with the number of steps.
    EXPECT_LT(*std::max_element(o.tolerance.begin(), o.tolerance.end()), 1e-3);
}

TEST(Bounds, ConvolutionAndPool) {
    constexpr std::int64_t c = 3, h = 7, w = 6, o = 4;
    const Floats x = normal(c * h * w, "x"), f = normal(o * c * 9, "w");
    const Expected e =
        reference("conv2d", {{"padding", 1}}, {tensor({1, c, h, w}, x), tensor({o, c, 3, 3}, f)});
    const auto kernel = [&](const Floats& in, int way) {
        Floats y;
        for (std::int64_t k = 0; k < o; ++k) {
            for (std::int64_t i = 0; i < h; ++i) {
                for (std::int64_t j = 0; j < w; ++j) {
                    Floats terms;
                    for (std::int64_t t = 0; t < c * 9; ++t) {
                        const std::int64_t ch = t / 9, yy = i - 1 + t % 9 / 3, xx = j - 1 + t % 3;
                        const bool inside = yy >= 0 && yy < h && xx >= 0 && xx < w;
                        terms.push_back(inside ? in[static_cast<std::size_t>((ch * h + yy) * w + xx)] *
                                                     f[static_cast<std::size_t>(k * c * 9 + t)]
                                               : 0.0F);
                    }
                    y.push_back(add_up(terms, way));
                }
            }
        }
        return y;
    };
    for (int way = 0; way < ways; ++way) EXPECT_TRUE(judge(e, kernel(x, way)).ok()) << way;
    EXPECT_FALSE(judge(e, kernel(rounded(DType::f16, x), 0)).ok());
}

// red.add.f32 takes subnormal operands and results for zero; no other value may be lost.
TEST(Bounds, SumsByAtomicsMayFlushSubnormals) {
    const Expected tiny = reference("sum", {}, {tensor({2}, {3e-39F, -1e-39F})});
    EXPECT_TRUE(judge(tiny, {0.0F}).ok());
    EXPECT_TRUE(judge(tiny, {3e-39F - 1e-39F}).ok());
    EXPECT_FALSE(judge(tiny, {1e-37F}).ok());
    const Expected normal = reference("sum", {}, {tensor({2}, {0x1p-126F, 0x1p-125F})});
    EXPECT_FALSE(judge(normal, {0x1p-125F}).ok());
    EXPECT_EQ(normal.tolerance[0], 0);
    const Expected scattered =
        reference("scatter_add", {{"axis", 0}},
                  {tensor({1}, {0}), Tensor::from(DType::i32, {1}, {0}), tensor({1}, {1e-39F})});
    EXPECT_TRUE(judge(scattered, {0.0F}).ok());
}

// y may come from the sum before or after it is rounded for storing; what lies between the two is neither.
TEST(Bounds, AddRmsnormHasTwoAnswers) {
    const Tensor x = Tensor::from(DType::f16, {1, 2}, {1024, 1}),
                 r = Tensor::from(DType::f16, {1, 2}, {0.5, 1});
    const Tensor w = Tensor::from(DType::f16, {2}, {1, 1});
    const auto out =
        compute_reference("add_rmsnorm", {{"eps", 1e-5}}, {x, r, w}, {}, {DType::f32, DType::f16});
    ASSERT_TRUE(out.ok()) << out.error().str();
    const Expected& y = out->front();
    const double inverse = 1 / std::sqrt((1024.5 * 1024.5 + 4) / 2 + 1e-5);
    EXPECT_NEAR(y.value[0], 1024.5 * inverse, 1e-6);
    EXPECT_NEAR(y.second[0], 1024 * inverse, 1e-6);
    const float second = static_cast<float>(y.value[1]);
    EXPECT_TRUE(judge(y, {static_cast<float>(y.value[0]), second}).ok());
    EXPECT_TRUE(judge(y, {static_cast<float>(y.second[0]), second}).ok());
    EXPECT_FALSE(judge(y, {static_cast<float>(1023 * inverse), second}).ok());
}

TEST(Bounds, KmeansAcceptsOnlyWhatRoundingExplains) {
    // Exact arithmetic: the first of two equal distances, nothing else.
    const Expected exact =
        reference("kmeans_assign", {}, {tensor({1, 2}, {0, 0}), tensor({2, 2}, {1, 0, 0, 1})}, DType::i32);
    EXPECT_TRUE(exact.alternatives.empty());
    EXPECT_EQ(exact.integer, std::vector<std::int64_t>({0}));
    // Two centroids whose distances differ by less than their rounding: either is right.
    const Expected close = reference(
        "kmeans_assign", {},
        {tensor({1, 2}, {0.1F, 0.2F}), tensor({3, 2}, {1000.1F, 0.2F, 1000.1F, 0.2001F, 5, 5})}, DType::i32);
    EXPECT_EQ(close.integer, std::vector<std::int64_t>({2}));
    EXPECT_TRUE(close.alternatives.empty());
    const Expected twins = reference(
        "kmeans_assign", {},
        {tensor({1, 2}, {0.1F, 0.2F}), tensor({2, 2}, {1000.1F, 0.2F, 1000.1F, 0.2001F})}, DType::i32);
    ASSERT_EQ(twins.alternatives.size(), 1U);
    EXPECT_EQ(twins.alternatives[0].values.size(), 2U);
    // |x|^2 - 2 x.c + |c|^2 loses the small distance of a point far from the origin.
    const float a = 1000.125F, b = 1000.0625F, c = 999.9375F, d = 1000.25F;
    const auto found = compute_reference(
        "kmeans_assign", {}, {tensor({1, 2}, {a, b}), tensor({1, 2}, {c, d})}, {}, {DType::i32, DType::f32});
    ASSERT_TRUE(found.ok()) << found.error().str();
    const Expected& far = found->back();
    EXPECT_TRUE(judge(far, {(a - c) * (a - c) + (b - d) * (b - d)}).ok());
    EXPECT_FALSE(judge(far, {(a * a + b * b) - 2 * (a * c + b * d) + (c * c + d * d)}).ok());
}

}  // namespace
}  // namespace kernelwright
