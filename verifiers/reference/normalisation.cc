// layernorm, rmsnorm, add_rmsnorm, groupnorm.
//
// Legal ways to the variance are the two-pass form and Welford's update in any order; the difference
// E[x^2] - E[x]^2 is not, and a large mean shows it. With m the mean of |x| and n elements:
//   mean:      |dmu| <= a = (n+5) u m                      (any order of additions, then a division)
//   two-pass:  dv <= a^2 + (n+8) u (v + a^2)               (the squared error of the mean, Chan et al. 1983)
//   Welford:   dv <= 2 (n+8) u sqrt(v mean(x^2))           (n u kappa of the same paper)
// and 1/sqrt(v + eps) is taken over the interval that dv leaves, never below eps.
#include <fmt/format.h>

#include <algorithm>

#include "verifiers/reference/functions.h"
#include "verifiers/reference/op.h"
#include "verifiers/reference/parallel.h"

namespace kernelwright::reference {
namespace {

struct Moments {
    double mean = 0, mean_error = 0, rstd = 0, rstd_high = 0, rstd_error = 0;
};

// at(k): the k-th of n elements; error(k): what it already carries.
template <class At>
Moments moments(const Precision& p, std::int64_t n, double eps, const At& at, double input_error) {
    Moments m;
    const auto count = static_cast<double>(n);
    double sum = 0, magnitude = 0, squares = 0;
    for (std::int64_t k = 0; k < n; ++k) {
        sum += at(k);
        magnitude += std::fabs(at(k));
    }
    m.mean = sum / count;
    m.mean_error = p.gamma(count + 5) * magnitude / count + input_error;
    double v = 0;
    for (std::int64_t k = 0; k < n; ++k) {
        const double d = at(k) - m.mean;
        v += d * d;
        squares += at(k) * at(k);
    }
    v /= count;
    squares /= count;
    const double a = m.mean_error;
    const double g = p.gamma(count + 8);
    double dv = a * a + std::max(g * (v + a * a), 2 * g * std::sqrt(v * squares));
    if (input_error > 0) dv += 2 * input_error * std::sqrt(v) + input_error * input_error;
    const double wide = v + eps;
    const double low = std::max(wide - dv, eps) * (1 - 2 * p.u);
    const double high = (wide + dv) * (1 + 2 * p.u);
    m.rstd = 1 / std::sqrt(wide);
    m.rstd_high = low > 0 ? 1 / std::sqrt(low) : std::numeric_limits<double>::infinity();
    const double spread = std::max(m.rstd_high - m.rstd, m.rstd - 1 / std::sqrt(high));
    m.rstd_error = spread + rsqrt_relative(p) * m.rstd_high;
    return m;
}

// y = (x - mean) rstd gamma + beta, also as x (rstd gamma) + (beta - mean rstd gamma).
void set_normalised(Builder& y, std::int64_t at, const Precision& p, const Moments& m, double x,
                    double input_error, double gamma, double beta) {
    const double d = x - m.mean;
    const double value = d * m.rstd * gamma + beta;
    const double scale = std::fabs(gamma);
    double error = (m.mean_error + input_error) * m.rstd_high * scale;
    error += std::fabs(d) * m.rstd_error * scale;
    error += 4 * p.u * (std::fabs(x) + std::fabs(m.mean)) * m.rstd_high * scale;
    error += 2 * p.u * (std::fabs(value) + std::fabs(beta));
    if (scale == 0) error = p.u * std::fabs(beta);
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    y.set(at, value, error > 0 ? error + p.smallest_normal : 0);
}

std::vector<std::size_t> norm_axes(const Call& call, const Shape& shape) { return call.axes(shape.size()); }

// gamma, beta and weight cover the normalised axes, in their order.
Status check_affine(const Call& call, std::size_t operand, const char* name, std::int64_t count) {
    if (!call.has(operand) || element_count(call.shape(operand)) == count) return Done{};
    return shape_error(call, fmt::format("{} has {} elements; the normalised axes have {}", name,
                                         element_count(call.shape(operand)), count));
}

Result<std::vector<Shape>> layernorm_shape(const Call& call) {
    const Shape& x = call.shape(0);
    std::int64_t count = 1;
    for (const std::size_t axis : norm_axes(call, x)) count *= x[axis];
    for (std::size_t operand = 1; operand < call.specs.size(); ++operand) {
        const char* name = call.op == "rmsnorm" ? "weight" : operand == 1 ? "gamma" : "beta";
        if (const Status status = check_affine(call, operand, name, count); !status) return status.error();
    }
    return std::vector<Shape>{x};
}

template <class Body>
void each_row(const RowLayout& layout, const Body& body) {
    parallel_for(layout.count(), static_cast<double>(layout.n()) * 20,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t r = begin; r < end; ++r) {
                         const std::int64_t base = layout.rows[static_cast<std::size_t>(r)];
                         body(r, [&, base](std::int64_t k) {
                             return base + layout.elements[static_cast<std::size_t>(k)];
                         });
                     }
                 });
}

double affine(const Call& call, std::size_t operand, std::int64_t k, double absent) {
    return call.has(operand) ? call.array(operand).values[static_cast<std::size_t>(k)] : absent;
}

Result<std::vector<Expected>> layernorm(const Call& call) {
    const Array& x = call.array(0);
    const Precision p = call.precision();
    const RowLayout layout = row_layout(x.shape, norm_axes(call, x.shape));
    const double eps = call.real("eps");
    Builder y(
        call.results[0], x.shape,
        "mean (n+5) u mean|x|; variance two-pass or Welford (Chan et al. 1983); rsqrt 2 ulp; propagated");
    each_row(layout, [&](std::int64_t, const auto& at) {
        const auto value = [&](std::int64_t k) { return x.values[static_cast<std::size_t>(at(k))]; };
        const Moments m = moments(p, layout.n(), eps, value, 0);
        for (std::int64_t k = 0; k < layout.n(); ++k) {
            set_normalised(y, at(k), p, m, value(k), 0, affine(call, 1, k, 1), affine(call, 2, k, 0));
        }
    });
    return std::vector<Expected>{y.take()};
}

// 1/sqrt(mean(x^2) + eps) with its relative error: all terms are positive, so n+5 roundings are relative.
struct RootMean {
    double inverse = 0, relative = 0;
};

template <class At>
RootMean root_mean(const Precision& p, std::int64_t n, double eps, const At& at, double extra = 0) {
    double squares = 0;
    for (std::int64_t k = 0; k < n; ++k) squares += at(k) * at(k);
    const double wide = squares / static_cast<double>(n) + eps;
    RootMean out;
    out.inverse = 1 / std::sqrt(wide);
    const double relative = p.gamma(static_cast<double>(n) + 6 + extra);
    out.relative = (relative < 0.9 ? 1 / std::sqrt(1 - relative) - 1 : 10.0) + rsqrt_relative(p);
    return out;
}

void set_scaled(Builder& y, std::int64_t at, const Precision& p, const RootMean& m, double x, double weight) {
    const double value = x * m.inverse * weight;
    const double error = std::fabs(value) * (m.relative + 3 * p.u);
    y.set(at, value, value == 0 && error == 0 ? 0 : error + p.smallest_normal);
}

Result<std::vector<Expected>> rmsnorm(const Call& call) {
    const Array& x = call.array(0);
    const Precision p = call.precision();
    const RowLayout layout = row_layout(x.shape, norm_axes(call, x.shape));
    const double eps = call.real("eps");
    Builder y(call.results[0], x.shape, "half of (n+6) u of the mean square, rsqrt 2 ulp, three products");
    each_row(layout, [&](std::int64_t, const auto& at) {
        const auto value = [&](std::int64_t k) { return x.values[static_cast<std::size_t>(at(k))]; };
        const RootMean m = root_mean(p, layout.n(), eps, value);
        for (std::int64_t k = 0; k < layout.n(); ++k)
            set_scaled(y, at(k), p, m, value(k), affine(call, 1, k, 1));
    });
    return std::vector<Expected>{y.take()};
}

Result<std::vector<Shape>> add_rmsnorm_shape(const Call& call) {
    const Shape& x = call.shape(0);
    if (call.shape(1) != x) {
        return shape_error(
            call, fmt::format("x has the shape {} and residual {}", to_string(x), to_string(call.shape(1))));
    }
    std::int64_t count = 1;
    for (const std::size_t axis : norm_axes(call, x)) count *= x[axis];
    if (const Status status = check_affine(call, 2, "weight", count); !status) return status.error();
    return std::vector<Shape>{x, x};
}

// y may be formed from the sum before it is rounded for storing, or after: both are usual, and they are two
// answers, each with rmsnorm's own bound. (One bound wide enough for both would let anything between pass.)
Result<std::vector<Expected>> add_rmsnorm(const Call& call) {
    const Array& x = call.array(0);
    const Array& residual = call.array(1);
    const Precision p = call.precision();
    const RowLayout layout = row_layout(x.shape, norm_axes(call, x.shape));
    const double eps = call.real("eps");
    Builder y(call.results[0], x.shape,
              "rmsnorm's bound about the answer from the sum, or from the sum as it is stored");
    const DType sum_type = call.results.size() > 1 ? call.results[1] : p.type;
    Builder total(sum_type, x.shape, "one rounding: the correctly rounded sum");
    const Rounder middle(p.type), stored(sum_type);
    const bool same_type =
        sum_type == x.dtype && sum_type == residual.dtype && significand_bits(sum_type) <= 11;
    std::vector<double> sums(x.values.size()), rounded(x.values.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i] = x.values[i] + residual.values[i];
        rounded[i] = stored.round(middle.round(sums[i]));
        const bool once = sum_type == p.type || same_type || !std::isfinite(sums[i]);
        total.set(static_cast<std::int64_t>(i), sums[i],
                  once ? 0 : std::fabs(middle.round(sums[i]) - sums[i]));
    }
    std::vector<double> second(x.values.size());
    each_row(layout, [&](std::int64_t, const auto& at) {
        const auto value = [&](std::int64_t k) { return sums[static_cast<std::size_t>(at(k))]; };
        const auto after = [&](std::int64_t k) { return rounded[static_cast<std::size_t>(at(k))]; };
        RootMean m = root_mean(p, layout.n(), eps, value, 2);  // the sum's own rounding, squared
        // A kernel may take the mean from the one sum and y from the other.
        const RootMean other = root_mean(p, layout.n(), eps, after);
        if (std::isfinite(other.inverse) && m.inverse > 0)
            m.relative += std::fabs(other.inverse - m.inverse) / m.inverse;
        for (std::int64_t k = 0; k < layout.n(); ++k) {
            const double weight = affine(call, 2, k, 1);
            set_scaled(y, at(k), p, m, value(k), weight);
            const auto i = static_cast<std::size_t>(at(k));
            second[i] = after(k) * m.inverse * weight;
            const double error = std::fabs(second[i]) * (m.relative + 3 * p.u);
            double& tolerance = y.expected().tolerance[i];
            tolerance = std::max(tolerance, y.tolerance_of(second[i], error));
        }
    });
    std::vector<Expected> out{y.take(), total.take()};
    out.front().second = std::move(second);
    return out;
}

Result<std::vector<Shape>> groupnorm_shape(const Call& call) {
    const Shape& x = call.shape(0);
    if (x.size() < 2) return shape_error(call, "x must be [N, C, ...]");
    const std::int64_t groups = call.integer("groups");
    if (x[1] % groups != 0) {
        return shape_error(call, fmt::format("{} channels do not divide into {} groups", x[1], groups));
    }
    for (std::size_t operand = 1; operand < 3; ++operand) {
        if (const Status status = check_affine(call, operand, operand == 1 ? "gamma" : "beta", x[1]);
            !status) {
            return status.error();
        }
    }
    return std::vector<Shape>{x};
}

Result<std::vector<Expected>> groupnorm(const Call& call) {
    const Array& x = call.array(0);
    const Precision p = call.precision();
    const double eps = call.real("eps");
    const std::int64_t groups = call.integer("groups");
    const std::int64_t rows = x.shape[0] * groups;
    const std::int64_t n = rows == 0 ? 0 : x.count() / rows;
    const std::int64_t channels = x.shape[1] / groups;
    const std::int64_t spatial = channels == 0 ? 0 : n / channels;
    Builder y(call.results[0], x.shape, "layernorm's bound over each group");
    parallel_for(rows, static_cast<double>(n) * 20, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            const auto value = [&](std::int64_t k) { return x.values[static_cast<std::size_t>(r * n + k)]; };
            const Moments m = moments(p, n, eps, value, 0);
            for (std::int64_t k = 0; k < n; ++k) {
                const std::int64_t channel = r % groups * channels + k / spatial;
                set_normalised(y, r * n + k, p, m, value(k), 0, affine(call, 1, channel, 1),
                               affine(call, 2, channel, 0));
            }
        }
    });
    return std::vector<Expected>{y.take()};
}

template <int flops>
double per_input(const Call& call, const std::vector<OutputSpec>&) {
    return flops * static_cast<double>(element_count(call.shape(0)));
}

}  // namespace

std::vector<Op> normalisation_ops() {
    const ResultRule y{"y", ResultKind::floating};
    return {Op{.name = "layernorm",
               .operands = {{"x"}, {"gamma", true}, {"beta", true}},
               .results = {y},
               .params = {axes_param(false, "-1"), eps_param()},
               .shapes = layernorm_shape,
               .compute = layernorm,
               .flops = per_input<8>},
            Op{.name = "rmsnorm",
               .operands = {{"x"}, {"weight", true}},
               .results = {y},
               .params = {axes_param(false, "-1"), eps_param()},
               .shapes = layernorm_shape,
               .compute = rmsnorm,
               .flops = per_input<4>},
            Op{.name = "add_rmsnorm",
               .operands = {{"x"}, {"residual"}, {"weight"}},
               .results = {y, {"sum", ResultKind::floating}},
               .params = {axes_param(false, "-1"), eps_param()},
               .shapes = add_rmsnorm_shape,
               .compute = add_rmsnorm,
               .flops = per_input<5>},
            Op{.name = "groupnorm",
               .operands = {{"x"}, {"gamma", true}, {"beta", true}},
               .results = {y},
               .params = {{.name = "groups", .kind = ParamKind::integer, .required = true, .minimum = 1},
                          eps_param()},
               .shapes = groupnorm_shape,
               .compute = groupnorm,
               .flops = per_input<8>}};
}

}  // namespace kernelwright::reference
