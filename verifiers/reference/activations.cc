// Elementwise functions of one operand, and swiglu.
#include "verifiers/reference/functions.h"
#include "verifiers/reference/op.h"
#include "verifiers/reference/parallel.h"

namespace kernelwright::reference {
namespace {

Result<std::vector<Shape>> same_shape(const Call& call) { return std::vector<Shape>{call.shape(0)}; }

template <class Body>
void for_each(std::int64_t count, const Body& body) {
    parallel_for(count, 20, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) body(i, static_cast<std::size_t>(i));
    });
}

enum class Exact { relu, abs, neg, square };

// PyTorch's relu passes NaN on; either zero gives +0.
double apply(Exact kind, double x) {
    switch (kind) {
        case Exact::relu:
            return std::isnan(x) || x > 0 ? x : 0.0;
        case Exact::abs:
            return std::fabs(x);
        case Exact::neg:
            return -x;
        case Exact::square:
            return x * x;
    }
    return 0;
}

std::int64_t apply(Exact kind, std::int64_t x) {
    const auto u = static_cast<std::uint64_t>(x);
    switch (kind) {
        case Exact::relu:
            return x > 0 ? x : 0;
        case Exact::abs:
            return static_cast<std::int64_t>(x < 0 ? 0 - u : u);
        case Exact::neg:
            return static_cast<std::int64_t>(0 - u);
        case Exact::square:
            return static_cast<std::int64_t>(u * u);
    }
    return 0;
}

template <Exact kind>
Result<std::vector<Expected>> exact(const Call& call) {
    const Array& x = call.array(0);
    Builder y(
        call.results[0], x.shape,
        kind == Exact::square ? "one rounding: the correctly rounded square" : "exact: no rounding at all");
    y.expected().signed_zero = true;
    if (x.integral()) {
        for_each(x.count(),
                 [&](std::int64_t i, std::size_t k) { y.set_integer(i, apply(kind, x.integers[k])); });
        return std::vector<Expected>{y.take()};
    }
    const Precision p = call.precision();
    const Rounder arithmetic(p.type);
    const DType out = call.results[0];
    // x*x of a short type is exact in f32; only a wider input rounds twice on its way to a narrower result.
    const bool twice =
        kind == Exact::square && out != p.type && 2 * significand_bits(x.dtype) > p.significand;
    for_each(x.count(), [&](std::int64_t i, std::size_t k) {
        const double value = apply(kind, x.values[k]);
        const bool middle = twice && std::isfinite(value);
        y.set(i, value, middle ? std::fabs(arithmetic.round(value) - value) : 0.0);
    });
    return std::vector<Expected>{y.take()};
}

Estimate exp_estimate(const Precision& p, double x) {
    const double y = std::exp(x);
    if (!std::isfinite(x)) return {y, 0};
    if (x == 0) return {1, 2 * p.u};
    return {y, y * exp_relative(p, x) + p.smallest_normal};
}

Estimate rsqrt_estimate(const Precision& p, double x) {
    const double y = 1 / std::sqrt(x);
    if (!std::isfinite(y) || y == 0) return {y, 0};
    return {y, y * rsqrt_relative(p)};
}

template <Estimate (*function)(const Precision&, double)>
Expected map(const Call& call, const char* bound) {
    const Array& x = call.array(0);
    const Precision p = call.precision();
    Builder y(call.results[0], x.shape, bound);
    for_each(x.count(), [&](std::int64_t i, std::size_t k) {
        const Estimate e = function(p, x.values[k]);
        y.set(i, e.value, e.error);
    });
    return y.take();
}

template <Estimate (*function)(const Precision&, double)>
Result<std::vector<Expected>> smooth(const Call& call) {
    return std::vector<Expected>{map<function>(
        call, "accuracy of the functions used (CUDA guide, PTX ISA) through the formula's slopes")};
}

Result<std::vector<Expected>> gelu(const Call& call) {
    const bool by_tanh = call.text("approximate") == "tanh";
    return std::vector<Expected>{
        by_tanh ? map<gelu_tanh_estimate>(call, "tanhf or exp (CUDA guide) through x/2 (1 + tanh w)")
                : map<gelu_estimate>(call, "erff 2 ulp (CUDA guide) through x/2 (1 + erf(x / sqrt 2))")};
}

Result<std::vector<Shape>> swiglu_shape(const Call& call) {
    auto shape = broadcast_shape(call, call.shape(0), call.shape(1));
    if (!shape) return shape.error();
    return std::vector<Shape>{*shape};
}

Result<std::vector<Expected>> swiglu(const Call& call) {
    const Array& gate = call.array(0);
    const Array& up = call.array(1);
    const Shape shape = *broadcast_shape(call, gate.shape, up.shape);
    const std::vector<std::int64_t> ig = broadcast_index(gate.shape, shape);
    const std::vector<std::int64_t> iu = broadcast_index(up.shape, shape);
    const Precision p = call.precision();
    // Two products in either order; silu(gate) is not rounded to a short type in between.
    Builder y(call.results[0], shape, "exp and division (CUDA guide) through silu(gate) up");
    for_each(element_count(shape), [&](std::int64_t i, std::size_t k) {
        const Estimate s = silu_estimate(p, gate.values[static_cast<std::size_t>(ig[k])]);
        const double u = up.values[static_cast<std::size_t>(iu[k])];
        const double value = s.value * u;
        y.set(i, value, std::isfinite(value) ? s.error * std::fabs(u) + 2 * p.u * std::fabs(value) : 0.0);
    });
    return std::vector<Expected>{y.take()};
}

template <int flops>
double per_element(const Call&, const std::vector<OutputSpec>& outputs) {
    return flops * static_cast<double>(element_count(outputs[0].shape));
}

}  // namespace

std::vector<Op> activation_ops() {
    const auto row = [](const char* name, ComputeRule compute, FlopRule flops, ResultKind kind) {
        return Op{.name = name,
                  .operands = {{"x"}},
                  .results = {{"y", kind}},
                  .params = {},
                  .shapes = same_shape,
                  .compute = compute,
                  .flops = flops};
    };
    std::vector<Op> ops{
        row("relu", exact<Exact::relu>, per_element<1>, ResultKind::same_domain),
        row("abs", exact<Exact::abs>, per_element<1>, ResultKind::same_domain),
        row("neg", exact<Exact::neg>, per_element<1>, ResultKind::same_domain),
        row("square", exact<Exact::square>, per_element<1>, ResultKind::same_domain),
        row("sigmoid", smooth<sigmoid_estimate>, per_element<4>, ResultKind::floating),
        row("silu", smooth<silu_estimate>, per_element<5>, ResultKind::floating),
        row("tanh", smooth<tanh_estimate>, per_element<6>, ResultKind::floating),
        row("exp", smooth<exp_estimate>, per_element<2>, ResultKind::floating),
        row("rsqrt", smooth<rsqrt_estimate>, per_element<1>, ResultKind::floating),
    };
    ops.push_back({.name = "gelu",
                   .operands = {{"x"}},
                   .results = {{"y", ResultKind::floating}},
                   .params = {{.name = "approximate",
                               .kind = ParamKind::choice,
                               .default_text = "none",
                               .choices = {"none", "tanh"}}},
                   .shapes = same_shape,
                   .compute = gelu,
                   .flops = per_element<8>});
    ops.push_back({.name = "swiglu",
                   .operands = {{"gate"}, {"up"}},
                   .results = {{"y", ResultKind::floating}},
                   .params = {},
                   .shapes = swiglu_shape,
                   .compute = swiglu,
                   .flops = per_element<6>});
    return ops;
}

}  // namespace kernelwright::reference
