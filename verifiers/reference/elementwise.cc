// Elementwise arithmetic of two operands. One IEEE operation is one rounding, so most answers here are exact
// demands: the correctly rounded value or nothing. Where a result is narrower than the arithmetic (f32 sums
// stored as f16), the double rounding is what the bound allows, and it is computed, not estimated: both ways
// of rounding are known once the value is.
#include <fmt/format.h>

#include "verifiers/reference/functions.h"
#include "verifiers/reference/op.h"
#include "verifiers/reference/parallel.h"

namespace kernelwright::reference {
namespace {

Result<std::vector<Shape>> binary_shape(const Call& call) {
    auto shape = broadcast_shape(call, call.shape(0), call.shape(1));
    if (!shape) return shape.error();
    return std::vector<Shape>{*shape};
}

// The error of rounding a value to f32 before it is stored in a narrower type. Nothing when the store is to
// the arithmetic's own type, or when all inputs already have the output's short type: then one rounding to 24
// bits followed by one to p <= 11 bits gives what a single rounding gives (Figueroa 1995: 24 >= 2p + 2).
struct Intermediate {
    Intermediate(const Call& call, const Precision& p) : middle(p.type) {
        const DType out = call.results[0];
        bool innocuous = out == p.type;
        if (is_float(out) && significand_bits(out) <= 11) {
            innocuous = true;
            for (const auto& spec : call.specs) innocuous = innocuous && spec && spec->dtype == out;
        }
        matters = !innocuous;
    }
    double error(double value) const {
        if (!matters || !std::isfinite(value)) return 0;
        return std::fabs(middle.round(value) - value);
    }
    Rounder middle;
    bool matters = false;
};

enum class Binary { add, sub, mul, maximum, minimum };

// Zeros of both signs compare equal, so either is a right answer of max and min; NaN wins as in PyTorch.
double apply(Binary kind, double a, double b) {
    switch (kind) {
        case Binary::add:
            return a + b;
        case Binary::sub:
            return a - b;
        case Binary::mul:
            return a * b;
        case Binary::maximum:
            return std::isnan(a) || a > b ? a : b;
        case Binary::minimum:
            return std::isnan(a) || a < b ? a : b;
    }
    return 0;
}

std::int64_t apply(Binary kind, std::int64_t a, std::int64_t b) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    switch (kind) {
        case Binary::add:
            return static_cast<std::int64_t>(x + y);
        case Binary::sub:
            return static_cast<std::int64_t>(x - y);
        case Binary::mul:
            return static_cast<std::int64_t>(x * y);
        case Binary::maximum:
            return std::max(a, b);
        case Binary::minimum:
            return std::min(a, b);
    }
    return 0;
}

// Calls body(i, ia, ib) for every output element with the operands' elements.
template <class Body>
void for_each_pair(const Shape& a, const Shape& b, const Shape& out, const Body& body) {
    const std::int64_t count = element_count(out);
    const std::vector<std::int64_t> ia = a == out ? std::vector<std::int64_t>{} : broadcast_index(a, out);
    const std::vector<std::int64_t> ib = b == out ? std::vector<std::int64_t>{} : broadcast_index(b, out);
    parallel_for(count, 10, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const auto k = static_cast<std::size_t>(i);
            body(i, ia.empty() ? k : static_cast<std::size_t>(ia[k]),
                 ib.empty() ? k : static_cast<std::size_t>(ib[k]));
        }
    });
}

template <Binary kind>
Result<std::vector<Expected>> binary(const Call& call) {
    const Array& a = call.array(0);
    const Array& b = call.array(1);
    const Shape shape = *broadcast_shape(call, a.shape, b.shape);
    const bool selects = kind == Binary::maximum || kind == Binary::minimum;
    Builder y(call.results[0], shape,
              selects ? "exact: one of the operands" : "one rounding: the correctly rounded result");
    y.expected().signed_zero = !selects;
    if (call.integral()) {
        for_each_pair(a.shape, b.shape, shape, [&](std::int64_t i, std::size_t j, std::size_t k) {
            y.set_integer(i, apply(kind, a.integers[j], b.integers[k]));
        });
        return std::vector<Expected>{y.take()};
    }
    const Intermediate intermediate(call, call.precision());
    for_each_pair(a.shape, b.shape, shape, [&](std::int64_t i, std::size_t j, std::size_t k) {
        const double value = apply(kind, a.values[j], b.values[k]);
        y.set(i, value, selects ? 0 : intermediate.error(value));
    });
    return std::vector<Expected>{y.take()};
}

Result<std::vector<Expected>> divide(const Call& call) {
    const Array& a = call.array(0);
    const Array& b = call.array(1);
    const Shape shape = *broadcast_shape(call, a.shape, b.shape);
    const Precision p = call.precision();
    Builder y(call.results[0], shape, "division within 2 ulp (CUDA guide: __fdividef, -prec-div=false)");
    for_each_pair(a.shape, b.shape, shape, [&](std::int64_t i, std::size_t j, std::size_t k) {
        const double value = a.values[j] / b.values[k];
        y.set(i, value, value == 0 ? 0 : division_relative(p) * std::fabs(value) + p.smallest_normal);
    });
    return std::vector<Expected>{y.take()};
}

// z = alpha x + y, by fma or by two roundings. The product of two 24-bit numbers is exact in double, so the
// error that its rounding may add is known for each element.
Result<std::vector<Expected>> axpy(const Call& call) {
    const Array& x = call.array(0);
    const Array& y = call.array(1);
    const Shape shape = *broadcast_shape(call, x.shape, y.shape);
    const double alpha = call.real("alpha");
    if (call.integral() && !is_float(call.results[0])) {
        if (alpha != std::floor(alpha) || std::fabs(alpha) > 9e15) {
            return Error{.message = "op `axpy`: alpha must be an integer when the tensors hold integers"};
        }
        const auto factor = static_cast<std::int64_t>(alpha);
        Builder z(call.results[0], shape, "exact integers");
        for_each_pair(x.shape, y.shape, shape, [&](std::int64_t i, std::size_t j, std::size_t k) {
            z.set_integer(i, apply(Binary::add, apply(Binary::mul, factor, x.integers[j]), y.integers[k]));
        });
        return std::vector<Expected>{z.take()};
    }
    const Precision p = call.precision();
    const Rounder arithmetic(p.type);
    const Intermediate intermediate(call, p);
    const double alpha_error = std::fabs(arithmetic.round(alpha) - alpha);
    Builder z(call.results[0], shape, "rounding of alpha, of alpha x (unless fused) and of the sum");
    for_each_pair(x.shape, y.shape, shape, [&](std::int64_t i, std::size_t j, std::size_t k) {
        const double product = alpha * x.values[j];
        double value = product + y.values[k];
        double error = alpha_error * std::fabs(x.values[j]);
        if (p.type == DType::f64) {
            value = std::fma(alpha, x.values[j], y.values[k]);
            const double residual = std::fabs(std::fma(alpha, x.values[j], -product));
            error += residual + (residual > 0 ? p.u * std::fabs(value) : 0.0);
        } else if (alpha_error > 0) {
            error += p.u * std::fabs(product);  // another product is rounded than the one known here
        } else if (std::isfinite(product)) {
            error += std::fabs(arithmetic.round(product) - product);
        }
        if (!std::isfinite(error)) error = 0;  // alpha x overflows the arithmetic: the infinity is the answer
        z.set(
            i, value,
            error + (error > 0 && intermediate.matters ? p.u * std::fabs(value) : intermediate.error(value)));
    });
    return std::vector<Expected>{z.take()};
}

double one_flop(const Call&, const std::vector<OutputSpec>& outputs) {
    return static_cast<double>(element_count(outputs[0].shape));
}
double two_flops(const Call&, const std::vector<OutputSpec>& outputs) {
    return 2 * static_cast<double>(element_count(outputs[0].shape));
}

}  // namespace

std::vector<Op> elementwise_ops() {
    const auto row = [](const char* name, ComputeRule compute, ResultKind kind = ResultKind::same_domain) {
        return Op{.name = name,
                  .operands = {{"a"}, {"b"}},
                  .results = {{"y", kind}},
                  .params = {},
                  .shapes = binary_shape,
                  .compute = compute,
                  .flops = one_flop};
    };
    std::vector<Op> ops{row("add", binary<Binary::add>),         row("sub", binary<Binary::sub>),
                        row("mul", binary<Binary::mul>),         row("div", divide, ResultKind::floating),
                        row("maximum", binary<Binary::maximum>), row("minimum", binary<Binary::minimum>)};
    ops.push_back({.name = "axpy",
                   .operands = {{"x"}, {"y"}},
                   .results = {{"z"}},
                   .params = {{.name = "alpha", .kind = ParamKind::real, .default_text = "1"}},
                   .shapes = binary_shape,
                   .compute = axpy,
                   .flops = two_flops});
    return ops;
}

}  // namespace kernelwright::reference
