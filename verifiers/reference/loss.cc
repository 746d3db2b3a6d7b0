// cross_entropy: log(sum exp(logits)) - logits[target] along the class axis.
#include <fmt/format.h>

#include "verifiers/reference/exp_sums.h"
#include "verifiers/reference/op.h"
#include "verifiers/reference/parallel.h"

namespace kernelwright::reference {
namespace {

Result<std::vector<Shape>> loss_shape(const Call& call) {
    const Shape& logits = call.shape(0);
    if (logits.empty()) return shape_error(call, "logits is a scalar; it needs a class axis");
    if (is_float(call.dtype(1))) return shape_error(call, "target must hold integers (class numbers)");
    const Shape rows = reduced_shape(logits, {call.axis(logits.size())}, false);
    if (element_count(call.shape(1)) != element_count(rows)) {
        return shape_error(call,
                           fmt::format("target has the shape {}; logits {} without the class axis is {}",
                                       to_string(call.shape(1)), to_string(logits), to_string(rows)));
    }
    return std::vector<Shape>{call.text("reduction") == "mean" ? Shape{} : rows};
}

Result<std::vector<Expected>> cross_entropy(const Call& call) {
    const Array& logits = call.array(0);
    const Array& target = call.array(1);
    const Precision p = call.precision();
    const RowLayout layout = row_layout(logits.shape, {call.axis(logits.shape.size())});
    const std::int64_t n = layout.n();
    for (const std::int64_t t : target.integers) {
        if (t < 0 || t >= n) {
            return Error{.message =
                             fmt::format("op `cross_entropy`: target {} is outside the {} classes", t, n)};
        }
    }
    const auto count = static_cast<std::size_t>(layout.count());
    std::vector<double> loss(count), error(count);
    parallel_for(layout.count(), static_cast<double>(n) * 30, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            const auto i = static_cast<std::size_t>(r);
            const auto value = [&](std::int64_t k) {
                return logits.values[static_cast<std::size_t>(layout.rows[i] +
                                                              layout.elements[static_cast<std::size_t>(k)])];
            };
            const ExpSum s = exp_sum(p, n, value);
            const double x = value(target.integers[i]);
            // shift - x first: both are stored numbers, and the loss of a likely target is small beside them
            loss[i] = std::log(s.sum) + (s.shift - x);
            error[i] = log_sum_error(p, s) + p.u * (std::fabs(s.shift - x) + std::fabs(loss[i]));
        }
    });
    if (call.text("reduction") == "none") {
        Builder y(call.results[0], layout.outer,
                  "error of log sum exp (exp, 6 (n-1) u, log, u of the shift) plus the final subtraction");
        for (std::size_t i = 0; i < count; ++i) y.set(static_cast<std::int64_t>(i), loss[i], error[i]);
        return std::vector<Expected>{y.take()};
    }
    Builder y(call.results[0], {}, "mean of the rows' errors plus (rows + 1) u mean|loss| of the mean");
    double total = 0, magnitude = 0, errors = 0;
    for (std::size_t i = 0; i < count; ++i) {
        total += loss[i];
        magnitude += std::fabs(loss[i]);
        errors += error[i];
    }
    const auto rows = static_cast<double>(count);
    const double value = total / rows;
    y.set(0, value,
          errors / rows + p.gamma(rows + 1) * magnitude / rows + division_relative(p) * std::fabs(value));
    return std::vector<Expected>{y.take()};
}

double flops(const Call& call, const std::vector<OutputSpec>&) {
    return 4 * static_cast<double>(element_count(call.shape(0)));
}

}  // namespace

std::vector<Op> loss_ops() {
    return {Op{.name = "cross_entropy",
               .operands = {{"logits"}, {"target"}},
               .results = {{"loss", ResultKind::floating}},
               .params = {axis_param(false, "1"),
                          {.name = "reduction",
                           .kind = ParamKind::choice,
                           .default_text = "none",
                           .choices = {"none", "mean"}}},
               .shapes = loss_shape,
               .compute = cross_entropy,
               .flops = flops}};
}

}  // namespace kernelwright::reference
