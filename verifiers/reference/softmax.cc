// softmax, log_softmax and logsumexp.
#include "verifiers/reference/exp_sums.h"
#include "verifiers/reference/op.h"
#include "verifiers/reference/parallel.h"

namespace kernelwright::reference {
namespace {

Result<std::vector<Shape>> same_shape(const Call& call) { return std::vector<Shape>{call.shape(0)}; }

template <bool logarithm>
Result<std::vector<Expected>> softmax(const Call& call) {
    const Array& x = call.array(0);
    const Precision p = call.precision();
    Builder y(call.results[0], x.shape,
              logarithm
                  ? "errors of exp, sum and log (CUDA guide, Higham) propagated through x - log sum exp"
                  : "relative: own exp, weighted mean of all exps, 6 (n-1) u of an online sum, division");
    if (x.count() == 0) return std::vector<Expected>{y.take()};
    const RowLayout layout = row_layout(x.shape, {call.axis(x.shape.size())});
    const std::int64_t n = layout.n();
    parallel_for(layout.count(), static_cast<double>(n) * 40, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            const auto at = [&](std::int64_t k) {
                return layout.rows[static_cast<std::size_t>(r)] +
                       layout.elements[static_cast<std::size_t>(k)];
            };
            const auto value = [&](std::int64_t k) { return x.values[static_cast<std::size_t>(at(k))]; };
            const ExpSum s = exp_sum(p, n, value);
            const double log_of_sum = std::log(s.sum);
            const double log_part = s.relative + log_error(p, log_of_sum);
            const double shift_part = 3 * p.u * std::max(std::fabs(s.shift), std::fabs(s.log_sum()));
            for (std::int64_t k = 0; k < n; ++k) {
                const double d = value(k) - s.shift;
                if (logarithm) {
                    const double result = d - log_of_sum;
                    y.set(at(k), result,
                          log_part + shift_part + 2 * p.u * std::fabs(d) + p.u * std::fabs(result));
                    continue;
                }
                const double e = s.exponentials[static_cast<std::size_t>(k)];
                const double relative =
                    (e > 0 ? shifted_exp_relative(p, d) : 0.0) + s.relative + (division_ulps + 1) * p.u;
                const double result = e / s.sum;
                y.set(at(k), result, result * relative + p.smallest_normal);
            }
        }
    });
    return std::vector<Expected>{y.take()};
}

Result<std::vector<Shape>> reduction_shape(const Call& call) {
    const Shape& x = call.shape(0);
    return std::vector<Shape>{reduced_shape(x, call.axes(x.size()), call.flag("keepdims"))};
}

Result<std::vector<Expected>> logsumexp(const Call& call) {
    const Array& x = call.array(0);
    const Precision p = call.precision();
    const auto axes = call.axes(x.shape.size());
    const RowLayout layout = row_layout(x.shape, axes);
    const std::int64_t n = layout.n();
    Builder y(
        call.results[0], reduced_shape(x.shape, axes, call.flag("keepdims")),
        "relative error of the sum (exp, 6 (n-1) u of an online sum) plus log and the shift's roundings");
    parallel_for(layout.count(), static_cast<double>(n) * 30, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            const ExpSum s = exp_sum(p, n, [&](std::int64_t k) {
                return x.values[static_cast<std::size_t>(layout.rows[static_cast<std::size_t>(r)] +
                                                         layout.elements[static_cast<std::size_t>(k)])];
            });
            if (!std::isfinite(s.shift)) {
                y.set(r, s.shift, 0);  // all -inf (or no element at all), an infinity, a NaN
            } else if (n == 1) {
                y.set(r, s.shift, 2 * p.u * std::fabs(s.shift));
            } else {
                y.set(r, s.log_sum(), log_sum_error(p, s));
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

std::vector<Op> softmax_ops() {
    const auto row = [](const char* name, ComputeRule compute) {
        return Op{.name = name,
                  .operands = {{"x"}},
                  .results = {{"y", ResultKind::floating}},
                  .params = {axis_param(true)},
                  .shapes = same_shape,
                  .compute = compute,
                  .flops = per_input<5>};
    };
    return {row("softmax", softmax<false>), row("log_softmax", softmax<true>),
            Op{.name = "logsumexp",
               .operands = {{"x"}},
               .results = {{"y", ResultKind::floating}},
               .params = {axes_param(false, "all"),
                          {.name = "keepdims", .kind = ParamKind::boolean, .default_text = "false"}},
               .shapes = reduction_shape,
               .compute = logsumexp,
               .flops = per_input<4>}};
}

}  // namespace kernelwright::reference
