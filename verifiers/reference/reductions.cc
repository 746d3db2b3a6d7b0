// Reductions to fewer elements: sum, mean, prod, max, min. Floating sums carry the bound of sums.h; what is
// selected rather than computed (max, min) is exact.
#include <limits>

#include "verifiers/reference/functions.h"
#include "verifiers/reference/op.h"
#include "verifiers/reference/parallel.h"
#include "verifiers/reference/sums.h"

namespace kernelwright::reference {
namespace {

Result<std::vector<Shape>> reduction_shape(const Call& call) {
    const Shape& x = call.shape(0);
    return std::vector<Shape>{reduced_shape(x, call.axes(x.size()), call.flag("keepdims"))};
}

// An empty row has no largest element.
Result<std::vector<Shape>> selecting_shape(const Call& call) {
    const Shape& x = call.shape(0);
    for (const std::size_t axis : call.axes(x.size())) {
        if (x[axis] == 0)
            return shape_error(call, "the reduced axis has no elements, so there is nothing to select");
    }
    return reduction_shape(call);
}

struct Reduction {
    explicit Reduction(const Call& c)
        : call(c), x(c.array(0)), layout(row_layout(x.shape, c.axes(x.shape.size()))) {}
    Builder builder(const char* bound) const {
        const std::vector<std::size_t> axes = call.axes(x.shape.size());
        return Builder(call.results[0], reduced_shape(x.shape, axes, call.flag("keepdims")), bound);
    }
    // Calls body(r, at) where at(k) is the index of the row's k-th element.
    template <class Body>
    void each(const Body& body) const {
        parallel_for(
            layout.count(), static_cast<double>(layout.n()) * 4, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t r = begin; r < end; ++r) {
                    const std::int64_t base = layout.rows[static_cast<std::size_t>(r)];
                    body(r, [&, base](std::int64_t k) {
                        return static_cast<std::size_t>(base + layout.elements[static_cast<std::size_t>(k)]);
                    });
                }
            });
    }
    const Call& call;
    const Array& x;
    RowLayout layout;
};

// Integers that become floats on the way in are rounded when they have more bits than the arithmetic.
double conversion_roundings(const Call& call, const Precision& p) {
    return call.integral() && bits(call.dtype(0)) > p.significand ? 1 : 0;
}

Result<std::vector<Expected>> sum(const Call& call) {
    const Reduction reduction(call);
    const std::int64_t n = reduction.layout.n();
    const bool integers = call.integral() && !is_float(call.results[0]);
    Builder y = reduction.builder(
        "(n-1) u sum|x| for any order of additions (Higham eq. 4.4), 0 where they are exact");
    const Precision p = call.precision();
    const double extra = conversion_roundings(call, p);
    reduction.each([&](std::int64_t r, const auto& at) {
        if (integers) {
            std::uint64_t total = 0;
            for (std::int64_t k = 0; k < n; ++k)
                total += static_cast<std::uint64_t>(reduction.x.integers[at(k)]);
            y.set_integer(r, static_cast<std::int64_t>(total));
            return;
        }
        SumFacts facts;
        for (std::int64_t k = 0; k < n; ++k) facts.add(reduction.x.values[at(k)]);
        const bool stored_wide = call.results[0] == p.type;
        y.set(r, facts.value,
              sum_error(p, facts.magnitude, facts.quantum, n, extra, stored_wide) +
                  atomic_flush(p, facts.quantum, n));
    });
    return std::vector<Expected>{y.take()};
}

Result<std::vector<Expected>> mean(const Call& call) {
    const Reduction reduction(call);
    const std::int64_t n = reduction.layout.n();
    Builder y = reduction.builder("(n-1) u sum|x|/n for any order, plus a division within 2 ulp");
    const Precision p = call.precision();
    const double extra = conversion_roundings(call, p);
    reduction.each([&](std::int64_t r, const auto& at) {
        SumFacts facts;
        for (std::int64_t k = 0; k < n; ++k) facts.add(reduction.x.values[at(k)]);
        const double value = facts.value / static_cast<double>(n);
        if (n == 1) return y.set(r, value, extra * p.u * std::fabs(value));
        // Running means and sums of pre-scaled terms round each term too (extra 2), so exact sums of integers
        // do not make the mean exact.
        const double summed = facts.magnitude > 0 ? p.gamma(static_cast<double>(n) + 1 + extra) *
                                                        facts.magnitude / static_cast<double>(n)
                                                  : 0;
        const double flushed = atomic_flush(p, facts.quantum, n) / static_cast<double>(n);
        y.set(r, value, summed + division_relative(p) * std::fabs(value) + flushed);
    });
    return std::vector<Expected>{y.take()};
}

Result<std::vector<Expected>> prod(const Call& call) {
    const Reduction reduction(call);
    const std::int64_t n = reduction.layout.n();
    const bool integers = call.integral() && !is_float(call.results[0]);
    Builder y = reduction.builder("(n-1) u |y|: one rounding a multiplication (Higham sec. 3.1)");
    const Precision p = call.precision();
    const double extra = conversion_roundings(call, p);
    reduction.each([&](std::int64_t r, const auto& at) {
        if (integers) {
            std::uint64_t total = 1;
            for (std::int64_t k = 0; k < n; ++k)
                total *= static_cast<std::uint64_t>(reduction.x.integers[at(k)]);
            y.set_integer(r, static_cast<std::int64_t>(total));
            return;
        }
        double value = 1, odd = 1, log_large = 0, log_small = 0;
        for (std::int64_t k = 0; k < n; ++k) {
            const double x = reduction.x.values[at(k)];
            value *= x;
            if (x == 0 || !std::isfinite(x)) continue;
            odd *= std::fabs(std::ldexp(x, -quantum_exponent(x)));
            (std::fabs(x) > 1 ? log_large : log_small) += std::log2(std::fabs(x));
        }
        const bool overflow_possible = log_large >= std::log2(p.largest) - 1;
        const bool underflow_possible = log_small <= std::log2(p.smallest_normal) + 1;
        const bool stored_wide = call.results[0] == p.type;
        double error = 0;
        if (odd > std::ldexp(1.0, p.significand)) {
            error =
                p.gamma(static_cast<double>(n - 1) + extra * static_cast<double>(n) - (stored_wide ? 1 : 0)) *
                std::fabs(value);
        }
        if (underflow_possible)
            error += static_cast<double>(n) * p.half_subnormal * std::exp2(std::min(log_large, 1000.0));
        // Some order overflows on the way though the product does not (or is 0): no answer can be asked for.
        if (overflow_possible && std::isfinite(value) && std::fabs(value) <= p.largest) {
            error = std::numeric_limits<double>::infinity();
        }
        y.set(r, value, error);
    });
    return std::vector<Expected>{y.take()};
}

template <bool largest>
Result<std::vector<Expected>> extreme(const Call& call) {
    const Reduction reduction(call);
    const std::int64_t n = reduction.layout.n();
    Builder y = reduction.builder("exact: one of the inputs");
    reduction.each([&](std::int64_t r, const auto& at) {
        if (reduction.x.integral()) {
            std::int64_t best = reduction.x.integers[at(0)];
            for (std::int64_t k = 1; k < n; ++k) {
                const std::int64_t x = reduction.x.integers[at(k)];
                best = largest ? std::max(best, x) : std::min(best, x);
            }
            y.set_integer(r, best);
            return;
        }
        double best = reduction.x.values[at(0)];
        for (std::int64_t k = 1; k < n; ++k) {
            const double x = reduction.x.values[at(k)];
            if (std::isnan(x) || (largest ? x > best : x < best)) best = x;
            if (std::isnan(best)) break;
        }
        y.set(r, best, 0);
    });
    return std::vector<Expected>{y.take()};
}

double one_per_input(const Call& call, const std::vector<OutputSpec>&) {
    return static_cast<double>(element_count(call.shape(0)));
}

}  // namespace

std::vector<Op> reduction_ops() {
    const auto row = [](const char* name, ShapeRule shapes, ComputeRule compute, ResultKind kind) {
        return Op{.name = name,
                  .operands = {{"x"}},
                  .results = {{"y", kind}},
                  .params = {axes_param(false, "all"),
                             {.name = "keepdims", .kind = ParamKind::boolean, .default_text = "false"}},
                  .shapes = shapes,
                  .compute = compute,
                  .flops = one_per_input};
    };
    return {row("sum", reduction_shape, sum, ResultKind::same_domain),
            row("mean", reduction_shape, mean, ResultKind::floating),
            row("prod", reduction_shape, prod, ResultKind::same_domain),
            row("max", selecting_shape, extreme<true>, ResultKind::same_domain),
            row("min", selecting_shape, extreme<false>, ResultKind::same_domain)};
}

}  // namespace kernelwright::reference
