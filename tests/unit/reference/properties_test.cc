// What holds for each op whatever the numbers: identities between ops, symmetries, limiting cases.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <numeric>

#include "verifiers/numerics/random.h"
#include "verifiers/reference/reference.h"

namespace kernelwright {
namespace {

Tensor draw(const Shape& shape, const char* name, DType dtype = DType::f64) {
    const RandomStream random(2, name);
    Tensor t = Tensor::zeros(dtype, shape);
    for (std::int64_t i = 0; i < t.count(); ++i) t.set(i, random.normal(i));
    return t;
}

Tensor map(Tensor t, const std::function<double(double)>& f) {
    for (std::int64_t i = 0; i < t.count(); ++i) t.set(i, f(t.at(i)));
    return t;
}

std::vector<double> run(const std::string& op, const Json& params, const std::vector<Tensor>& inputs,
                        DType out = DType::f64, std::size_t result = 0,
                        const std::vector<std::string>& operands = {}) {
    const auto e = compute_reference(op, params, inputs, operands, std::vector<DType>(result + 1, out));
    EXPECT_TRUE(e.ok()) << (e.ok() ? "" : e.error().str());
    return e.ok() ? (*e)[result].value : std::vector<double>{};
}

void near(const std::vector<double>& a, const std::vector<double>& b, double tolerance = 1e-12) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

TEST(Properties, SoftmaxRowsAreDistributionsAndShiftsDoNotMatter) {
    const Tensor x = draw({5, 31}, "x");
    const auto y = run("softmax", {{"axis", 1}}, {x});
    for (int r = 0; r < 5; ++r)
        EXPECT_NEAR(std::accumulate(y.begin() + r * 31, y.begin() + (r + 1) * 31, 0.0), 1, 1e-14);
    near(y, run("softmax", {{"axis", 1}}, {map(x, [](double v) { return v + 1000; })}));
    const auto log_y = run("log_softmax", {{"axis", 1}}, {x});
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(std::exp(log_y[i]), y[i], 1e-14);
}

TEST(Properties, LayernormHasTheRightMoments) {
    const Tensor x = map(draw({3, 200}, "x"), [](double v) { return 5 * v + 40; });
    const auto y = run("layernorm", {{"axis", 1}, {"eps", 0.0}}, {x});
    for (int r = 0; r < 3; ++r) {
        double sum = 0, squares = 0;
        for (int c = 0; c < 200; ++c) {
            sum += y[static_cast<std::size_t>(r * 200 + c)];
            squares += std::pow(y[static_cast<std::size_t>(r * 200 + c)], 2);
        }
        EXPECT_NEAR(sum / 200, 0, 1e-12);
        EXPECT_NEAR(squares / 200, 1, 1e-12);
    }
    const auto z = run("rmsnorm", {{"axis", 1}, {"eps", 0.0}}, {x});
    double squares = 0;
    for (int c = 0; c < 200; ++c) squares += z[static_cast<std::size_t>(c)] * z[static_cast<std::size_t>(c)];
    EXPECT_NEAR(squares / 200, 1, 1e-12);
}

TEST(Properties, GroupnormWithOneGroupIsLayernormOverAllButTheBatch) {
    const Tensor x = draw({2, 6, 5}, "x");
    near(run("groupnorm", {{"groups", 1}}, {x}), run("layernorm", {{"axis", Json::array({1, 2})}}, {x}));
}

TEST(Properties, OptionalOperandsByName) {
    const Tensor x = draw({4, 8}, "x"), beta = draw({8}, "beta");
    const auto plain = run("layernorm", {{"axis", 1}}, {x});
    const auto shifted = run("layernorm", {{"axis", 1}}, {x, beta}, DType::f64, 0, {"", "beta"});
    for (std::size_t i = 0; i < plain.size(); ++i) {
        EXPECT_NEAR(shifted[i], plain[i] + beta.at(static_cast<std::int64_t>(i % 8)), 1e-14);
    }
}

TEST(Properties, CumsumForwardsAndBackwards) {
    const Tensor x = draw({40}, "x");
    const auto forward = run("cumsum", {{"axis", 0}}, {x});
    const auto backward = run("cumsum", {{"axis", 0}, {"reverse", true}}, {x});
    const auto before = run("cumsum", {{"axis", 0}, {"exclusive", true}}, {x});
    const double total = run("sum", {{"axis", 0}}, {x})[0];
    for (std::size_t i = 0; i < 40; ++i) {
        EXPECT_NEAR(forward[i] + backward[i], total + x.at(static_cast<std::int64_t>(i)), 1e-13);
        EXPECT_NEAR(before[i] + x.at(static_cast<std::int64_t>(i)), forward[i], 1e-13);
    }
}

TEST(Properties, ProductsOfMatrices) {
    const Tensor a = draw({4, 6}, "a"), b = draw({6, 3}, "b");
    const auto c = run("matmul", {}, {a, b});
    // (A B)^T = B^T A^T
    const auto turned = run("matmul", {{"transpose_a", true}, {"transpose_b", true}}, {b, a});
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(c[i * 3 + j], turned[j * 4 + i], 1e-14);
    }
    Tensor identity = Tensor::zeros(DType::f64, {6, 6});
    for (std::int64_t i = 0; i < 6; ++i) identity.set(i * 7, 1);
    near(run("matmul", {}, {a, identity}), a.values(), 0);
    // odd sizes and sizes beyond one strip of columns
    const Tensor wide = draw({3, 5}, "wide"), long_ = draw({5, 2100}, "long");
    const auto product = run("matmul", {}, {wide, long_});
    for (const std::int64_t j : {0, 1023, 1024, 2099}) {
        double sum = 0;
        for (std::int64_t k = 0; k < 5; ++k) sum += wide.at(10 + k) * long_.at(k * 2100 + j);
        EXPECT_NEAR(product[static_cast<std::size_t>(2 * 2100 + j)], sum, 1e-13);
    }
}

TEST(Properties, ConvolutionOfOneByOneIsAProduct) {
    const Tensor x = draw({1, 5, 4, 3}, "x"), w = draw({7, 5, 1, 1}, "w");
    const Tensor flat_x{DType::f64, {5, 12}, x.data}, flat_w{DType::f64, {7, 5}, w.data};
    near(run("conv2d", {}, {x, w}), run("matmul", {}, {flat_w, flat_x}));
    const Tensor d = draw({5, 1, 3, 3}, "d");
    near(run("depthwise_conv2d", {{"padding", 1}}, {x, d}),
         run("conv2d", {{"padding", 1}, {"groups", 5}}, {x, d}), 0);
}

TEST(Properties, ConvolutionIsLinearAndPoolsOfOneAreCopies) {
    const Tensor x = draw({1, 2, 6, 6}, "x"), w = draw({3, 2, 3, 3}, "w");
    const auto y = run("conv2d", {{"stride", 2}}, {x, w});
    const auto doubled = run("conv2d", {{"stride", 2}}, {map(x, [](double v) { return 2 * v; }), w});
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_DOUBLE_EQ(doubled[i], 2 * y[i]);
    near(run("maxpool2d", {{"kernel", 1}}, {x}), x.values(), 0);
    near(run("avgpool2d", {{"kernel", 1}}, {x}), x.values(), 0);
}

TEST(Properties, AttentionWithOneKeyAndWithEqualKeys) {
    const Tensor q = draw({3, 4}, "q"), k = draw({1, 4}, "k"), v = draw({1, 4}, "v");
    const auto o = run("attention", {}, {q, k, v});
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t c = 0; c < 4; ++c)
            EXPECT_NEAR(o[i * 4 + c], v.at(static_cast<std::int64_t>(c)), 1e-15);
    }
    const Tensor same = map(draw({5, 4}, "k5"), [](double) { return 0.5; }), values = draw({5, 4}, "v5");
    const auto mean = run("mean", {{"axis", 0}}, {values});
    const auto average = run("attention", {}, {q, same, values});
    for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(average[i], mean[i % 4], 1e-14);
    // decoding the last token is the last row of causal attention
    const Tensor qs = draw({5, 4}, "qs"), ks = draw({5, 4}, "ks");
    const auto full = run("attention", {{"causal", true}}, {qs, ks, values});
    Tensor last = Tensor::zeros(DType::f64, {1, 1, 4});
    for (std::int64_t c = 0; c < 4; ++c) last.set(c, qs.at(16 + c));
    const Tensor length = Tensor::from(DType::i32, {1}, {5});
    const auto one = run("attention_decode", {},
                         {last, Tensor{DType::f64, {1, 5, 1, 4}, ks.data},
                          Tensor{DType::f64, {1, 5, 1, 4}, values.data}, length});
    for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(one[c], full[16 + c], 1e-14);
}

TEST(Properties, RopeTurnsPairsAndLeavesPositionZero) {
    const Tensor x = draw({9, 2, 6}, "x");
    const auto y = run("rope", {}, {x});
    for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(y[i], x.at(static_cast<std::int64_t>(i)));
    for (std::size_t row = 0; row < 18; ++row) {
        for (std::size_t i = 0; i < 3; ++i) {
            const auto a = static_cast<std::int64_t>(row * 6 + i);
            EXPECT_NEAR(std::hypot(y[row * 6 + i], y[row * 6 + i + 3]), std::hypot(x.at(a), x.at(a + 3)),
                        1e-14);
        }
    }
    // angle of pair 0 is the position itself
    EXPECT_NEAR(y[12], x.at(12) * std::cos(1.0) - x.at(15) * std::sin(1.0), 1e-14);
}

TEST(Properties, DeltaRuleStoresAndRetrieves) {
    // g = 0, beta = 1 and orthonormal keys: S^T k_t is v_t, for every earlier key too.
    constexpr std::int64_t n = 4;
    Tensor keys = Tensor::zeros(DType::f64, {n, 1, n});
    for (std::int64_t i = 0; i < n; ++i) keys.set(i * n + i, 1);
    const Tensor v = draw({n, 1, 3}, "v"), beta = Tensor::from(DType::f64, {n, 1}, {1, 1, 1, 1});
    const Tensor g = Tensor::zeros(DType::f64, {n, 1});
    near(run("gated_delta_rule", {{"scale", 1.0}}, {keys, keys, v, beta, g}), v.values(), 1e-15);
    near(run("gated_delta_rule", {{"scale", 1.0}}, {keys, keys, v, beta, g}, DType::f64, 1), v.values(),
         1e-15);
    // beta = 0 writes nothing
    near(run("gated_delta_rule", {{"scale", 1.0}}, {keys, keys, v, map(beta, [](double) { return 0.0; }), g}),
         std::vector<double>(12, 0));
    // a repeated key overwrites
    Tensor same = Tensor::zeros(DType::f64, {2, 1, 1});
    same.set(0, 1);
    same.set(1, 1);
    const auto o = run("gated_delta_rule", {{"scale", 1.0}},
                       {same, same, Tensor::from(DType::f64, {2, 1, 1}, {3, 7}),
                        Tensor::from(DType::f64, {2, 1}, {1, 1}), Tensor::zeros(DType::f64, {2, 1})});
    near(o, {3, 7});
}

TEST(Properties, QuantizeRoundTrip) {
    const Tensor x = draw({4, 64}, "x", DType::f32);
    for (const DType dtype : {DType::i8, DType::e4m3, DType::i4, DType::e2m1, DType::e5m2}) {
        const auto e = compute_reference("quantize", {{"dtype", to_string(dtype)}, {"block", 16}}, {x}, {},
                                         {dtype, DType::f32});
        ASSERT_TRUE(e.ok()) << e.error().str();
        const Tensor q = Tensor::from(dtype, {4, 64}, (*e)[0].value),
                     scale = Tensor::from(DType::f32, {4, 4}, (*e)[1].value);
        const auto back = run("dequantize", {{"block", 16}}, {q, scale}, DType::f32);
        for (std::int64_t i = 0; i < 256; ++i) {
            const double step = is_float(dtype)
                                    ? 2 * unit_roundoff(dtype) * std::fabs(x.at(i)) + scale.at(i / 16)
                                    : 0.501 * scale.at(i / 16);
            EXPECT_NEAR(back[static_cast<std::size_t>(i)], x.at(i), step) << to_string(dtype);
        }
    }
}

TEST(Properties, ScaledProductWithUnitScalesIsAProduct) {
    Tensor a = draw({3, 8}, "a", DType::e4m3), b = draw({8, 2}, "b", DType::e4m3);
    const Tensor sa = map(draw({3, 2}, "s", DType::f32), [](double) { return 1.0; });
    const Tensor sb = map(draw({2, 2}, "s", DType::f32), [](double) { return 1.0; });
    near(run("matmul_scaled", {{"block", 4}}, {a, b, sa, sb}, DType::f32),
         run("matmul", {}, {a, b}, DType::f32), 0);
}

TEST(Properties, SortAndTopkAgree) {
    const Tensor x = draw({3, 50}, "x", DType::f16);
    const auto sorted = run("sort", {{"axis", 1}, {"descending", true}}, {x}, DType::f16);
    const auto top = run("topk", {{"axis", 1}, {"k", 7}}, {x}, DType::f16);
    for (std::size_t r = 0; r < 3; ++r) {
        for (std::size_t k = 0; k < 7; ++k) EXPECT_EQ(top[r * 7 + k], sorted[r * 50 + k]);
    }
}

TEST(Properties, RoundingOfTheResultIsInTheTolerance) {
    const Tensor x = draw({1000}, "x", DType::f16);
    const auto e = compute_reference("sigmoid", {}, {x}, {}, {DType::f16});
    ASSERT_TRUE(e.ok());
    for (std::size_t i = 0; i < 1000; ++i) {
        const double v = (*e)[0].value[i];
        EXPECT_LE(std::fabs(round_to(DType::f16, v) - v), (*e)[0].tolerance[i]);
        EXPECT_LE((*e)[0].tolerance[i], 1e-3);
    }
}

TEST(Properties, BigJobsAreQuick) {
    const auto seconds = [](auto&& job) {
        const auto start = std::chrono::steady_clock::now();
        job();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const Tensor a = draw({512, 512}, "a", DType::f32);
    const double product = seconds([&] { run("matmul", {}, {a, a}, DType::f32); });
    const Tensor x = draw({4096, 1024}, "x", DType::f32);
    const double soft = seconds([&] { run("softmax", {{"axis", 1}}, {x}, DType::f32); });
    RecordProperty("matmul_512_ms", static_cast<int>(1000 * product));
    RecordProperty("softmax_4096x1024_ms", static_cast<int>(1000 * soft));
    EXPECT_LT(product, 20);  // generous: the machine may be busy, a sanitizer may be on
    EXPECT_LT(soft, 20);
    printf("matmul 512^3: %.2f s, softmax 4096 x 1024: %.2f s\n", product, soft);
}

}  // namespace
}  // namespace kernelwright
